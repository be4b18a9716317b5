// Package export writes all items of a list, as lines of JSON or as CSV. It holds a page of them at a time.
package export
