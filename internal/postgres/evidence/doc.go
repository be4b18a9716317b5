// Package evidence reads, for package verify, attempts with all that was written about them, many in one snapshot. It locks nothing
// and writes nothing.
package evidence
