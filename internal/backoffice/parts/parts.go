// Package parts reads several stores, or services, as if they were one. No item is in two of them.
package parts

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
)

// OmittedError is returned beside what the other parts have, where some did not respond. Whatever does not look for it takes it for a
// failure.
type OmittedError struct{ Names []string }

// Unwrap makes it a payment.ErrUnavailable.
func (e *OmittedError) Unwrap() error { return payment.ErrUnavailable }

func (e *OmittedError) Error() string { return strings.Join(e.Names, ", ") + ": no response" }

// Without is what is missing, in words.
func (e *OmittedError) Without() string {
	return "without " + strings.Join(e.Names, " and ") + ": no response from there"
}

// Result is what one part had.
type Result[T any] struct {
	// Part is the number of the part, in the order of the names.
	Part  int
	Value T
}

// Each reads all parts at once, each known by its name, and returns what came of those that responded, in their order, with a *OmittedError
// for the others. Any other error of one of them is that of all, and so is the absence of all.
func Each[T any](names []string, read func(part int) (T, error)) ([]Result[T], error) {
	values, failed := make([]T, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() { values[i], failed[i] = read(i) })
	}
	all.Wait()
	came, left := make([]Result[T], 0, len(names)), &OmittedError{}
	for i, err := range failed {
		switch {
		case err == nil:
			came = append(came, Result[T]{i, values[i]})
		case errors.Is(err, payment.ErrUnavailable):
			left.Names = append(left.Names, names[i])
		default:
			return nil, err
		}
	}
	switch len(left.Names) {
	case 0:
		return came, nil
	case len(names):
		return nil, errors.Join(failed...)
	}
	return came, left
}

// First returns the first items of several lists in an order, as many as the limit at most, and how many there are in all. Items that are
// equal in the order stay in that of the lists.
func First[T any](lists [][]T, order func(a, b T) int, limit int) (items []T, of int) {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, order)
	return all[:min(len(all), limit)], len(all)
}
