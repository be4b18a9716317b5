package paypal_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/paypal"
)

// began is the beginning of the fixture's day.
var began = time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC)

// books are PayPal's lists of an account.
type books struct {
	transactions, events []object
	refreshed            string
	// most is the maximum number of results of a search.
	most int
}

// booksPage is smaller than the requested page size, so that every list has several pages.
const booksPage = 2

func keeping(t *testing.T, b *books) http.Handler {
	t.Helper()
	f := newFake(t)
	authentic := func(list http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.authentic(w, r) {
				list(w, r)
			}
		}
	}
	f.HandleFunc("GET /v1/reporting/transactions", authentic(b.search))
	events := http.NewServeMux()
	events.HandleFunc("GET /v1/notifications/webhooks-events", authentic(b.list))
	checked := providertest.Described(t, "paypal-notifications-webhooks-v1.json", "", events)
	f.Handle("GET /v1/notifications/webhooks-events", checked)
	return f
}

// search checks its dates strictly, as PayPal does.
func (b *books) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, fromErr := time.Parse(time.RFC3339, q.Get("start_date"))
	to, toErr := time.Parse(time.RFC3339, q.Get("end_date"))
	number, _ := strconv.Atoi(q.Get("page"))
	if fromErr != nil || toErr != nil || number < 1 || to.Sub(from) > 31*24*time.Hour || q.Get("page_size") != "500" {
		write(w, http.StatusBadRequest, problem("INVALID_REQUEST", "", "INVALID_DATE_RANGE"))
		return
	}
	found := []object{}
	for _, one := range b.transactions {
		info, _ := one["transaction_info"].(object)
		at, err := time.Parse("2006-01-02T15:04:05Z0700", fmt.Sprint(info["transaction_initiation_date"]))
		code := q.Get("transaction_type")
		if err == nil && !at.Before(from) && !at.After(to) && (code == "" || code == info["transaction_event_code"]) {
			found = append(found, one)
		}
	}
	if b.most > 0 && len(found) > b.most {
		write(w, http.StatusBadRequest, object{"name": "RESULTSET_TOO_LARGE", "debug_id": "1", "message": "Result set size is greater than the maximum limit."})
		return
	}
	pages := (len(found) + booksPage - 1) / booksPage
	page := found[min((number-1)*booksPage, len(found)):min(number*booksPage, len(found))]
	said := object{"transaction_details": page, "page": number, "total_items": len(found), "total_pages": pages}
	if b.refreshed != "" {
		said["last_refreshed_datetime"] = b.refreshed
	}
	write(w, http.StatusOK, said)
}

func (b *books) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	found := []object{}
	for _, one := range slices.Backward(b.events) {
		if at := fmt.Sprint(one["create_time"]); at >= q.Get("start_time") && at <= q.Get("end_time") {
			found = append(found, one)
		}
	}
	skip, _ := strconv.Atoi(q.Get("offset"))
	links := []object{{"rel": "self", "href": "https://elsewhere.example/v1/notifications/webhooks-events?" + r.URL.RawQuery, "method": "GET"}}
	if len(found) > skip+booksPage {
		q.Set("offset", strconv.Itoa(skip+booksPage))
		links = append(links, object{"rel": "next", "href": "https://elsewhere.example/v1/notifications/webhooks-events?" + q.Encode(), "method": "GET"})
	}
	page := found[min(skip, len(found)):min(skip+booksPage, len(found))]
	write(w, http.StatusOK, object{"events": page, "count": len(page), "links": links})
}

func transaction(id, code, value string, second int, more object) object {
	info := object{
		"transaction_id": id, "transaction_event_code": code, "transaction_status": "S", "custom_field": "att-1",
		"transaction_initiation_date": began.Add(time.Duration(second) * time.Second).Format("2006-01-02T15:04:05Z0700"),
		"transaction_amount":          object{"currency_code": "EUR", "value": value},
	}
	maps.Copy(info, more)
	return object{"transaction_info": info}
}

func of(capture string) object {
	return object{"paypal_reference_id": capture, "paypal_reference_id_type": "TXN"}
}

func fee(value string) object {
	return object{"fee_amount": object{"currency_code": "EUR", "value": value}, "invoice_id": "I-1"}
}

func entry(id, of string, kind payment.MovementKind, movement string, minor, net int64, second int) gateway.Entry {
	return gateway.Entry{
		ID: id, Payment: of, References: []string{"att-1"}, Net: new(euro(net)),
		Movement: payment.MovementReport{Kind: kind, ID: movement, Money: euro(minor), At: began.Add(time.Duration(second) * time.Second)},
	}
}

// sold returns the transactions of a day: each type that concerns a payment, and other types.
func sold() *books {
	return &books{transactions: []object{
		transaction("C1", "T0006", "19.99", 0, fee("-0.88")),
		transaction("C2", "T0006", "5.00", 1, object{"transaction_status": "P"}),
		transaction("C3", "T0006", "7.00", 2, object{"transaction_status": "V", "paypal_reference_id": "O3", "paypal_reference_id_type": "ODR"}),
		transaction("R1", "T1107", "-5.00", 3, of("C1")),
		transaction("W1", "T0400", "-50.00", 4, nil),
		transaction("D1", "T1201", "-7.00", 5, of("C3")),
		transaction("H1", "T1110", "-7.00", 6, of("C3")),
		transaction("D2", "T1202", "7.00", 7, of("C3")),
		transaction("D3", "T1207", "-7.00", 8, of("C3")),
		transaction("D4", "T1205", "7.00", 9, of("C3")),
		transaction("S1", "T0000", "-3.00", 10, nil),
		transaction("F1", "T0106", "-20.00", 11, of("C3")),
	}}
}

func soldEntries() []gateway.Entry {
	first := entry("C1", "C1", payment.MovementCapture, "C1", 1999, 1911, 0)
	first.Fee, first.References = new(euro(88)), []string{"att-1", "I-1"}
	third := entry("C3", "C3", payment.MovementCapture, "C3", 700, 700, 2)
	third.References = []string{"att-1", "O3"}
	return []gateway.Entry{
		first, third,
		entry("R1", "C1", payment.MovementRefund, "R1", 500, -500, 3),
		entry("D1", "C3", payment.MovementChargeback, "", 700, -700, 5),
		entry("D2", "C3", payment.MovementChargebackReversal, "", 700, 700, 7),
		entry("D3", "C3", payment.MovementChargeback, "", 700, -700, 8),
		entry("D4", "C3", payment.MovementChargebackReversal, "", 700, 700, 9),
	}
}

func aside(r providertest.Request) bool { return r.Path == "/v1/oauth2/token" }

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books {
			return paypal.New(base, clientID, secret, c, atNoon)
		},
		Aside: aside,
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			return providertest.Booked{
				Fake: keeping(t, sold()), Span: gateway.Span{From: began, To: began.Add(time.Hour)}, Entries: soldEntries(),
				Webhooks: []webhooks.Event{
					webhook(t, "PAYMENT.CAPTURE.REFUNDED", `{"id":"R1","status":"COMPLETED","amount":{"currency_code":"EUR","value":"5.00"},
						"links":[{"rel":"up","href":"https://api-m.paypal.com/v2/payments/captures/C1"}]}`),
					webhook(t, "PAYMENT.CAPTURE.REVERSED", `{"id":"D1","status":"COMPLETED","amount":{"currency_code":"EUR","value":"7.00"},
						"links":[{"rel":"up","href":"https://api-m.paypal.com/v2/payments/captures/C3"}]}`),
				},
			}
		},
	})
}

// A capture in the books has the same name as in the lookup of its order, and as the payment in its webhook. A refund
// has the same name as in its order.
func TestBooksNameWhatLookupsName(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	made := charged(t, c, charge("card:8kk8451t"))
	back, err := c.Refund(t.Context(), gateway.RefundCall{
		ProviderPaymentID: made.ProviderPaymentID, Money: euro(500), IdempotencyKey: "r-1", Permit: permit(),
	})
	require.NoError(t, err)
	capture := made.Movements[0].ID
	b := &books{transactions: []object{
		transaction(capture, "T0006", "19.99", 0, nil), transaction(back.ProviderRefundID, "T1107", "-5.00", 1, of(capture)),
	}}
	f.HandleFunc("GET /v1/reporting/transactions", b.search)
	got, err := read(t, c)
	require.NoError(t, err)
	require.Len(t, got, 2)
	now, err := c.Lookup(t.Context(), made.ProviderPaymentID)
	require.NoError(t, err)
	for _, e := range got {
		require.Contains(t, append(now.References, now.ProviderPaymentID), e.Payment)
	}
	require.Equal(t, now.Movements[0].ID, got[0].Movement.ID)
	require.Equal(t, now.Movements[0].Money, got[0].Movement.Money)
	require.Equal(t, back.ProviderRefundID, got[1].Movement.ID)
	r, ok := payment.ReportOfEvent(webhook(t, "PAYMENT.CAPTURE.COMPLETED", `{"id":"`+capture+`","status":"COMPLETED","amount":{"currency_code":"EUR","value":"19.99"}}`), "")
	require.True(t, ok)
	require.Equal(t, r.Payment, got[0].Payment)
}

// read returns the entries of an hour, and the error after them.
func read(t *testing.T, c *paypal.Client) ([]gateway.Entry, error) {
	t.Helper()
	return within(t, c, gateway.Span{From: began, To: began.Add(time.Hour)})
}

func within(t *testing.T, c *paypal.Client, span gateway.Span) (all []gateway.Entry, err error) {
	t.Helper()
	err = c.Entries(t.Context(), span, func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// A search takes at most 31 days. A longer span becomes several adjacent searches.
func TestALongSpanIsSeveralSearches(t *testing.T) {
	t.Parallel()
	const day = 86400
	b := &books{transactions: []object{
		transaction("C1", "T0006", "1.00", 0, nil), transaction("C2", "T0006", "1.00", 31*day-1, nil), transaction("C3", "T0006", "1.00", 31*day, nil),
		transaction("C4", "T0006", "1.00", 62*day+1, nil), transaction("C5", "T0006", "1.00", 70*day-1, nil),
	}}
	c, seen := serve(t, keeping(t, b))
	got, err := within(t, c, gateway.Span{From: began, To: began.AddDate(0, 0, 70)})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, e := range got {
		ids[e.ID] = true
	}
	require.Equal(t, map[string]bool{"C1": true, "C2": true, "C3": true, "C4": true, "C5": true}, ids)
	starts := map[string]bool{}
	for range len(seen) {
		asked, err := url.Parse(strings.TrimPrefix((<-seen).line, "GET "))
		require.NoError(t, err)
		starts[asked.Query().Get("start_date")[:10]] = true
	}
	require.Equal(t, map[string]bool{"2026-03-13": true, "2026-04-13": true, "2026-05-14": true}, starts)
}

// An eCheck is completed ten days after its initiation, by which a search finds it. The daily runs read it then.
func TestACaptureThatIsPendingForDaysIsBooked(t *testing.T) {
	t.Parallel()
	b := &books{transactions: []object{transaction("C1", "T0006", "19.99", 0, object{"transaction_status": "P"})}}
	c, _ := serve(t, keeping(t, b))
	overlap := paypal.Adapter().Overlap
	require.GreaterOrEqual(t, overlap, 31*24*time.Hour, "the daily run reads the span again for so long")
	for day := 1; day <= 11; day++ {
		if day == 11 {
			b.transactions[0] = transaction("C1", "T0006", "19.99", 0, nil)
		}
		got, err := within(t, c, gateway.Span{From: began.AddDate(0, 0, day-1).Add(-overlap), To: began.AddDate(0, 0, day)})
		require.NoError(t, err)
		require.Len(t, got, day/11, "day %d", day)
	}
}

// A search with too many results is halved until it fits.
func TestTooManyResultsAreSearchedByHalves(t *testing.T) {
	t.Parallel()
	b := &books{most: 2}
	for i := range 9 {
		b.transactions = append(b.transactions, transaction("C"+strconv.Itoa(i), "T0006", "1.00", i*100, nil))
	}
	server := httptest.NewServer(keeping(t, b))
	t.Cleanup(server.Close)
	c := paypal.New(server.URL, clientID, secret, server.Client(), atNoon)
	got, err := read(t, c)
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, e := range got {
		ids[e.ID] = true
	}
	require.Len(t, ids, 9)
	b.transactions = nil
	for i := range 3 {
		b.transactions = append(b.transactions, transaction("C"+strconv.Itoa(i), "T0006", "1.00", 5, nil))
	}
	_, err = read(t, c)
	require.ErrorContains(t, err, "RESULTSET_TOO_LARGE", "they are of one second")
}

// Transactions that are not listed yet may be missing, so the span must be read again.
func TestASpanThatIsNotListedYetIsAnError(t *testing.T) {
	t.Parallel()
	b := sold()
	c, _ := serve(t, keeping(t, b))
	for refreshed, early := range map[string]bool{
		"": false, "2026-03-13T00:59:59+0000": true, "2026-03-13T01:00:00Z": false, "2026-03-13T02:30:00+0200": true, "2026-03-13T01:00:01+00:00": false,
	} {
		b.refreshed = refreshed
		got, err := read(t, c)
		require.Len(t, got, len(soldEntries()))
		require.Equal(t, early, err != nil, refreshed)
		require.NotErrorIs(t, err, gateway.ErrUnreadable)
	}
}

func TestBookedAmounts(t *testing.T) {
	t.Parallel()
	yen := object{"transaction_amount": object{"currency_code": "JPY", "value": "500"}, "fee_amount": object{"currency_code": "JPY", "value": "-18"}}
	dinar := object{"transaction_amount": object{"currency_code": "TND", "value": "1.234"}, "fee_amount": object{"currency_code": "USD", "value": "-.30"}}
	c, _ := serve(t, keeping(t, &books{transactions: []object{
		transaction("C1", "T0006", "", 0, yen), transaction("C2", "T0006", "", 1, dinar), transaction("R1", "T1107", "-5", 2, fee("0.10")),
	}}))
	got, err := read(t, c)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, payment.Money{Minor: 500, Currency: "JPY"}, got[0].Movement.Money)
	require.Equal(t, &payment.Money{Minor: 482, Currency: "JPY"}, got[0].Net)
	require.Equal(t, payment.Money{Minor: 1234, Currency: "TND"}, got[1].Movement.Money)
	require.Equal(t, &payment.Money{Minor: 30, Currency: "USD"}, got[1].Fee)
	require.Nil(t, got[1].Net)
	require.Equal(t, []*payment.Money{new(euro(-10)), new(euro(-490))}, []*payment.Money{got[2].Fee, got[2].Net})
}

func TestAnUnreadableTransactionHidesNoOther(t *testing.T) {
	t.Parallel()
	b := sold()
	b.transactions = append(b.transactions, transaction("C9", "T0006", "1.999", 10, nil), transaction("C8", "T0006", "1.00", 11, object{"fee_amount": object{}}))
	c, _ := serve(t, keeping(t, b))
	got, err := read(t, c)
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "2 items, the first: transaction C9")
	require.Len(t, got, len(soldEntries()))
}

func TestEventLog(t *testing.T) {
	t.Parallel()
	reader, err := hooks.New(webhooks.Config{Params: map[string]string{"webhook_id": "W1"}})
	require.NoError(t, err)
	providertest.EventLog(t, providertest.EventLogSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.EventLog {
			return paypal.New(base, clientID, secret, c, atNoon)
		},
		Aside:  aside,
		Reader: reader,
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			b := &books{}
			l := providertest.Listed{Fake: keeping(t, b), Span: gateway.Span{From: began, To: began.Add(time.Hour)}}
			for i := range 5 {
				at := began.Add(time.Duration(i) * time.Second)
				e := object{
					"id": "WH-" + strconv.Itoa(i), "event_type": "PAYMENT.CAPTURE.COMPLETED", "create_time": at.Format(time.RFC3339), "resource_type": "capture",
					"resource": object{"id": "C1", "status": "COMPLETED", "amount": object{"currency_code": "EUR", "value": "19.99"}},
				}
				body, err := json.Marshal(e)
				require.NoError(t, err)
				b.events = append(b.events, e)
				l.Events = append(l.Events, gateway.ListedEvent{Body: body, At: at})
			}
			return l
		},
	})
}

// A page whose next page is itself would never end.
func TestAPageThatFollowsItselfIsAnError(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.HandleFunc("GET /v1/notifications/webhooks-events", func(w http.ResponseWriter, r *http.Request) {
		write(w, http.StatusOK, object{"events": []object{}, "links": []object{{"rel": "next", "href": "?" + r.URL.RawQuery}}})
	})
	c, _ := serve(t, f)
	require.Error(t, c.Events(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(gateway.ListedEvent) error { return nil }))
}
