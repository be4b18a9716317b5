package paddle_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
)

func hours(n float64) time.Time { return day.Add(time.Duration(n * float64(time.Hour))) }

// sold returns payments of all kinds from several days, sorted by id, oldest first. Our payments have marks.
func sold() *fakePayments {
	f := payments()
	f.most = 2
	for i, t := range []struct {
		status string
		total  int64
		when   dates
	}{
		{"completed", 1999, dates{made: hours(-960), billed: hours(2), captured: hours(2), changed: hours(2.1), fee: 150}},
		{"completed", 500, dates{made: hours(-31), billed: hours(-30), captured: hours(-30), changed: hours(-29), fee: 40}},
		{"completed", 700, dates{made: hours(-21), billed: hours(-20), captured: hours(-20), changed: hours(3), fee: 50}},
		{"paid", 1500, dates{made: hours(1), billed: hours(1.5), captured: hours(1.5), changed: hours(1.6)}},
		{"completed", 900, dates{made: hours(3), billed: hours(4), captured: hours(4), changed: hours(50), fee: 60}},
		{"canceled", 900, dates{made: hours(3), changed: hours(4)}},
		{"completed", 0, dates{made: hours(4), billed: hours(4), captured: hours(4), changed: hours(4), fee: 1}},
		{"completed", 1200, dates{made: hours(4), billed: hours(5), changed: hours(6), fee: 70}},
		{"draft", 900, dates{made: hours(7), changed: hours(7)}},
		{"completed", 900, dates{made: hours(25), billed: hours(26), captured: hours(26), changed: hours(26), fee: 60}},
	} {
		made := &transaction{id: fmt.Sprintf("txn_%02d", i), status: t.status, currency: "EUR", items: []int64{t.total}, at: t.when.made, booked: t.when}
		if i < 2 || i == 3 {
			made.custom = []byte(fmt.Sprintf(`{"payment_attempt_id":"att_%d","order_id":"A-%d"}`, i, i))
		}
		f.transactions = append(f.transactions, made)
	}
	for i, a := range []struct {
		action, status, of string
		when               dates
	}{
		{"refund", "approved", "txn_00", dates{made: hours(-1800), changed: hours(6)}},
		{"refund", "approved", "txn_00", dates{made: hours(-1700), changed: hours(-1690)}},
		{"refund", "approved", "txn_00", dates{made: hours(-1600), changed: hours(-1500)}},
		{"refund", "approved", "txn_01", dates{made: hours(-240), changed: hours(6)}},
		{"refund", "approved", "txn_03", dates{made: hours(7), changed: hours(7.5)}},
		{"refund", "pending_approval", "txn_03", dates{made: hours(8), changed: hours(8)}},
		{"chargeback", "reversed", "txn_00", dates{made: hours(9), changed: hours(60)}},
		{"chargeback_reverse", "approved", "txn_00", dates{made: hours(10), changed: hours(10)}},
		{"refund", "rejected", "txn_03", dates{made: hours(10), changed: hours(11)}},
		{"credit", "approved", "txn_03", dates{made: hours(11), changed: hours(11)}},
		{"chargeback_warning", "approved", "txn_03", dates{made: hours(11), changed: hours(11)}},
		{"refund", "approved", "txn_04", dates{made: hours(28), changed: hours(28)}},
	} {
		f.adjustments = append(f.adjustments, &adjustment{
			id: fmt.Sprintf("adj_%02d", i), action: a.action, status: a.status, transaction: a.of, currency: "EUR", total: int64(100 + i), booked: a.when,
		})
	}
	return f
}

func capture(i int, minor int64, at time.Time, fee int64) gateway.Entry {
	id := fmt.Sprintf("txn_%02d", i)
	e := gateway.Entry{ID: id, Payment: id, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: euro(minor), At: at}}
	if fee != 0 {
		e.Fee, e.Net = &payment.Money{Minor: fee + 200, Currency: "USD"}, &payment.Money{Minor: 1900 - fee, Currency: "USD"}
	}
	return e
}

func ours(e gateway.Entry, i int) gateway.Entry {
	e.References, e.Order = []string{fmt.Sprintf("att_%d", i)}, payment.OrderID(fmt.Sprintf("A-%d", i))
	return e
}

func adjusted(i int, of string, kind payment.MovementKind, at time.Time) gateway.Entry {
	id := fmt.Sprintf("adj_%02d", i)
	return gateway.Entry{ID: id, Payment: of, Movement: payment.MovementReport{Kind: kind, ID: id, Money: euro(int64(100 + i)), At: at}}
}

func booked(t *testing.T) providertest.Booked {
	t.Helper()
	event := func(of, data string) webhooks.Event {
		return read(t, []byte(`{"event_id":"evt_1","event_type":"`+of+`","occurred_at":"2026-03-14T12:00:00Z","data":`+data+`}`))
	}
	made := func(i int, of, action string) webhooks.Event {
		return event("adjustment.updated", fmt.Sprintf(`{"id":"adj_%02d","action":%q,"status":"approved","transaction_id":%q,"currency_code":"EUR","totals":{"total":"%d"}}`, i, action, of, 100+i))
	}
	return providertest.Booked{
		Fake: sold(), Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)},
		Entries: []gateway.Entry{
			ours(capture(0, 1999, hours(2), 150), 0), capture(2, 700, hours(-20), 50), ours(capture(3, 1500, hours(1.5), 0), 3),
			capture(4, 900, hours(4), 60), capture(7, 1200, hours(5), 70),
			adjusted(3, "txn_01", payment.MovementRefund, hours(6)), adjusted(4, "txn_03", payment.MovementRefund, hours(7.5)),
			adjusted(6, "txn_00", payment.MovementChargeback, hours(9)), adjusted(7, "txn_00", payment.MovementChargebackReversal, hours(10)),
		},
		Webhooks: []webhooks.Event{
			event("transaction.completed", `{"id":"txn_00","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1999"}}}`),
			made(3, "txn_01", "refund"), made(4, "txn_03", "refund"), made(6, "txn_00", "chargeback"), made(7, "txn_00", "chargeback_reverse"),
		},
	}
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.Books { return paddle.New(base, key, c) },
		Booked: booked,
		Listed: func(e gateway.Entry) time.Time {
			if e.ID == "txn_02" { // captured on the day before, and changed on the day
				return hours(3)
			}
			return e.Movement.At
		},
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return paddle.New(base, key, c) },
	})
}

// entriesOf returns the ids of a span's entries, and the error after them.
func entriesOf(t *testing.T, c *paddle.Client, in gateway.Span) (ids []string, err error) {
	t.Helper()
	err = c.Entries(t.Context(), in, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	return ids, err
}

// A change after the span hides no entry of the span. The span of the change passes it too.
func TestBooksOfADayThatWasChangedLater(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, sold())
	ids, err := entriesOf(t, c, gateway.Span{From: hours(48), To: hours(72)})
	require.NoError(t, err)
	require.Equal(t, []string{"txn_04", "adj_06"}, ids)
}

// The requests read only objects that may have entries: transactions that were created before the end and changed since
// the begin, in an order that changes do not move, and adjustments back to the oldest one that may be approved in the
// span.
func TestWhatBooksRead(t *testing.T) {
	t.Parallel()
	f, asked := sold(), map[string][]url.Values{}
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path] = append(asked[r.URL.Path], r.URL.Query())
		f.ServeHTTP(w, r)
	}))
	_, err := entriesOf(t, c, gateway.Span{From: day.Add(time.Millisecond), To: hours(24).Add(time.Millisecond)})
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"updated_at[GTE]": {"2026-03-14T00:00:00Z"}, "created_at[LT]": {"2026-03-15T00:00:01Z"}, "status": {"paid,completed"}, "order_by": {"id[ASC]"}, "per_page": {"30"},
	}, asked["/transactions"][0])
	require.Equal(t, url.Values{"status": {"approved,reversed"}, "order_by": {"id[DESC]"}, "per_page": {"50"}}, asked["/adjustments"][0])
	require.Equal(t, []string{"", "adj_10", "adj_07", "adj_04"}, after(asked["/adjustments"]), "adj_02 is too old, and what follows it is not read")
}

func after(queries []url.Values) (all []string) {
	for _, q := range queries {
		all = append(all, q.Get("after"))
	}
	return all
}

// listing returns a client whose two lists have one page each.
func listing(t *testing.T, transactions, adjustments string) *paddle.Client {
	t.Helper()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := transactions
		if strings.HasPrefix(r.URL.Path, "/adjustments") {
			items = adjustments
		}
		_, _ = io.WriteString(w, `{"data":[`+items+`],"meta":{"pagination":{"has_more":false}}}`)
	}))
	return c
}

// An unreadable item that may belong to the span is an error, and hides no other item.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	const (
		goodT = `,{"id":"txn_2","status":"completed","currency_code":"EUR","updated_at":"2026-03-14T01:00:00Z","details":{"totals":{"grand_total":"1999"}}}`
		goodA = `,{"id":"adj_2","action":"refund","status":"approved","transaction_id":"txn_2","currency_code":"EUR","totals":{"total":"1"},"created_at":"2026-03-14T01:00:00Z","updated_at":"2026-03-14T01:00:00Z"}`
		dated = `"created_at":"2026-03-14T01:00:00Z","updated_at":"2026-03-14T01:00:00Z"`
		older = `"created_at":"2026-03-12T01:00:00Z","updated_at":"2026-03-12T01:00:00Z"`
	)
	for _, tt := range []struct {
		transaction, adjustment string
		unread                  bool
	}{
		{`{}`, ``, true},
		{`null`, ``, true},
		{`{"id":5}`, ``, true},
		{`{"id":"txn_1","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1999"}}}`, ``, true},
		{`{"id":"txn_1","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1.5"}},` + dated + `}`, ``, true},
		{`{"id":"txn_1","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1.5"}},` + older + `}`, ``, false},
		{`{"id":"","status":"completed","currency_code":"EUR","details":{"totals":{"grand_total":"1"}},` + dated + `}`, ``, true},
		{``, `{}`, true},
		{``, `{"id":"adj_1","action":"chargeback","status":"approved","transaction_id":"txn_1","currency_code":"EUR","totals":{"total":"x"},` + dated + `}`, true},
		{``, `{"id":"adj_1","action":"chargeback","status":"approved","transaction_id":"txn_1","currency_code":"EUR","totals":{"total":"x"},` + older + `}`, false},
		{``, `{"id":"adj_1","action":"chargeback","status":"approved","currency_code":"EUR","totals":{"total":"1"},` + dated + `}`, true},
		{``, `{"action":"chargeback","status":"approved","transaction_id":"txn_1","currency_code":"EUR","totals":{"total":"1"},` + dated + `}`, true},
		{``, `{"id":"adj_1","action":"refund","status":"pending_approval","transaction_id":"txn_1","currency_code":"EUR","totals":{"total":"1"},` + dated + `}`, false},
		{``, `{"action":"refund","status":"approved","transaction_id":"txn_1","currency_code":"EUR","totals":{"total":"1"},` + dated + `}`, true},
	} {
		c := listing(t, strings.TrimPrefix(tt.transaction+goodT, ","), strings.TrimPrefix(tt.adjustment+goodA, ","))
		ids, err := entriesOf(t, c, gateway.Span{From: day, To: day.AddDate(0, 0, 1)})
		require.Equal(t, []string{"txn_2", "adj_2"}, ids, "%s %s", tt.transaction, tt.adjustment)
		require.Equal(t, tt.unread, errors.Is(err, gateway.ErrUnreadable), "%s %s: %v", tt.transaction, tt.adjustment, err)
		require.True(t, tt.unread || err == nil, "%v", err)
	}
}

// A next page needs an id to start after. A page without any id is not the end of the list.
func TestBooksGoOnAfterAnID(t *testing.T) {
	t.Parallel()
	const more = `,"meta":{"pagination":{"has_more":true}}}`
	for name, pages := range map[string][]string{
		"no ids":        {`{"data":[{}]` + more},
		"no ids later":  {`{"data":[{"id":"txn_1"},{}]` + more, `{"data":[{}]` + more},
		"the same page": {`{"data":[{"id":"txn_1"}]` + more, `{"data":[{"id":"txn_1"}]` + more},
		"no page":       {`{"data":[{"id":"txn_1"}]}`},
	} {
		asked := 0
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked++; asked <= len(pages) && r.URL.Query().Has("after") == (asked > 1) {
				_, _ = io.WriteString(w, pages[asked-1])
				return
			}
			w.WriteHeader(http.StatusBadGateway)
		}))
		_, err := entriesOf(t, c, gateway.Span{From: day, To: day.AddDate(0, 0, 1)})
		require.Error(t, err, name)
		require.NotErrorIs(t, err, gateway.ErrUnreadable, name)
		require.Equal(t, len(pages), asked, name)
	}
}

// A transaction is paid when its last payment is captured, regardless of its bill.
func TestWhenBooksHaveATransaction(t *testing.T) {
	t.Parallel()
	for dates, want := range map[string]time.Time{
		`"payments":[{"captured_at":"2026-03-14T03:00:00Z"},{"captured_at":"2026-03-14T01:00:00Z"}],"billed_at":"2026-03-14T02:00:00Z"`: hours(3),
		`"payments":[{"captured_at":"2026-03-14T01:00:00Z"},{"captured_at":"2026-03-14T03:00:00Z"}],"billed_at":null`:                   hours(3),
		`"payments":[{"captured_at":null}],"billed_at":"2026-03-14T02:00:00Z"`:                                                          hours(2),
		`"payments":[]`: hours(5),
	} {
		c := listing(t, `{"id":"txn_1","status":"completed","currency_code":"EUR","updated_at":"2026-03-14T05:00:00Z","details":{"totals":{"grand_total":"1999"}},`+dates+`}`, "")
		var at time.Time
		require.NoError(t, c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
			at = e.Movement.At
			return nil
		}))
		require.Equal(t, want, at, dates)
	}
}

// A refund takes the earnings from the balance, in its currency, and gives back the fee and the tax. The amounts are those of Paddle's
// example. A chargeback has neither.
func TestRefundsOfBooksHaveTheirNets(t *testing.T) {
	t.Parallel()
	const totals = `"totals":{"subtotal":"92","tax":"8","total":"100","fee":"5","earnings":"87","currency_code":"EUR"}`
	const payout = `{"subtotal":"92","tax":"8","total":"100","fee":"5","earnings":"87","currency_code":"USD"}`
	for _, tt := range []struct {
		action, payout string
		want           [2]*payment.Money
	}{
		{"refund", payout, [2]*payment.Money{{Minor: -13, Currency: "USD"}, {Minor: -87, Currency: "USD"}}},
		{"refund", `null`, [2]*payment.Money{}},
		{"chargeback", payout, [2]*payment.Money{}},
		{"chargeback_reverse", payout, [2]*payment.Money{}},
	} {
		c := listing(t, "", `{"id":"adj_1","action":"`+tt.action+`","status":"approved","transaction_id":"txn_1","currency_code":"EUR",`+totals+
			`,"payout_totals":`+tt.payout+`,"created_at":"2026-03-14T01:00:00Z","updated_at":"2026-03-14T02:00:00Z"}`)
		got := 0
		require.NoError(t, c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
			got++
			require.Equal(t, payment.Money{Minor: 100, Currency: "EUR"}, e.Movement.Money)
			require.Equal(t, tt.want, [2]*payment.Money{e.Fee, e.Net}, tt.action)
			return nil
		}))
		require.Equal(t, 1, got, tt.action)
	}
}

// The fee is that of the payout totals, with the tax. It is missing unless they are complete.
func TestFeesOfBooks(t *testing.T) {
	t.Parallel()
	for totals, want := range map[string][2]*payment.Money{
		`null`: {nil, nil},
		`{"fee":"150","earnings":"1516","currency_code":"USD"}`:             {{Minor: 150, Currency: "USD"}, {Minor: 1516, Currency: "USD"}},
		`{"tax":"300","fee":"150","earnings":"1516","currency_code":"USD"}`: {{Minor: 450, Currency: "USD"}, {Minor: 1516, Currency: "USD"}},
		`{"fee":"150","earnings":"-50","currency_code":"USD"}`:              {{Minor: 150, Currency: "USD"}, {Minor: -50, Currency: "USD"}},
		`{"tax":"x","fee":"150","earnings":"1516","currency_code":"USD"}`:   {nil, nil},
		`{"fee":"150","earnings":"1516"}`:                                   {nil, nil},
		`{"fee":"150","currency_code":"USD"}`:                               {nil, nil},
		`{"fee":null,"earnings":"1","currency_code":"USD"}`:                 {nil, nil},
	} {
		c := listing(t, `{"id":"txn_1","status":"completed","currency_code":"EUR","updated_at":"2026-03-14T01:00:00Z","details":{"totals":{"grand_total":"1999"},"payout_totals":`+totals+`}}`, "")
		var got [2]*payment.Money
		require.NoError(t, c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
			got = [2]*payment.Money{e.Fee, e.Net}
			return nil
		}))
		require.Equal(t, want, got, totals)
	}
}
