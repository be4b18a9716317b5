package gateway

import (
	"errors"
	"fmt"
)

// ErrTotals is returned by a Statement, once all lines were passed on, if they do not add up to a total
// that the file has.
var ErrTotals = errors.New("the lines do not add up to the file's total")

// UnreadError is returned by a Statement, once all other lines were passed on, if some could not be read.
type UnreadError struct {
	// Count is how many there are, Lines are the first of them.
	Count int
	Lines []UnreadLine
}

// UnreadLine is a line of a file that could not be read. The number of the file's first line is 1.
type UnreadLine struct {
	Number int
	Err    error
}

// Unwrap makes it an ErrUnreadable.
func (*UnreadError) Unwrap() error { return ErrUnreadable }

// Error contains the first line only.
func (e *UnreadError) Error() string {
	return fmt.Sprintf("%d lines can't be read, the first is line %d: %v", e.Count, e.Lines[0].Number, e.Lines[0].Err)
}
