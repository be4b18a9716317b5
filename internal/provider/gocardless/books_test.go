package gocardless_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/gocardless"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const stamp = "2006-01-02T15:04:05.000Z"

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

type object = map[string]any

func at(hour int) time.Time { return day.Add(time.Duration(hour) * time.Hour) }

// page serves two objects of a filtered list. The next page starts after the id of the last object.
func page(w http.ResponseWriter, r *http.Request, name string, items []object) {
	query := r.URL.Query()
	if r.Header.Get("Authorization") != "Bearer token" || r.Header.Get("Gocardless-Version") != "2015-07-06" || query.Get("limit") != "500" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	found, after := []object{}, query.Get("after") == ""
	for _, o := range items {
		on, _ := o["created_at"].(string)
		if after && (on == "" || on >= query.Get("created_at[gte]") && on < query.Get("created_at[lt]")) {
			found = append(found, o)
		}
		after = after || o["id"] == query.Get("after")
	}
	cursors := object{"before": nil, "after": nil}
	if len(found) > 2 {
		found = found[:2]
		cursors["after"] = found[1]["id"]
	}
	if err := json.NewEncoder(w).Encode(object{name: found, "meta": object{"cursors": cursors, "limit": 500}}); err != nil {
		panic(err)
	}
}

func item(kind, amount, of, refund string) object {
	return object{"id": "cursor-" + kind + of, "type": kind, "amount": amount, "links": object{"payment": of, "refund": refund}}
}

// booked returns a fake with three payouts of the day and one of the day before.
func booked(t *testing.T) providertest.Booked {
	t.Helper()
	items := map[string][]object{
		"PO1": {
			item("gocardless_fee", "-20.0", "PM1", ""), item("payment_paid_out", "1999.0", "PM1", ""), item("payment_paid_out", "700.0", "PM2", ""),
			item("gocardless_fee", "-17.5", "PM2", ""), item("surcharge_fee", "-1.0", "PM1", ""), item("app_fee", "-1.0", "PM1", ""),
		},
		"PO2": {
			item("payment_charged_back", "-1999.0", "PM1", ""), item("gocardless_fee", "20.0", "PM1", ""), item("payment_failed", "-700.0", "PM2", ""),
			item("payment_refunded", "-150.0", "PM3", "RF1"), item("refund", "-150.0", "", "RF9"), item("revenue_share", "3.3", "", ""),
		},
		"PO3": {item("refund_funds_returned", "150.0", "PM3", "RF1")},
		"PO4": {item("payment_paid_out", "1.0", "PM4", "")},
	}
	var payouts []object
	for i, on := range []time.Time{at(23), at(10), at(1), at(-1)} {
		payouts = append(payouts, object{"id": "PO" + strconv.Itoa(3-i), "currency": "EUR", "amount": 1, "created_at": on.Format(stamp)})
	}
	payouts[3]["id"] = "PO4"
	h := http.NewServeMux()
	h.HandleFunc("GET /payouts", func(w http.ResponseWriter, r *http.Request) { page(w, r, "payouts", payouts) })
	h.HandleFunc("GET /payout_items", func(w http.ResponseWriter, r *http.Request) {
		page(w, r, "payout_items", items[r.URL.Query().Get("payout")])
	})
	h.HandleFunc("GET /payments/{id}", func(w http.ResponseWriter, r *http.Request) {
		status := "paid_out"
		if r.PathValue("id") == "PM1" {
			status = "charged_back"
		}
		_, _ = io.WriteString(w, `{"payments":{"id":"`+r.PathValue("id")+`","status":"`+status+`","amount":1999,"currency":"EUR"}}`)
	})
	eur := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	entry := func(payout, kind, of string, hour int, m payment.MovementReport, fee, net *payment.Money) gateway.Entry {
		m.At = at(hour)
		e := gateway.Entry{ID: payout + "/" + kind + "/" + of, Payment: of, Payout: payout, Movement: m, Fee: fee, Net: net}
		if m.ID != "" {
			e.ID = payout + "/" + kind + "/" + m.ID
		}
		return e
	}
	return providertest.Booked{
		Fake: h, Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)},
		Entries: []gateway.Entry{
			entry("PO1", "payment_paid_out", "PM1", 1, payment.MovementReport{Kind: payment.MovementCapture, Money: *eur(1999)}, eur(21), eur(1978)),
			entry("PO1", "payment_paid_out", "PM2", 1, payment.MovementReport{Kind: payment.MovementCapture, Money: *eur(700)}, nil, nil),
			entry("PO2", "payment_charged_back", "PM1", 10, payment.MovementReport{Kind: payment.MovementChargeback, Money: *eur(1999)}, eur(-20), eur(-1979)),
			entry("PO2", "payment_failed", "PM2", 10, payment.MovementReport{Kind: payment.MovementCaptureReversal, Money: *eur(700)}, nil, eur(-700)),
			entry("PO2", "payment_refunded", "PM3", 10, payment.MovementReport{Kind: payment.MovementRefund, ID: "RF1", Money: *eur(150)}, nil, eur(-150)),
			entry("PO3", "refund_funds_returned", "PM3", 23, payment.MovementReport{Kind: payment.MovementRefundReversal, ID: "RF1", Money: *eur(150)}, nil, eur(150)),
		},
		Webhooks: notice(t, `{"events":[
			{"id":"EV1","created_at":"2026-03-14T01:00:00.000Z","resource_type":"payments","action":"confirmed","links":{"payment":"PM1"}},
			{"id":"EV2","created_at":"2026-03-14T01:00:00.000Z","resource_type":"payments","action":"paid_out","links":{"payment":"PM2"}},
			{"id":"EV3","created_at":"2026-03-14T01:00:00.000Z","resource_type":"payments","action":"charged_back","links":{"payment":"PM1"}},
			{"id":"EV4","created_at":"2026-03-14T01:00:00.000Z","resource_type":"payments","action":"late_failure_settled","links":{"payment":"PM2"}}]}`),
	}
}

func notice(t *testing.T, body string) []webhooks.Event {
	t.Helper()
	return reader(t).Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body), ReceivedAt: time.Now()})
}

func reader(t *testing.T) *hooks.Verifier {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	return v
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.Books { return gocardless.New(base, "token", c) },
		Booked: booked,
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return gocardless.New(base, "token", c)
		},
	})
}

// A refund has the same id as in the lookup, because its webhook is recorded under this id.
func TestBooksNameRefundsAsLookupsDo(t *testing.T) {
	t.Parallel()
	found, err := answering(t, map[string]string{
		"/refunds/RF1": `{"refunds":{"id":"RF1","status":"paid","amount":150,"currency":"EUR","links":{"payment":"PM3"}}}`,
	}).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "RF1"})
	require.NoError(t, err)
	told := payment.RefundMovements(payment.RefundReport{ProviderID: found.ProviderRefundID, Event: found.Event, Money: found.Money}, &payment.Attempt{}, nil)
	e := booked(t).Entries[4]
	require.Equal(t, []any{told[0].Kind, told[0].ID, told[0].Money, found.ProviderPaymentID}, []any{e.Movement.Kind, e.Movement.ID, e.Movement.Money, e.Payment})
}

// paidOut returns the entries of a payout's items without their dates, and the error after them.
func paidOut(t *testing.T, items string) (entries []gateway.Entry, err error) {
	t.Helper()
	c := answering(t, map[string]string{
		"/payouts":      `{"payouts":[{"id":"PO1","currency":"EUR","created_at":"2026-03-14T01:00:00.000Z"}],"meta":{"cursors":{"after":null}}}`,
		"/payout_items": `{"payout_items":[` + items + `],"meta":{"cursors":{"after":null}}}`,
	})
	err = c.Entries(t.Context(), gateway.Span{From: day, To: at(24)}, func(e gateway.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// Payouts of the span are listed as they are now. A payout that can't be read hides no other.
func TestPayouts(t *testing.T) {
	t.Parallel()
	list := func(rest string) string {
		return `{"id":"PO` + rest + `,"currency":"EUR","created_at":"2026-03-14T01:00:00.000Z"}`
	}
	c := answering(t, map[string]string{"/payouts": `{"payouts":[` + strings.Join([]string{
		list(`1","amount":1000,"arrival_date":"2026-03-16","status":"pending"`), list(`2","amount":2000,"arrival_date":"2026-03-15","status":"paid"`),
		list(`3","amount":-150,"arrival_date":null,"status":"bounced"`), list(`4","amount":5,"status":"lost"`), list(`5","status":"paid"`),
		list(`6","amount":1.5,"status":"paid"`), list(`7","amount":1,"arrival_date":"soon","status":"paid"`),
		`{"id":"PO8","currency":"EUR","amount":1,"status":"paid","created_at":"2026-03-13T23:59:59.000Z"}`,
	}, ",") + `],"meta":{"cursors":{"after":null}}}`})
	var got []payment.PayoutReport
	err := c.Payouts(t.Context(), gateway.Span{From: day, To: at(24)}, func(p payment.PayoutReport) error {
		got = append(got, p)
		return nil
	})
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	eur := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	require.Equal(t, []payment.PayoutReport{
		{ProviderID: "PO1", Again: true, Money: eur(1000), Status: payment.PayoutPending, ArrivesOn: time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)},
		{ProviderID: "PO2", Again: true, Money: eur(2000), Status: payment.PayoutPaid, ArrivesOn: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)},
		{ProviderID: "PO3", Again: true, Money: eur(-150), Status: payment.PayoutFailed},
	}, got)
}

// An unreadable item hides no other item. It may be a fee, so the payout's fees are omitted.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	others := `,{"type":"payment_paid_out","amount":"700.0","links":{"payment":"PM2"}},{"type":"gocardless_fee","amount":"-20.0","links":{"payment":"PM2"}}`
	for _, item := range []string{
		`{"type":"payment_paid_out","amount":"1999.5","links":{"payment":"PM1"}}`, `{"type":"payment_paid_out","amount":"x","links":{"payment":"PM1"}}`,
		`{"type":"payment_paid_out","amount":"1.25","links":{"payment":"PM1"}}`, `{"type":"payment_refunded","amount":"-1.0","links":{"payment":"PM1"}}`,
		`{"type":"gocardless_fee","amount":-1,"links":{"payment":"PM2"}}`, `null`,
	} {
		got, err := paidOut(t, item+others)
		require.ErrorIs(t, err, gateway.ErrUnreadable, item)
		require.Len(t, got, 1, item)
		require.Equal(t, "PO1/payment_paid_out/PM2", got[0].ID)
		require.Equal(t, []*payment.Money{nil, nil}, []*payment.Money{got[0].Fee, got[0].Net}, item)
	}
}

// If a payment has two entries in one payout, the first entry gets the fee, wherever the fee's item is. So the fee
// counts once.
func TestAFeeIsThatOfOneEntry(t *testing.T) {
	t.Parallel()
	items := []string{
		`{"type":"payment_paid_out","amount":"1999.0","links":{"payment":"PM1"}}`,
		`{"type":"payment_charged_back","amount":"-1999.0","links":{"payment":"PM1"}}`,
	}
	fee := `{"type":"gocardless_fee","amount":"-20.0","links":{"payment":"PM1"}}`
	eur := func(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }
	for place := range 3 {
		got, err := paidOut(t, strings.Join(slices.Insert(slices.Clone(items), place, fee), ","))
		require.NoError(t, err)
		require.Len(t, got, 2)
		require.Equal(t, []string{"PO1/payment_paid_out/PM1", "PO1/payment_charged_back/PM1"}, []string{got[0].ID, got[1].ID})
		require.Equal(t, []*payment.Money{eur(20), eur(1979)}, []*payment.Money{got[0].Fee, got[0].Net})
		require.Equal(t, []*payment.Money{nil, eur(-1999)}, []*payment.Money{got[1].Fee, got[1].Net})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	providertest.EventLog(t, providertest.EventLogSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.EventLog {
			return gocardless.New(base, "token", c)
		},
		Reader: reader(t),
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			listed := providertest.Listed{Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)}}
			var events []object
			for i, on := range []time.Time{at(25), at(20), at(15), at(15), at(2), at(1), at(-1)} {
				e := object{
					"id": "EV" + strconv.Itoa(i), "created_at": on.Format(stamp), "resource_type": "payments", "action": "confirmed",
					"links": object{"payment": "PM1"}, "resource_metadata": object{"payment_attempt_id": "att_1"},
				}
				events = append(events, e)
				if raw, err := json.Marshal(object{"events": []object{e}}); listed.Span.Has(on) {
					require.NoError(t, err)
					listed.Events = append(listed.Events, gateway.ListedEvent{Body: raw, At: on})
				}
			}
			h := http.NewServeMux()
			h.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { page(w, r, "events", events) })
			listed.Fake = h
			return listed
		},
	})
}

// TestEventsOfTheSamples reads the list in the tests of GoCardless's own client, if it is available.
func TestEventsOfTheSamples(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(published.Path(t, published.Specs, "gocardless-samples.json"))
	require.NoError(t, err)
	var samples struct {
		Events struct {
			List struct {
				Body map[string]any `json:"body"`
			} `json:"list"`
		} `json:"events"`
	}
	require.NoError(t, json.Unmarshal(raw, &samples))
	samples.Events.List.Body["meta"].(map[string]any)["cursors"] = nil
	body, err := json.Marshal(samples.Events.List.Body)
	require.NoError(t, err)
	c, passed := answering(t, map[string]string{"/events": string(body)}), 0
	require.NoError(t, c.Events(t.Context(), gateway.Span{From: day.AddDate(-20, 0, 0), To: day}, func(e gateway.ListedEvent) error {
		passed++
		require.NotEqual(t, webhooks.KindUnreadable, notice(t, string(e.Body))[0].Kind)
		return nil
	}))
	require.Equal(t, 2, passed)
}
