package api_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/payment"
)

// drawer has the given number of refunds, a second apart, and one object of each other kind.
type drawer struct {
	refunds int
	// orders replaces the one order.
	orders []payment.Order
	// fails is the number of the page whose read fails, counted from 1.
	fails int

	mu    sync.Mutex
	asked []lists.Query
}

// Reach implements lists.Store: there are few.
func (d *drawer) Reach(context.Context, lists.Query, int) (lists.Place, error) {
	return lists.Place{}, nil
}

func (d *drawer) ask(q lists.Query) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asked = append(d.asked, q); len(d.asked) == d.fails {
		return payment.ErrUnavailable
	}
	return nil
}

func (d *drawer) reads() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

func (d *drawer) Orders(_ context.Context, q lists.Query) ([]payment.Order, error) {
	if d.orders != nil {
		return d.orders, d.ask(q)
	}
	o := order(succeeded())
	o.Description, o.Metadata = "=HYPERLINK(\"https://evil.example\")", map[string]string{"cart": "7,7"}
	return []payment.Order{o}, d.ask(q)
}

func (d *drawer) Attempts(_ context.Context, q lists.Query) ([]payment.View, error) {
	a := pending()
	a.NextAction = &payment.NextAction{Type: "post_form", URL: "https://pay.example", Fields: map[string]string{"PaReq": "secret"}}
	return []payment.View{{Attempt: a}}, d.ask(q)
}

func (d *drawer) Refunds(_ context.Context, q lists.Query) (list []payment.Refund, err error) {
	for i := d.refunds; i > 0 && len(list) < q.Limit; i-- {
		r := pendingRefund()
		r.ID = payment.RefundID(uuid.UUID{6: 0x70, 8: 0x80, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)})
		r.CreatedAt, r.Reason = now.Add(time.Duration(i)*time.Second), strconv.Itoa(i)
		if r.CreatedAt.Before(q.Before.At) {
			list = append(list, r)
		}
	}
	return list, d.ask(q)
}

func (d *drawer) Disputes(_ context.Context, q lists.Query) ([]payment.Dispute, error) {
	one := dispute()
	one.Reason = "-2+3+cmd|' /C calc'!A0"
	return []payment.Dispute{one}, d.ask(q)
}

func (d *drawer) DisputesDue(ctx context.Context, q lists.Query) ([]payment.Dispute, error) {
	return d.Disputes(ctx, q)
}

func (d *drawer) Settlements(_ context.Context, q lists.Query) ([]payment.Settlement, error) {
	return []payment.Settlement{settlement()}, d.ask(q)
}

func (d *drawer) Payouts(_ context.Context, q lists.Query) ([]payment.Payout, error) {
	return []payment.Payout{payout()}, d.ask(q)
}

func (*drawer) Payout(_ context.Context, id payment.PayoutID) (payment.Payout, error) {
	if id != payoutID {
		return payment.Payout{}, payment.ErrPayoutNotFound
	}
	return payout(), nil
}

func (d *drawer) Reconciliations(_ context.Context, q lists.Query) ([]lists.Reconciliation, error) {
	return []lists.Reconciliation{reconciliation()}, d.ask(q)
}

func newDrawer(t *testing.T, d *drawer, change ...func(*api.Options)) *bench {
	t.Helper()
	return newBench(t, append(change, func(o *api.Options) { o.Lists = lists.New(d) })...)
}

func allLists() []string { return append(userLists(), bookLists()...) }

// userLists are the lists of things of users, bookLists those of the merchant's books.
func userLists() []string {
	return []string{"/v1/orders", "/v1/payment-attempts", "/v1/refunds", "/v1/disputes"}
}

func bookLists() []string { return []string{"/v1/settlements", "/v1/payouts", "/v1/reconciliations"} }

// Items are as the single reads show them.
func TestListsShowWhatReadsShow(t *testing.T) {
	t.Parallel()
	b := newDrawer(t, &drawer{refunds: 1})
	b.payments.order = order(succeeded())
	for _, path := range allLists() {
		got := b.send(http.MethodGet, path, "", asService).object(t)
		require.Len(t, got["items"], 1, path)
		require.Nil(t, got["next_cursor"])
	}
	item := func(path string) map[string]any {
		return b.send(http.MethodGet, path, "", asService).object(t)["items"].([]any)[0].(map[string]any)
	}
	b.payments.dispute = dispute()
	read := b.send(http.MethodGet, "/v1/disputes/"+disputeID.String(), "", asService).object(t)
	read["reason"] = "-2+3+cmd|' /C calc'!A0"
	require.Equal(t, read, item("/v1/disputes"))

	action := func(who string) any {
		got := b.send(http.MethodGet, "/v1/payment-attempts", "", "Authorization: Bearer "+who).object(t)
		return got["items"].([]any)[0].(map[string]any)["next_action"].(map[string]any)["fields"]
	}
	require.Equal(t, map[string]any{"PaReq": "secret"}, action("service-1"))
	require.Nil(t, action("support"), "staff can't go on in the customer's place")
}

// Staff reads no data by which it could go on with a payment in the customer's place, whichever call it makes. The
// customer, the service and the page with the attempt's status token read it.
func TestStaffCannotContinue(t *testing.T) {
	t.Parallel()
	waits := pending()
	waits.NextAction = &payment.NextAction{Type: "post_form", URL: "https://pay.example", Fields: map[string]string{"PaReq": "secret"}, Data: json.RawMessage(`{"client_secret":"secret"}`)}
	b := newDrawer(t, &drawer{orders: []payment.Order{order(waits)}})
	b.payments.order, b.payments.views, b.payments.view = order(waits), []payment.View{{Attempt: waits}}, payment.View{Attempt: waits}
	for _, path := range []string{
		"/v1/orders", "/v1/orders/A-1", "/v1/orders/A-1/attempts", "/v1/payment-attempts", attemptPath, attemptPath + "/stream",
	} {
		read := func(who string, headers ...string) string {
			return string(b.send(http.MethodGet, path, "", append(headers, "Authorization: Bearer "+who)...).text)
		}
		for _, staff := range []string{"support", "admin"} {
			got := read(staff)
			require.Contains(t, got, "https://pay.example", "%s %s", staff, path)
			require.NotContains(t, got, "secret", "%s %s", staff, path)
		}
		require.Contains(t, read("service-1"), "secret", path)
		if strings.HasPrefix(path, attemptPath) {
			require.Contains(t, read("u1"), "secret", path)
			require.Contains(t, read("status."+attemptID.String()), "secret", path)
		}
		if path == "/v1/orders" || path == "/v1/payment-attempts" {
			require.NotContains(t, read("support", "Accept: text/csv"), "secret", path)
		}
	}
}

// A page after the other, by the cursors.
func TestListPages(t *testing.T) {
	t.Parallel()
	b := newDrawer(t, &drawer{refunds: 60})
	var got []string
	path := "/v1/refunds?limit=7&status=pending"
	for cursor := ""; ; {
		page := b.send(http.MethodGet, path+cursor, "", asService).object(t)
		for _, item := range page["items"].([]any) {
			got = append(got, item.(map[string]any)["reason"].(string))
		}
		next, more := page["next_cursor"].(string)
		if cursor = "&cursor=" + next; !more {
			break
		}
		b.send(http.MethodGet, "/v1/refunds?limit=7"+cursor, "", asService).is(t, 422, "validation-failed")
	}
	require.Len(t, got, 60)
	require.Equal(t, "60 59 58", strings.Join(got[:3], " "))
	require.Equal(t, "1", got[59])
}

// An unknown or contradictory parameter is refused before any read.
func TestListsRefuse(t *testing.T) {
	t.Parallel()
	d := &drawer{}
	b := newDrawer(t, d)
	for _, path := range allLists() {
		wants := map[string]string{
			"?state=paid": "400 malformed-request", "?user_id=u1&user_id=u2": "400 malformed-request",
			"?=": "400 malformed-request", "?%ff=1": "400 malformed-request", "?limit=1000": "422 validation-failed", "?cursor=AAAA": "422 validation-failed",
			"?created_from=2026": "422 validation-failed", "?%zz": "400 malformed-request",
		}
		if path != "/v1/reconciliations" {
			wants["?amount_min=x&currency=x"] = "422 validation-failed"
		}
		if path != "/v1/settlements" {
			wants["?status=nonsense"] = "422 validation-failed"
		}
		for query, want := range wants {
			status, code, _ := strings.Cut(want, " ")
			got := b.send(http.MethodGet, path+query, "", asService)
			require.Equal(t, status, strconv.Itoa(got.StatusCode), path+query)
			require.Equal(t, code, got.object(t)["code"], path+query)
		}
		for _, query := range []string{"?limit=5", "?cursor=AAAA"} {
			b.send(http.MethodGet, path+query, "", asService, "Accept: text/csv").is(t, 422, "validation-failed")
		}
	}
	b.send(http.MethodGet, "/v1/orders?stage=final", "", asService).is(t, 400, "malformed-request")
	for _, query := range []string{"settlements?status=paid", "settlements?updated_from=2026-03-01T00:00:00Z", "payouts?kind=capture", "payouts?user_id=u1", "reconciliations?amount_min=1"} {
		b.send(http.MethodGet, "/v1/"+query, "", asService).is(t, 400, "malformed-request")
	}
	for _, query := range []string{"kind=tip", "payout_id=po_1", "payment_attempt_id=1"} {
		b.send(http.MethodGet, "/v1/settlements?"+query, "", asService).is(t, 422, "validation-failed")
	}
	require.Zero(t, d.reads())
}

func TestListRoles(t *testing.T) {
	t.Parallel()
	d := &drawer{refunds: 1}
	b := newDrawer(t, d)
	for _, path := range allLists() {
		for who, want := range map[string]int{
			"u1": 403, "service-1": 200, "support": 200, "admin": 200, "status." + attemptID.String(): 403,
		} {
			for _, accept := range []string{"application/json", "text/csv", "application/x-ndjson"} {
				got := b.send(http.MethodGet, path, "", "Authorization: Bearer "+who, "Accept: "+accept)
				require.Equal(t, want, got.StatusCode, "%s %s %s", who, path, accept)
			}
		}
		if slices.Contains(bookLists(), path) {
			b.send(http.MethodGet, path, "", asService, "On-Behalf-Of: u1").is(t, 403, "forbidden")
			continue
		}
		b.send(http.MethodGet, path+"?user_id=u2", "", asService, "On-Behalf-Of: u1").is(t, 403, "forbidden")
		reads := d.reads()
		require.Equal(t, 200, b.send(http.MethodGet, path, "", asService, "On-Behalf-Of: u1", "Accept: text/csv").StatusCode)
		require.EqualValues(t, "u1", d.asked[reads].User, "only that user's")
	}
}

// Lists that staff reads are in the audit log, with the filter.
func TestListsAreAudited(t *testing.T) {
	t.Parallel()
	desk := &desk{}
	d := &drawer{refunds: 1}
	b := newDrawer(t, d, func(o *api.Options) { o.Support = desk })
	b.send(http.MethodGet, "/v1/orders?user_id=u1&status=open", "", "Authorization: Bearer support")
	b.send(http.MethodGet, "/v1/refunds", "", "Authorization: Bearer admin", "Accept: text/csv")
	b.send(http.MethodGet, "/v1/disputes", "", asService)
	require.Equal(t, []string{
		"support listOrders.view filter user_id=u1&status=open", "admin listRefunds.view filter ",
	}, desk.watched)
	desk.err = payment.ErrUnavailable
	reads := d.reads()
	b.send(http.MethodGet, "/v1/orders", "", "Authorization: Bearer support").is(t, 503, "storage-unavailable")
	require.Equal(t, reads, d.reads(), "what can't be audited is not read")
}

// No spreadsheet calculates a text of a customer or a provider. Other cells are not changed.
func TestCSVIsSafe(t *testing.T) {
	t.Parallel()
	b := newDrawer(t, &drawer{refunds: 2})
	table := func(path string) (header []string, rows []map[string]string) {
		got := b.send(http.MethodGet, path, "", asService, "Accept: text/csv")
		require.Equal(t, 200, got.StatusCode)
		require.Equal(t, "text/csv; charset=utf-8; header=present", got.Header.Get("Content-Type"))
		text, marked := bytes.CutPrefix(got.text, []byte("\ufeff"))
		require.True(t, marked, "a spreadsheet reads it as UTF-8")
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		require.NoError(t, err)
		for _, line := range lines[1:] {
			row := map[string]string{}
			for i, name := range lines[0] {
				row[name] = line[i]
			}
			rows = append(rows, row)
		}
		return lines[0], rows
	}
	header, rows := table("/v1/disputes")
	require.Equal(t, []string{
		"dispute_id", "payment_attempt_id", "provider_dispute_id", "status", "reason", "amount", "amount_major", "currency",
		"due_by", "due_by_local", "opened_at", "opened_at_local", "closed_at", "closed_at_local",
	}, header)
	require.Equal(t, "'-2+3+cmd|' /C calc'!A0", rows[0]["reason"])
	require.Equal(t, "500", rows[0]["amount"])
	require.Equal(t, "5.00", rows[0]["amount_major"])
	require.Empty(t, rows[0]["closed_at"])
	require.Empty(t, rows[0]["closed_at_local"])
	opened, err := time.Parse(time.RFC3339, rows[0]["opened_at"])
	require.NoError(t, err)
	require.Equal(t, opened.Local().Format(time.DateTime), rows[0]["opened_at_local"])
	require.Equal(t, "dp_<1>", rows[0]["provider_dispute_id"])

	_, rows = table("/v1/orders")
	require.Equal(t, `'=HYPERLINK("https://evil.example")`, rows[0]["description"])
	require.JSONEq(t, `{"cart":"7,7"}`, rows[0]["metadata"])
	var attempts []map[string]any
	require.NoError(t, json.Unmarshal([]byte(rows[0]["attempts"]), &attempts))
	require.Len(t, attempts, 1)

	for _, path := range allLists() {
		single := b.send(http.MethodGet, path, "", asService).object(t)["items"].([]any)[0].(map[string]any)
		header, rows := table(path)
		for name := range single {
			require.Contains(t, header, name, "each member has a column")
		}
		require.NotEmpty(t, rows)
	}
	_, rows = table("/v1/payouts")
	require.Equal(t, "-19.11", rows[0]["amount_major"])
	_, rows = table("/v1/refunds")
	require.Equal(t, "2", rows[0]["reason"])
}

// Accepted formats by Accept header.
func TestListFormats(t *testing.T) {
	t.Parallel()
	b := newDrawer(t, &drawer{refunds: 1})
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "application/json": "application/json", "text/csv": "text/csv; charset=utf-8; header=present",
		"application/x-ndjson": "application/x-ndjson", "text/html, text/csv;q=0.5": "application/json", "text/csv;q=0.5, application/x-ndjson": "application/x-ndjson",
		"text/csv;q=0": "application/json", "text/csv;q=high": "application/json", "TEXT/CSV": "text/csv; charset=utf-8; header=present", ";;, text/csv": "text/csv; charset=utf-8; header=present",
	} {
		got := b.send(http.MethodGet, "/v1/refunds", "", asService, "Accept: "+accept)
		require.Equal(t, want, got.Header.Get("Content-Type"), accept)
	}
	head := b.send(http.MethodHead, "/v1/refunds", "", asService, "Accept: text/csv")
	require.Equal(t, 200, head.StatusCode)
}

// An export has all that match, in order, a line each, and reads a page only when the one before was taken.
func TestExportIsWhole(t *testing.T) {
	t.Parallel()
	const all = 20_000
	d := &drawer{refunds: all}
	b := newDrawer(t, d)
	resp := b.exports(t, "/v1/refunds", "application/x-ndjson")
	defer resp.Body.Close()
	decoder := json.NewDecoder(resp.Body)
	var first struct {
		Reason string `json:"reason"`
	}
	require.NoError(t, decoder.Decode(&first))
	require.Equal(t, strconv.Itoa(all), first.Reason)
	n := 1
	for ; ; n++ {
		var next struct {
			Reason string `json:"reason"`
		}
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, strconv.Itoa(all-n), next.Reason)
	}
	require.Equal(t, all, n)
	require.Equal(t, all/500, d.reads())
	require.True(t, slices.IsSortedFunc(d.asked, func(x, y lists.Query) int { return y.Before.At.Compare(x.Before.At) }))
	for _, q := range d.asked {
		require.LessOrEqual(t, q.Limit, 501, "the memory of a page")
	}
}

// A client can distinguish a failed export from a whole one: its body has no end. The cause is in the log.
func TestExportThatFailsHasNoEnd(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"application/x-ndjson", "text/csv"} {
		b := newDrawer(t, &drawer{refunds: 2000, fails: 3})
		resp := b.exports(t, "/v1/refunds", accept)
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, accept)
		require.Equal(t, 200, resp.StatusCode)
		require.NotEmpty(t, text)
		require.Eventually(t, func() bool { return strings.Contains(b.log.String(), payment.ErrUnavailable.Error()) }, soon, time.Millisecond)
	}
	b := newDrawer(t, &drawer{fails: 1})
	b.send(http.MethodGet, "/v1/refunds", "", asService, "Accept: text/csv").is(t, 503, "storage-unavailable")
}

// exports begins an export without reading its body.
func (b *bench) exports(t *testing.T, path, accept string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.server.URL+path, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer service-1")
	r.Header.Set("Accept", accept)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	return resp
}
