package finder

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
)

// Part is one store of a union, under the name that people read.
type Part struct {
	Name  string
	Store Store
}

// Union is a store of what several have, none of which has an item of another. What does not respond is left out, and a search
// returns what the others have with a *LeftOutError.
type Union []Part

// LeftOutError is returned with hits, where parts of a union did not respond.
type LeftOutError struct{ Names []string }

// Unwrap makes it a payment.ErrUnavailable where it can't be read in words.
func (e *LeftOutError) Unwrap() error { return payment.ErrUnavailable }

func (e *LeftOutError) Error() string { return strings.Join(e.Names, ", ") + ": no response" }

// beside is what was looked for, and where not.
func (e *LeftOutError) beside(understood string) string {
	if understood == "" {
		understood = "ids"
	}
	return understood + "; without " + strings.Join(e.Names, " and ") + ": no response from there"
}

// Find implements Store.
func (u Union) Find(ctx context.Context, l Lookup) ([]Hit, error) {
	return u.each(func(i int) ([]Hit, error) {
		hits, err := u[i].Store.Find(ctx, l)
		for n := range hits {
			hits[n].part = i
		}
		return hits, err
	})
}

// Details implements Store.
func (u Union) Details(ctx context.Context, hits []Hit) ([]Hit, error) {
	detailed, err := u.each(func(i int) ([]Hit, error) {
		own := slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool { return h.part != i })
		if len(own) == 0 {
			return nil, nil
		}
		return u[i].Store.Details(ctx, own)
	})
	return merged(detailed), err
}

// each collects what comes of all parts at once.
func (u Union) each(read func(part int) ([]Hit, error)) ([]Hit, error) {
	found, failed := make([][]Hit, len(u)), make([]error, len(u))
	var all sync.WaitGroup
	for i := range u {
		all.Go(func() { found[i], failed[i] = read(i) })
	}
	all.Wait()
	left := &LeftOutError{}
	for i, err := range failed {
		switch {
		case errors.Is(err, payment.ErrUnavailable):
			left.Names, found[i] = append(left.Names, u[i].Name), nil
		case err != nil:
			return nil, err
		}
	}
	switch len(left.Names) {
	case 0:
		return slices.Concat(found...), nil
	case len(u):
		return nil, errors.Join(failed...)
	}
	return slices.Concat(found...), left
}
