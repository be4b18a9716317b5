package cells_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/cells"
)

func idOf(e worklist.Entry) uuid.UUID { return uuid.UUID(e.ID) }

// The worklist of two cells has the order, the filter and the limit of one cell's list, and each cell's audit log has the read.
func TestTheWorklistOfAllCells(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	var oldest []string
	for at, of := range [][]*one{{second}, {first, second, first}, {second, second, first}, {first}} {
		var same []string
		for _, o := range of {
			same = append(same, o.opened(t, at))
		}
		slices.Sort(same) // items of the same time are in the order of their ids
		oldest = append(oldest, same...)
	}
	all := cells.Desks{second.Desk, first.Desk}.All()
	read := func(f worklist.Filter, limit string) (seen []string, pages int) {
		for cursor := ""; ; {
			list, next, err := all.Worklist.List(t.Context(), ada(), f, page(t, cursor, limit))
			require.NoError(t, err)
			seen, pages = append(seen, ids(list, idOf)...), pages+1
			require.Less(t, pages, 20)
			if cursor = next; next == "" {
				return seen, pages
			}
		}
	}
	for _, limit := range []string{"1", "2", "3", "100"} {
		seen, _ := read(worklist.Filter{Order: worklist.Oldest}, limit)
		require.Equal(t, oldest, seen, limit)
	}
	newest := slices.Clone(oldest)
	slices.Reverse(newest)
	seen, pages := read(worklist.Filter{}, "3")
	require.Equal(t, newest, seen)
	require.Equal(t, 3, pages)
	seen, _ = read(worklist.Filter{Account: oldest[0]}, "3")
	require.Equal(t, oldest[:1], seen)
	require.Equal(t, first.acts(t), second.acts(t))
	require.Contains(t, first.acts(t), "discrepancies.view done")

	n, err := all.Worklist.Waiting(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(8), n)
	cells := cells.Desks{second.Desk, first.Desk}
	for chosen, want := range map[string]int64{"": 8, "0": 4, "7": 4} {
		n, err := cells.Waiting(t.Context(), chosen)
		require.NoError(t, err)
		require.Equal(t, want, n, chosen)
	}

	_, _, err = all.Worklist.List(t.Context(), ada(), worklist.Filter{Kind: "none"}, page(t, "", ""))
	var invalid *payment.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Fields, 1)
	_, _, err = all.Worklist.List(t.Context(), staff("u1", payment.RoleCustomer), worklist.Filter{}, page(t, "", ""))
	require.ErrorIs(t, err, payment.ErrForbidden)
}

// While a cell is away the others are shown and its name is listed; its items come in later pages.
func TestACellIsAway(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	var of [2][]string
	for i, o := range []*one{first, second} {
		for second := range 3 {
			of[i] = append(of[i], o.opened(t, second))
		}
	}
	f := worklist.Filter{Order: worklist.Oldest}
	there, away := cells.Desks{first.Desk, second.Desk}.All(), cells.Desks{first.Desk, gone(t, 7)}.All()
	for _, read := range []func(context.Context, support.Staff, worklist.Filter, support.Page) ([]worklist.Entry, string, error){
		away.Worklist.List, away.Worklist.Page, away.Worklist.Changed,
	} {
		list, next, err := read(t.Context(), ada(), f, page(t, "", "2"))
		require.Equal(t, "without cell 7: no response from there", without(t, err))
		require.Equal(t, of[0][:2], ids(list, idOf))
		list, _, err = there.Worklist.List(t.Context(), ada(), f, page(t, next, "100"))
		require.NoError(t, err)
		require.ElementsMatch(t, append([]string{of[0][2]}, of[1]...), ids(list, idOf))
	}
	n, err := away.Worklist.Waiting(t.Context())
	without(t, err)
	require.Equal(t, int64(3), n)

	o, err := away.Overview.Overview(t.Context(), ada())
	without(t, err)
	require.Equal(t, int64(3), o.Cases[0].Count)
	require.Len(t, o.Hours, 24)
	_, _, err = away.Jobs.Jobs(t.Context(), ada(), page(t, "", ""))
	without(t, err)
	_, _, err = away.Requests.Requests(t.Context(), ada(), "", page(t, "", ""))
	without(t, err)
	entries, _, err := away.Support.Audit(t.Context(), ada(), support.AuditFilter{}, page(t, "", ""))
	without(t, err)
	require.NotEmpty(t, entries)
	list, err := away.Endpoints.List(t.Context())
	without(t, err)
	require.Len(t, list, 2)
	stale, err := away.Payments.Stale(t.Context())
	without(t, err)
	require.Len(t, stale, 1)
	_, err = away.Payments.ForeignLastDay(t.Context())
	without(t, err)

	none := cells.Desks{gone(t, 0), gone(t, 7)}.All()
	_, _, err = none.Worklist.List(t.Context(), ada(), f, page(t, "", ""))
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.NotContains(t, err.Error(), "cell 7", "all of them: a failure, which names none")
}

// The numbers of all cells are one sum.
func TestTheNumbersOfAllCells(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	first.opened(t, 1)
	second.opened(t, 0)
	second.opened(t, 2)
	all := cells.Desks{first.Desk, second.Desk}.All()
	for _, read := range []func(context.Context, support.Staff) (got any, err error){
		func(ctx context.Context, who support.Staff) (any, error) { return all.Overview.Overview(ctx, who) },
		func(ctx context.Context, who support.Staff) (any, error) { return all.Overview.Glance(ctx, who) },
	} {
		_, err := read(t.Context(), ada())
		require.NoError(t, err)
	}
	o, err := all.Overview.Overview(t.Context(), ada())
	require.NoError(t, err)
	require.Len(t, o.Cases, 1)
	require.Equal(t, int64(3), o.Cases[0].Count)
	require.Len(t, o.Hours, 24)
	require.Len(t, o.Silent, 2)
	require.Equal(t, int64(4), o.Endpoints[2].Behind, "shop, of both")
	require.Equal(t, first.acts(t), second.acts(t))
}

// A command on all matching items is refused without a cell, and begins in the cell of the query.
func TestManyAtOnceTakesACell(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	first.opened(t, 0)
	second.opened(t, 0)
	all := cells.Desks{first.Desk, second.Desk}.All()
	o := bulk.Order{Kind: bulk.Resolve, Filter: bulk.Filter{Kind: "needs_review"}, Resolution: payment.ResolvedAccepted, Reason: "case 4711"}
	_, err := all.Jobs.Try(t.Context(), ada(), o)
	_, err2 := all.Jobs.Begin(t.Context(), ada(), o)
	_, err3 := all.Endpoints.Attempts(t.Context(), "shop", 0, true, 25)
	for _, err := range []error{err, err2, err3, all.Endpoints.RedeliverAfter(t.Context(), "shop", outbox.Cursor{Position: 1})} {
		invalid, is := errors.AsType[*payment.ValidationError](err)
		require.True(t, is, err)
		require.Equal(t, "cell", invalid.Fields[0].Field)
		require.Contains(t, invalid.Fields[0].Message, "there are 0, 7")
	}
	var begun []string
	for _, c := range []*one{second, first} {
		counts, err := c.Jobs.Try(t.Context(), ada(), o)
		require.NoError(t, err)
		require.Equal(t, int64(1), counts.Total)
		j, err := c.Jobs.Begin(t.Context(), ada(), o)
		require.NoError(t, err)
		begun = append(begun, j.ID.String())
	}
	slices.Sort(begun)
	slices.Reverse(begun)
	var seen []string
	for cursor := ""; len(seen) < 9; {
		list, next, err := all.Jobs.Jobs(t.Context(), ada(), page(t, cursor, "1"))
		require.NoError(t, err)
		seen = append(seen, ids(list, func(j bulk.Job) uuid.UUID { return j.ID })...)
		if cursor = next; next == "" {
			break
		}
	}
	require.Equal(t, begun, seen)
}

// TestEventsAreSentAgainInTheirCells: ids of events in a body have no cell, so each cell is asked. Nothing is sent again if an id is
// unknown to all cells, or while a cell is away that may know the id.
func TestEventsAreSentAgainInTheirCells(t *testing.T) {
	t.Parallel()
	desks := []cells.Desk{newCell(t, 0, testdb.New(t), nil), newCell(t, 3, testdb.New(t), nil), newCell(t, 7, testdb.New(t), nil)}
	all, known := cells.Desks(desks).All(), []uuid.UUID{}
	sent := func(i int) map[uuid.UUID]int { return desks[i].Endpoints.(outside).sent } //nolint:forcetypeassert // it is
	for i := range desks {
		for range 2 {
			id := uuid.New()
			known, sent(i)[id] = append(known, id), 0
		}
	}
	times := func(want ...int) {
		t.Helper()
		for i, id := range known {
			require.Equal(t, want[i], sent(i / 2)[id], "event %d", i)
		}
	}
	again := func(on cells.BackOffice, ids ...uuid.UUID) error {
		return on.Endpoints.RedeliverEvents(t.Context(), "shop", ids)
	}
	require.NoError(t, again(all, known[4]))
	times(0, 0, 0, 0, 1, 0)
	require.NoError(t, again(all, known[2], known[0], known[5]))
	times(1, 0, 1, 0, 1, 1)
	require.NoError(t, again(all, known[0], known[1]))
	times(2, 1, 1, 0, 1, 1)

	unknown := uuid.New()
	require.Equal(t, &endpoint.UnknownError{IDs: []uuid.UUID{unknown}}, again(all, known[2], unknown, known[5]))
	away := cells.Desks{gone(t, 0), desks[1], desks[2]}.All()
	require.ErrorIs(t, again(away, known[2], known[0]), payment.ErrUnavailable)
	require.ErrorIs(t, all.Endpoints.RedeliverEvents(t.Context(), "other", known), endpoint.ErrNotFound)
	times(2, 1, 1, 0, 1, 1)
	require.NoError(t, again(away, known[2], known[5]))
	times(2, 1, 2, 0, 1, 2)
}

// TestEachMethodIsOfAllCells lists the methods that are the first cell's by embedding. Either the router leads their requests to the cell
// of the id in the address, or their effect is the same in each cell.
func TestEachMethodIsOfAllCells(t *testing.T) {
	t.Parallel()
	of := map[string]string{
		"Support":  "Act Attempt Event OrderRequests Recheck Refuse Replay Reveal SignIn",
		"Worklist": "Assign Comment Entry Resolve",
		"Jobs":     "Job Stop",
		"Requests": "Approve Decline Request",
		"Payments": "Order Refund",
	}
	all := reflect.ValueOf(cells.Desks{{}}.All())
	for i := range all.NumField() {
		var first []string
		as := all.Field(i).Elem().Type()
		for method := range as.Methods() {
			if file, _ := runtime.FuncForPC(method.Func.Pointer()).FileLine(method.Func.Pointer()); file == "<autogenerated>" {
				first = append(first, method.Name)
			}
		}
		require.Equal(t, of[all.Type().Field(i).Name], strings.Join(first, " "), all.Type().Field(i).Name)
	}
}

// A request that names its attempt in the body is of the cell of that.
func TestRefundRequestsOfAllCells(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	var made []string
	for range 2 {
		made = append(made, first.asked(t), second.asked(t))
	}
	slices.Sort(made)
	slices.Reverse(made)
	all := cells.Desks{first.Desk, second.Desk}.All()
	list, next, err := all.Requests.Requests(t.Context(), ada(), refundrequest.Open, page(t, "", "3"))
	require.NoError(t, err)
	more, end, err := all.Requests.Requests(t.Context(), ada(), refundrequest.Open, page(t, next, "3"))
	require.NoError(t, err)
	require.Empty(t, end)
	require.Equal(t, made, ids(append(list, more...), func(r refundrequest.Request) uuid.UUID { return r.ID }))

	before := len(first.acts(t))
	attempt := payment.AttemptID(second.Number.NewID())
	_, _, err = all.Requests.Create(t.Context(), ada(), refundrequest.Create{AttemptID: attempt, Amount: 1, Reason: "case 4711"})
	require.ErrorIs(t, err, payment.ErrAttemptNotFound)
	require.Contains(t, second.acts(t), "refund_request.create refused")
	require.Len(t, first.acts(t), before)
}

// Entries and endpoints name their cell. The entry for a read of several cells is in the log of the first cell that responds.
func TestTheAuditLogOfAllCells(t *testing.T) {
	t.Parallel()
	first, second := open(t, 0), open(t, 7)
	all := cells.Desks{first.Desk, second.Desk}.All()
	for _, c := range []*one{second, first, second} {
		require.NoError(t, c.Support.SignIn(t.Context(), ada(), "token"))
	}
	list, next, err := all.Support.Audit(t.Context(), ada(), support.AuditFilter{Action: "sign_in"}, page(t, "", "2"))
	require.NoError(t, err)
	more, _, err := all.Support.Audit(t.Context(), ada(), support.AuditFilter{Action: "sign_in"}, page(t, next, "2"))
	require.NoError(t, err)
	var of []int
	for _, e := range append(list, more...) {
		of = append(of, *e.Cell)
	}
	require.Equal(t, []int{7, 0, 7}, of)
	_, _, err = all.Support.Audit(t.Context(), staff("sam", payment.RoleSupport), support.AuditFilter{}, page(t, "", ""))
	require.ErrorIs(t, err, payment.ErrForbidden)

	found, err := all.Endpoints.List(t.Context())
	require.NoError(t, err)
	var names []string
	for _, e := range found {
		names = append(names, name(e))
	}
	require.Equal(t, []string{"a-0 of 0", "a-7 of 7", "shop of 0", "shop of 7"}, names)
	for chosen, want := range map[string]int64{"": 6, "0": 3, "7": 3} {
		n, err := cells.Desks{second.Desk, first.Desk}.DeadLetters(t.Context(), chosen)
		require.NoError(t, err)
		require.Equal(t, want, n, chosen)
	}

	looked := 0
	for _, cells := range []cells.Desks{{first.Desk, second.Desk}, {gone(t, 0), second.Desk}} {
		require.NoError(t, cells.All().Support.Watch(t.Context(), ada(), support.ViewedEndpoints, "endpoint", "", func() error {
			looked++
			return nil
		}))
		require.Contains(t, []*one{first, second}[looked-1].acts(t), "listEndpoints.view done")
	}
	require.Equal(t, 2, looked)
	failed := errors.New("failed")
	err = all.Support.Watch(t.Context(), ada(), support.ViewedEndpoints, "endpoint", "", func() error {
		looked++
		return errors.Join(failed, payment.ErrUnavailable)
	})
	require.ErrorIs(t, err, failed)
	require.Equal(t, 3, looked, "what was looked at is not looked at again")
}

func name(e endpoint.Status) string {
	return e.Name + " of " + string(rune('0'+*e.Cell))
}
