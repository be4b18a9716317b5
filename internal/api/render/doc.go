// Package render writes what the use cases return as the contract has it.
package render
