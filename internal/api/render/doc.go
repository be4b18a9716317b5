// Package render converts the results of use cases to the contract's objects.
package render
