package lists_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// vast is a store of orders, one a second; every 30,000th order matches.
type vast struct {
	lists.Store

	orders int
	looked []int
}

const every = 30_000

func second(p lists.Place, items int) int { return min(int(p.At.Unix()), items) }

// Reach implements lists.Store.
func (v *vast) Reach(_ context.Context, q lists.Query, items int) (lists.Place, error) {
	if last := second(q.Before, v.orders) - items; last >= 0 {
		return lists.Place{At: time.Unix(int64(last), 0).UTC(), ID: "o"}, nil
	}
	return lists.Place{}, nil
}

// Orders implements lists.Store.
func (v *vast) Orders(_ context.Context, q lists.Query) (list []payment.Order, err error) {
	from, to := 0, second(q.Before, v.orders)
	if q.Until != (lists.Place{}) {
		from = second(q.Until, v.orders)
	}
	v.looked = append(v.looked, to-from)
	for i := to - 1; i >= from && len(list) < q.Limit; i-- {
		if i%every == 0 {
			list = append(list, payment.Order{ID: "o", CreatedAt: time.Unix(int64(i), 0).UTC()})
		}
	}
	return list, nil
}

// TestListsLookAtSoManyItems: one page looks at 100,000 items at most, by at most 20,000 a statement, and the pages have all
// matching items.
func TestListsLookAtSoManyItems(t *testing.T) {
	t.Parallel()
	store, clerk := &vast{orders: 1_000_000}, authz.Actor{Subject: "ada", Roles: []payment.Role{payment.RoleSupport}}
	params, found, pages := map[string]string{"currency": "EUR"}, 0, 0
	for {
		q, err := lists.Parse(lists.Orders, params)
		require.NoError(t, err)
		store.looked = nil
		page, err := lists.New(store).Orders(t.Context(), clerk, q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(store.looked), 5)
		require.LessOrEqual(t, slices.Max(store.looked), 20_000)
		found, pages = found+len(page.Items), pages+1
		if params["cursor"] = page.Next; page.Next == "" {
			break
		}
	}
	require.Equal(t, 34, found)
	require.Equal(t, 11, pages)
}

// TestNarrowed: no index covers any filter except the filter by time of creation.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	for param, want := range map[string]bool{
		"status=pending": true, "stage=final": true, "account=a": true, "currency=EUR": true, "amount_min=1": true, "amount_max=1": true,
		"updated_from=2026-03-01T00:00:00Z": true, "updated_to=2026-03-01T00:00:00Z": true,
		"created_from=2026-03-01T00:00:00Z": false, "created_to=2026-03-01T00:00:00Z": false, "user_id=u": true, "limit=5": false,
	} {
		name, value, _ := strings.Cut(param, "=")
		q, err := lists.Parse(lists.Attempts, map[string]string{name: value})
		require.NoError(t, err)
		require.Equal(t, want, q.Narrowed(), param)
		q, err = lists.Parse(lists.Attempts, map[string]string{name: value, "user_id": "u"})
		require.NoError(t, err)
		require.True(t, q.Narrowed(), "a user may have any number of items")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	q, err := lists.Parse(lists.Attempts, map[string]string{
		"status": "pending", "stage": "authorized", "account": "eu", "user_id": "u1", "currency": "EUR", "amount_min": "0", "amount_max": "500",
		"created_from": "2026-03-01T01:00:00+01:00", "updated_to": "2026-04-01T00:00:00.5Z", "limit": "100",
	})
	require.NoError(t, err)
	require.Equal(t, lists.Filter{
		Status: "pending", Stage: "authorized", Account: "eu", User: "u1", Currency: "EUR", AmountMax: 500,
		CreatedFrom: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), CreatedTo: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		UpdatedTo: time.Date(2026, 4, 1, 0, 0, 0, 5e8, time.UTC),
	}, q.Filter)
	require.Equal(t, 100, q.Limit)
	require.False(t, q.AnyAmount())
	q, err = lists.Parse(lists.Disputes, map[string]string{"status": ""})
	require.NoError(t, err)
	require.True(t, q.AnyAmount())
	require.EqualValues(t, math.MaxInt64, q.AmountMax)
	require.Equal(t, 25, q.Limit)
}

// One error names all wrong parameters.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, kinds := range map[string][]lists.Kind{
		"status=paid":                            {lists.Attempts, lists.Refunds, lists.Disputes},
		"status=pending":                         {lists.Orders, lists.Disputes},
		"status=won":                             {lists.Orders, lists.Attempts, lists.Refunds},
		"stage=final":                            {lists.Orders, lists.Refunds, lists.Disputes},
		"stage=processing":                       {lists.Attempts},
		"user_id=a b":                            {lists.Orders, lists.Attempts, lists.Refunds, lists.Disputes},
		"account=\x00":                           {lists.Orders},
		"account=\xff":                           {lists.Orders},
		"currency=eur":                           {lists.Orders},
		"currency=EURO":                          {lists.Orders},
		"amount_min=-1":                          {lists.Orders},
		"amount_min=1.5":                         {lists.Orders},
		"amount_max=01":                          {lists.Orders},
		"amount_max=9223372036854775808":         {lists.Orders},
		"created_from=2026-03-01":                {lists.Orders},
		"created_to=9999-06-01T00:00:00Z":        {lists.Orders},
		"updated_from=0001-01-01T00:00:00+23:00": {lists.Orders},
		"updated_to=yesterday":                   {lists.Orders},
		"limit=0":                                {lists.Orders},
		"limit=101":                              {lists.Orders},
		"limit=+5":                               {lists.Orders},
		"cursor=x":                               {lists.Orders},
		"cursor=YTNmMDkgMTc3MjM1NzQ2MDAwMDAwMCB4": {lists.Orders, lists.Refunds},

		"account=" + strings.Repeat("a", 513):         {lists.Orders},
		"cursor=" + strings.Repeat("AAAA", 100) + "=": {lists.Orders},
	} {
		name, value, _ := strings.Cut(text, "=")
		for _, kind := range kinds {
			_, err := lists.Parse(kind, map[string]string{name: value})
			invalid, ok := errors.AsType[*payment.ValidationError](err)
			require.True(t, ok, "%s of %s", text, kind)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, name, invalid.Fields[0].Field)
		}
	}
	_, err := lists.Parse(lists.Orders, map[string]string{"limit": "x", "currency": "x", "cursor": "x"})
	invalid, ok := errors.AsType[*payment.ValidationError](err)
	require.True(t, ok)
	require.Len(t, invalid.Fields, 3)
}

// rows is a store that records its queries and has two items more than the first page.
type rows struct {
	lists.Store

	asked []lists.Query
}

func (r *rows) Orders(_ context.Context, q lists.Query) ([]payment.Order, error) {
	r.asked = append(r.asked, q)
	all := []payment.Order{
		{ID: "C", CreatedAt: time.Unix(3, 5000)}, {ID: "B", CreatedAt: time.Unix(2, 0)}, {ID: "A", CreatedAt: time.Unix(2, 0)},
	}
	all = slices.DeleteFunc(all, func(o payment.Order) bool {
		return o.CreatedAt.After(q.Before.At) || o.CreatedAt.Equal(q.Before.At) && string(o.ID) >= q.Before.ID
	})
	return all[:min(q.Limit, len(all))], nil
}

// Reach implements lists.Store: there are few.
func (r *rows) Reach(context.Context, lists.Query, int) (lists.Place, error) {
	return lists.Place{}, nil
}

// A cursor leads behind the last item, for the same filter of the same list alone.
func TestCursor(t *testing.T) {
	t.Parallel()
	store := &rows{}
	s, service := lists.New(store), authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}}
	var got []payment.OrderID
	params := map[string]string{"limit": "1", "currency": "EUR"}
	for {
		q, err := lists.Parse(lists.Orders, params)
		require.NoError(t, err)
		page, err := s.Orders(t.Context(), service, q)
		require.NoError(t, err)
		got = append(got, page.Items[0].ID)
		if params["cursor"] = page.Next; page.Next == "" {
			break
		}
		for _, other := range []map[string]string{{"cursor": page.Next}, {"cursor": page.Next, "currency": "USD"}, {"cursor": page.Next + "A", "currency": "EUR"}} {
			_, err := lists.Parse(lists.Orders, other)
			require.Error(t, err, other)
		}
		_, err = lists.Parse(lists.Attempts, params)
		require.Error(t, err)
		params["limit"] = "1" // may change, unlike a filter
	}
	require.Equal(t, []payment.OrderID{"C", "B", "A"}, got)
}

func TestWhoMayList(t *testing.T) {
	t.Parallel()
	of := func(behalf payment.UserID, roles ...payment.Role) authz.Actor {
		return authz.Actor{Subject: "x", Roles: roles, OnBehalfOf: behalf}
	}
	attempt := payment.AttemptID{1}
	for name, c := range map[string]struct {
		actor authz.Actor
		user  string
		sees  payment.UserID
		err   error
	}{
		"a service":                   {of("", payment.RoleService), "", "", nil},
		"a service of a user":         {of("", payment.RoleService), "u2", "u2", nil},
		"a service for a user":        {of("u1", payment.RoleService), "", "u1", nil},
		"a service for a user, named": {of("u1", payment.RoleService), "u1", "u1", nil},
		"a service for another user":  {of("u1", payment.RoleService), "u2", "", payment.ErrForbidden},
		"support":                     {of("", payment.RoleSupport), "u1", "u1", nil},
		"an administrator":            {of("", payment.RoleAdmin), "", "", nil},
		"a customer":                  {of("", payment.RoleCustomer), "", "", payment.ErrForbidden},
		"a customer's own":            {of("", payment.RoleCustomer), "x", "", payment.ErrForbidden},
		"nobody":                      {of(""), "", "", payment.ErrForbidden},
		"a status token":              {authz.Actor{OnlyAttempt: &attempt, Roles: []payment.Role{payment.RoleService}}, "", "", payment.ErrForbidden},
	} {
		store := &rows{}
		q, err := lists.Parse(lists.Orders, map[string]string{"user_id": c.user})
		require.NoError(t, err, name)
		_, err = lists.New(store).Orders(t.Context(), c.actor, q)
		require.ErrorIs(t, err, c.err, name)
		if c.err != nil {
			require.Empty(t, store.asked, name)
			continue
		}
		require.Equal(t, c.sees, store.asked[0].User, name)
	}
}
