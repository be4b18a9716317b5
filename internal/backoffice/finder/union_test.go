package finder_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// part has hits, and adds its name to the hits in Details.
type part struct {
	name string
	hits []finder.Hit
	err  error
}

func (p part) Find(context.Context, finder.Lookup) ([]finder.Hit, error) {
	return slices.Clone(p.hits), p.err
}

func (p part) Details(_ context.Context, hits []finder.Hit) ([]finder.Hit, error) {
	for i := range hits {
		hits[i].Status = p.name
	}
	return hits, p.err
}

// unaudited runs searches without an audit log.
type unaudited struct{}

func (unaudited) Watch(_ context.Context, _ support.Staff, _ support.Action, _, _ string, act func() error) error {
	return act()
}

func searched(t *testing.T, u finder.Union) (finder.Found, error) {
	t.Helper()
	who := support.Staff{Actor: authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleSupport}}}
	return finder.New(u, unaudited{}, time.Now).Search(t.Context(), who, finder.Query{Text: "A-1", Limit: "3"})
}

func TestUnionFindsInAllParts(t *testing.T) {
	t.Parallel()
	hit := func(id string, rank finder.Rank, at int64) finder.Hit {
		return finder.Hit{Type: "order", ID: id, Rank: rank, At: time.Unix(at, 0)}
	}
	first := part{name: "first", hits: []finder.Hit{hit("a", finder.Alike, 5), hit("b", finder.Alike, 1)}}
	second := part{name: "second", hits: []finder.Hit{hit("c", finder.Exact, 1), hit("d", finder.Alike, 3)}}
	found, err := searched(t, finder.Union{{"cell 0", first}, {"cell 1", second}})
	require.NoError(t, err)
	var got []string
	for _, h := range found.Hits {
		got = append(got, h.ID+" "+h.Status)
	}
	require.Equal(t, []string{"c second", "a first", "d second"}, got, "what is exact, then the newest, each with the details of its part")
	require.NotEmpty(t, found.Next)

	second.err = payment.ErrUnavailable
	found, err = searched(t, finder.Union{{"cell 0", first}, {"cell 1", second}})
	require.NoError(t, err)
	require.Len(t, found.Hits, 2)
	require.Contains(t, found.Understood, "without cell 1: no response from there")
	first.err = payment.ErrUnavailable
	_, err = searched(t, finder.Union{{"cell 0", first}, {"cell 1", second}})
	require.ErrorIs(t, err, payment.ErrUnavailable)
	first.err, second.err = nil, context.Canceled
	_, err = searched(t, finder.Union{{"cell 0", first}, {"cell 1", second}})
	require.ErrorIs(t, err, context.Canceled)
}
