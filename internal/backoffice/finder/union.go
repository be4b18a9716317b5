package finder

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/paylatch/paylatch/internal/backoffice/parts"
)

// Part is one store of a union, under the name that people read.
type Part struct {
	Name  string
	Store Store
}

// Union is one store made of several parts. No part has an item of another part. A part that does not respond is left out; the
// search then returns the hits of the other parts with a *parts.OmittedError.
type Union []Part

// beside returns the text of a search with the parts that were left out.
func beside(understood string, left *parts.OmittedError) string {
	return cmp.Or(understood, "ids") + "; " + left.Without()
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

// each reads all parts at once and collects their hits.
func (u Union) each(read func(part int) ([]Hit, error)) (all []Hit, err error) {
	names := make([]string, len(u))
	for i, part := range u {
		names[i] = part.Name
	}
	came, err := parts.Each(names, read)
	if err != nil && !errors.As(err, new(*parts.OmittedError)) {
		return nil, err
	}
	for _, c := range came {
		all = append(all, c.Value...)
	}
	return all, err
}
