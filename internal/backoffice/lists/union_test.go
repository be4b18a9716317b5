package lists_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// held is a store with a fixed list of disputes.
type held struct {
	lists.Store

	disputes []payment.Dispute
	err      error
}

// Reach implements lists.Store.
func (h held) Reach(ctx context.Context, q lists.Query, items int) (lists.Place, error) {
	q.Limit = items
	found, err := h.Disputes(ctx, q)
	if err != nil || len(found) < items {
		return lists.Place{}, err
	}
	return lists.Place{At: found[items-1].OpenedAt, ID: found[items-1].ID.String()}, nil
}

func (h held) Disputes(_ context.Context, q lists.Query) ([]payment.Dispute, error) {
	if h.err != nil {
		return nil, h.err
	}
	all := slices.DeleteFunc(slices.Clone(h.disputes), func(d payment.Dispute) bool {
		return !d.OpenedAt.Before(q.Before.At) && (!d.OpenedAt.Equal(q.Before.At) || d.ID.String() >= q.Before.ID)
	})
	slices.SortFunc(all, func(a, b payment.Dispute) int {
		if c := b.OpenedAt.Compare(a.OpenedAt); c != 0 {
			return c
		}
		return slices.Compare(b.ID[:], a.ID[:])
	})
	return all[:min(q.Limit, len(all))], nil
}

var clerk = authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleSupport}}

// However the items are spread, the pages of a union equal the pages of one store with all items.
func TestUnionIsOneList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stores := make([]held, rapid.IntRange(1, 3).Draw(t, "stores"))
		var whole held
		for i := range rapid.IntRange(0, 20).Draw(t, "items") {
			d := payment.Dispute{ID: payment.DisputeID(uuid.NewSHA1(uuid.Nil, []byte{byte(i)})), OpenedAt: time.Unix(int64(rapid.IntRange(0, 5).Draw(t, "at")), 0).UTC()}
			of := rapid.IntRange(0, len(stores)-1).Draw(t, "of")
			stores[of].disputes, whole.disputes = append(stores[of].disputes, d), append(whole.disputes, d)
		}
		u := lists.Union{}
		for _, s := range stores {
			u.Stores = append(u.Stores, s)
		}
		limit := rapid.SampledFrom([]string{"1", "2", "3", "100"}).Draw(t, "limit")
		require.Equal(t, pages(t, whole, limit), pages(t, u, limit))
	})
}

func pages(t require.TestingT, s lists.Store, limit string) (all [][]payment.Dispute) {
	for cursor := ""; ; {
		q, err := lists.Parse(lists.Disputes, map[string]string{"limit": limit, "cursor": cursor})
		require.NoError(t, err)
		p, err := lists.New(s).Disputes(context.Background(), clerk, q)
		require.NoError(t, err)
		if all = append(all, slices.Clone(p.Items)); p.Next == "" {
			return all
		}
		cursor = p.Next
	}
}

// A list of an account needs the account's store alone; another one fails if a store does.
func TestUnionWithoutAStore(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	there := held{disputes: []payment.Dispute{{OpenedAt: time.Unix(1, 0)}}}
	u := lists.Union{Stores: []lists.Store{held{err: gone}, there}, Of: func(account string) lists.Store {
		return map[string]lists.Store{"there": there, "gone": held{err: gone}}[account]
	}}
	read := func(account string) (int, error) {
		q, err := lists.Parse(lists.Disputes, map[string]string{"account": account})
		require.NoError(t, err)
		p, err := lists.New(u).Disputes(t.Context(), clerk, q)
		return len(p.Items), err
	}
	n, err := read("there")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	_, err = read("gone")
	require.ErrorIs(t, err, gone)
	_, err = read("")
	require.ErrorIs(t, err, gone)
}

// one is a store with a payout, or with an error.
type one struct {
	lists.Store

	id  payment.PayoutID
	err error
}

func (o one) Payout(_ context.Context, id payment.PayoutID) (payment.Payout, error) {
	if o.err == nil && id != o.id {
		return payment.Payout{}, payment.ErrPayoutNotFound
	}
	return payment.Payout{ID: id}, o.err
}

// A payout is found in any store. It is only missing if all stores respond.
func TestUnionFindsAPayout(t *testing.T) {
	t.Parallel()
	gone, here, elsewhere := errors.New("gone"), payment.PayoutID(uuid.New()), payment.PayoutID(uuid.New())
	for _, c := range []struct {
		stores []lists.Store
		err    error
	}{
		{[]lists.Store{one{id: elsewhere}, one{id: here}}, nil},
		{[]lists.Store{one{err: gone}, one{id: here}}, nil},
		{[]lists.Store{one{id: elsewhere}, one{id: elsewhere}}, payment.ErrPayoutNotFound},
		{[]lists.Store{one{err: gone}, one{id: elsewhere}}, gone},
	} {
		p, err := lists.New(lists.Union{Stores: c.stores}).Payout(t.Context(), clerk, here)
		require.ErrorIs(t, err, c.err)
		if c.err == nil {
			require.Equal(t, here, p.ID)
		}
	}
}
