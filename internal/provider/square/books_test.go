package square_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// began is the beginning of the fixture's day.
var began = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func at(second int) string {
	return began.Add(time.Duration(second) * time.Second).Format("2006-01-02T15:04:05.000Z")
}

// books are Square's lists, each the oldest first. An empty list is omitted.
type books struct {
	payments, refunds, disputes, payouts, events []object
	// paidOut are the entries by payout.
	paidOut map[string][]object
}

// booksPage is smaller than the requested page size, so that every list has several pages.
const booksPage = 2

func keeping(t *testing.T, b *books) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	list := func(name string, of *[]object) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { listed(w, r, name, *of, r.URL.Query()) }
	}
	mux.HandleFunc("GET /v2/payments", list("payments", &b.payments))
	mux.HandleFunc("GET /v2/refunds", list("refunds", &b.refunds))
	mux.HandleFunc("GET /v2/disputes", list("disputes", &b.disputes))
	mux.HandleFunc("GET /v2/payouts", list("payouts", &b.payouts))
	mux.HandleFunc("GET /v2/payouts/{id}/payout-entries", func(w http.ResponseWriter, r *http.Request) {
		listed(w, r, "payout_entries", b.paidOut[r.PathValue("id")], r.URL.Query())
	})
	mux.HandleFunc("POST /v2/events", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Cursor string `json:"cursor"`
			Limit  int    `json:"limit"`
			Query  struct {
				Filter struct {
					CreatedAt struct {
						StartAt string `json:"start_at"`
						EndAt   string `json:"end_at"`
					} `json:"created_at"`
				} `json:"filter"`
			} `json:"query"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Limit < 1 || in.Limit > 100 {
			refuse(400, "INVALID_REQUEST_ERROR", "BAD_REQUEST").write(w)
			return
		}
		span := in.Query.Filter.CreatedAt
		listed(w, r, "events", b.events, url.Values{"cursor": {in.Cursor}, "begin_time": {span.StartAt}, "end_time": {span.EndAt}})
	})
	mux.HandleFunc("GET /v2/payments/{id}", func(w http.ResponseWriter, r *http.Request) {
		for _, p := range b.payments {
			if p["id"] == r.PathValue("id") {
				answer{200, object{"payment": p}}.write(w)
				return
			}
		}
		missing().write(w)
	})
	checked := providertest.Described(t, document, "", mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Square-Version", "2025-08-20")
		if strings.HasPrefix(r.URL.Path, "/v2/payments") || r.URL.Path == "/v2/refunds" {
			checked.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func listed(w http.ResponseWriter, r *http.Request, name string, all []object, q url.Values) {
	if r.Header.Get("Authorization") != "Bearer "+secret {
		refuse(401, "AUTHENTICATION_ERROR", "UNAUTHORIZED").write(w)
		return
	}
	found := []object{}
	for _, one := range all {
		if between(one["created_at"], q, "") && between(one["updated_at"], q, "updated_at_") {
			found = append(found, one)
		}
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	body := object{}
	if len(found) > from {
		body[name] = found[from:min(from+booksPage, len(found))]
	}
	if len(found) > from+booksPage {
		body["cursor"] = strconv.Itoa(from + booksPage)
	}
	answer{200, body}.write(w)
}

func between(when any, q url.Values, by string) bool {
	text, _ := when.(string)
	at, err := time.Parse(time.RFC3339, text)
	if !q.Has(by + "begin_time") {
		return true
	}
	from, fromErr := time.Parse(time.RFC3339, q.Get(by+"begin_time"))
	to, toErr := time.Parse(time.RFC3339, q.Get(by+"end_time"))
	return err == nil && fromErr == nil && toErr == nil && !at.Before(from) && !at.After(to)
}

func sold(id, status string, second int, more object) object {
	p := object{
		"id": id, "status": status, "created_at": at(second), "updated_at": at(second), "order_id": "o-" + id, "reference_id": "att-" + id, "source_type": "CARD",
		"amount_money": eur(1999), "total_money": eur(2199), "processing_fee": []object{fee(80), fee(-7)},
	}
	maps.Copy(p, more)
	return p
}

func fee(minor int64) object { return object{"type": "INITIAL", "amount_money": eur(minor)} }

func paidBack(id, of, status string, second int) object {
	return object{
		"id": id, "status": status, "payment_id": of, "order_id": "o-" + of, "amount_money": eur(500), "created_at": at(second), "updated_at": at(second),
		"processing_fee": []object{fee(-20)},
	}
}

func contested(id, of, state string, second int) object {
	return object{
		"id": id, "dispute_id": id, "state": state, "disputed_payment": object{"payment_id": of}, "amount_money": eur(700),
		"created_at": at(second), "updated_at": at(second),
	}
}

func entry(id, of string, kind payment.MovementKind, movement string, minor int64, second int) gateway.Entry {
	return gateway.Entry{
		ID: id, Payment: of, Movement: payment.MovementReport{Kind: kind, ID: movement, Money: euro(minor), At: began.Add(time.Duration(second) * time.Second)},
	}
}

// contestedEntry returns the entry of a dispute's chargeback or reversal.
func contestedEntry(id, of string, kind payment.MovementKind, dispute string, second int) gateway.Entry {
	e := entry(id, of, kind, "", 700, second)
	e.Movement.Dispute, e.Movement.Whole = dispute, kind == payment.MovementChargebackReversal
	return e
}

func captured(id string, second int) gateway.Entry {
	e := entry(id, id, payment.MovementCapture, "", 2199, second)
	e.References, e.Fee, e.Net = []string{"att-" + id, "o-" + id}, new(euro(73)), new(euro(2126))
	return e
}

func refunded(id, of string, second int) gateway.Entry {
	e := entry(id, of, payment.MovementRefund, id, 500, second)
	e.References, e.Fee, e.Net = []string{"o-" + of}, new(euro(-20)), new(euro(-480))
	return e
}

func day() *books {
	return &books{
		payments: []object{
			sold("p0", "COMPLETED", -86400, nil), sold("p1", "COMPLETED", 0, nil), sold("p2", "APPROVED", 1, nil),
			sold("p3", "COMPLETED", 2, object{"source_type": "CASH"}), sold("p4", "COMPLETED", 3, nil), sold("p5", "COMPLETED", 4, nil), sold("p6", "FAILED", 5, nil),
		},
		refunds: []object{
			paidBack("r1", "p1", "COMPLETED", 6), paidBack("r2", "p1", "PENDING", 7), paidBack("r3", "p1", "FAILED", 8), paidBack("r4", "", "COMPLETED", 9),
			paidBack("r5", "p4", "COMPLETED", 10),
		},
		disputes: []object{
			contested("d1", "p4", "EVIDENCE_REQUIRED", 11), contested("d2", "p5", "INQUIRY_PROCESSING", 12), contested("d3", "p5", "WON", 13),
		},
		payouts: []object{payout("po_1", "PAID", 14, 6259), payout("po_2", "SENT", 15, -103), payout("po_3", "SENT", 16, 5)},
		paidOut: map[string][]object{
			"po_1": {
				paidEntry("poe_1", "CHARGE", 14, 2199, 73, object{"type_charge_details": object{"payment_id": "p0"}}), paidEntry("poe_2", "SUBSCRIPTION_FEE", 14, -700, 0, nil),
				paidEntry("poe_3", "REFUND", 14, -500, -20, object{"type_refund_details": object{"payment_id": "p0", "refund_id": "r0"}}),
			},
			"po_2": {paidEntry("poe_4", "RESERVE_HOLD", 15, -103, 0, nil)},
		},
	}
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:      func(_ *testing.T, base string, c *http.Client) gateway.Books { return square.New(base, secret, c) },
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return square.New(base, secret, c) },
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			b := day()
			return providertest.Booked{
				Fake: keeping(t, b), Span: gateway.Span{From: began, To: began.Add(time.Hour)},
				Entries: []gateway.Entry{
					captured("p1", 0), captured("p4", 3), captured("p5", 4), refunded("r1", "p1", 6), refunded("r5", "p4", 10),
					contestedEntry("d1", "p4", payment.MovementChargeback, "d1", 11),
					contestedEntry("d3", "p5", payment.MovementChargeback, "d3", 13), contestedEntry("d3/won", "p5", payment.MovementChargebackReversal, "d3", 13),
					paidOut(entry("p0", "p0", payment.MovementCapture, "", 2199, 14), 73, 2126), ownEntry("poe_2", "po_1", payment.EntryFee, -700, 14),
					paidOut(entry("r0", "p0", payment.MovementRefund, "r0", 500, 14), -20, -480), ownEntry("poe_4", "po_2", payment.EntryReserve, -103, 15),
				},
				Webhooks: []webhooks.Event{
					told(t, "payment", b.payments[1]), told(t, "refund", b.refunds[0]), told(t, "refund", b.refunds[4]),
					disputed(t, b.disputes[0]), disputed(t, b.disputes[2]),
				},
			}
		},
	})
}

func disputed(t *testing.T, members object) webhooks.Event {
	t.Helper()
	body, err := json.Marshal(object{"event_id": "e1", "type": "dispute.state.updated", "data": object{"object": object{"dispute": members}}})
	require.NoError(t, err)
	return verifier(t).Read(webhooks.Delivery{Body: body})[0]
}

func verifier(t *testing.T) *hooks.Verifier {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"signature-key"}, PublicURL: "https://shop.example/webhooks/square"})
	require.NoError(t, err)
	return v
}

func TestEventLog(t *testing.T) {
	t.Parallel()
	providertest.EventLog(t, providertest.EventLogSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.EventLog { return square.New(base, secret, c) },
		Reader: verifier(t),
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			b := &books{}
			l := providertest.Listed{Fake: keeping(t, b), Span: gateway.Span{From: began, To: began.Add(time.Hour)}}
			for i, id := range []string{"e1", "e2", "e3", "e4", "e5"} {
				e := object{
					"merchant_id": "M1", "event_id": id, "type": "payment.updated", "created_at": at(i),
					"data": object{"type": "payment", "id": "p1", "object": object{"payment": sold("p1", "COMPLETED", i, nil)}},
				}
				body, err := json.Marshal(e)
				require.NoError(t, err)
				b.events = append(b.events, e)
				l.Events = append(l.Events, gateway.ListedEvent{Body: body, At: began.Add(time.Duration(i) * time.Second)})
			}
			return l
		},
	})
}

// read returns the entries of an hour, and the error after them.
func read(t *testing.T, c *square.Client) (all []gateway.Entry, err error) {
	t.Helper()
	err = c.Entries(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// An object that was created on an earlier day belongs to the span in which it was captured or completed. The card
// determines the time of a capture.
func TestWhatIsChangedLaterIsBookedThen(t *testing.T) {
	t.Parallel()
	before := object{"created_at": at(-86400), "updated_at": at(5)}
	late := sold("p1", "COMPLETED", 0, before)
	late["card_details"] = object{"card_payment_timeline": object{"captured_at": at(4)}}
	back := paidBack("r1", "p1", "COMPLETED", 0)
	maps.Copy(back, before)
	won := contested("d1", "p1", "WON", 0)
	maps.Copy(won, before)
	c, _ := serve(t, keeping(t, &books{payments: []object{late}, refunds: []object{back}, disputes: []object{won}}))
	got, err := read(t, c)
	require.NoError(t, err)
	took := contestedEntry("d1", "p1", payment.MovementChargeback, "d1", -86400)
	require.Equal(t, []gateway.Entry{
		captured("p1", 4), refunded("r1", "p1", -86400), took, contestedEntry("d1/won", "p1", payment.MovementChargebackReversal, "d1", 5),
	}, got)
}

// Square omits the lists of a seller without payments. An empty object from another server is not such a list.
func TestAnEmptyListHasSquaresVersion(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, keeping(t, &books{}))
	got, err := read(t, c)
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = read(t, says(t, 200, "{}"))
	require.Error(t, err)
	_, err = read(t, says(t, 200, `{"payments":[],"errors":[{"category":"API_ERROR","code":"GATEWAY_TIMEOUT"}]}`))
	require.ErrorContains(t, err, "GATEWAY_TIMEOUT")
}

func TestBooksOfALocation(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, keeping(t, &books{}))
	c.Location = "L1"
	_, err := read(t, c)
	require.NoError(t, err)
	for range 6 {
		require.Contains(t, (<-seen).line, "location_id=L1")
	}
	require.Empty(t, seen)
}

// Square adds fees some time later, and an application's developer may also take a fee.
func TestFees(t *testing.T) {
	t.Parallel()
	yen := func(minor int64) object { return object{"amount": minor, "currency": "JPY"} }
	c, _ := serve(t, keeping(t, &books{payments: []object{
		sold("p1", "COMPLETED", 0, object{"processing_fee": []object{}}),
		sold("p2", "COMPLETED", 1, object{"app_fee_money": eur(26)}),
		sold("p3", "COMPLETED", 2, object{"amount_money": yen(500), "total_money": yen(500), "processing_fee": []object{{"type": "INITIAL", "amount_money": yen(18)}}}),
	}}))
	got, err := read(t, c)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Nil(t, got[0].Fee)
	require.Nil(t, got[0].Net)
	require.Equal(t, new(euro(2100)), got[1].Net)
	require.Equal(t, payment.Money{Minor: 500, Currency: "JPY"}, got[2].Movement.Money)
	require.Equal(t, &payment.Money{Minor: 482, Currency: "JPY"}, got[2].Net)
}

func TestAnUnreadableItemHidesNoOther(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(object{"payments": []object{
		sold("p1", "COMPLETED", 0, object{"total_money": object{"amount": "5", "currency": "EUR"}}), sold("p2", "COMPLETED", 0, nil),
	}})
	require.NoError(t, err)
	got, err := read(t, says(t, 200, string(raw)))
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.NotEmpty(t, got)
	for _, e := range got {
		require.Equal(t, "p2", e.ID)
	}
}
