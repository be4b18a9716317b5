package checkout_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
)

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func at(hour int) time.Time { return day.Add(time.Duration(hour) * time.Hour) }

// action returns an action as a search shows it.
func action(id, kind, status string, amount int64, on time.Time) object {
	return object{"id": id, "type": kind, "status": status, "amount": amount, "processed_on": on.Format(time.RFC3339Nano)}
}

// booked returns a fake with five payments and four disputes. The day has two captures, two refunds and a return, a
// received dispute and a won dispute.
func booked(t *testing.T) providertest.Booked {
	t.Helper()
	f := newFake()
	var payments []object
	for i, p := range []struct {
		requested time.Time
		captured  int64
		actions   []object
	}{
		{requested: at(5), actions: []object{action("act_a", "Authorization", "Approved", 1999, at(5))}},
		{requested: at(1), captured: 1999, actions: []object{
			{"id": "dsp_x", "type": "Dispute", "processed_on": "2023-08-25T14:15:24.3448464ZZ", "status": "Evidence Required", "amount": 1},
			action("act_r1", "Refund", "Approved", 100, at(7)), action("act_r2", "Refund", "Declined", 100, at(6)), action("act_r3", "Refund", "Pending", 100, at(6)),
			action("act_c2", "Capture", "Approved", 999, at(3)), action("act_c1", "Capture", "Approved", 1000, at(2)),
		}},
		{requested: at(-24 * 60), captured: 1500, actions: []object{
			action("act_r4", "Refund", "Approved", 200, at(8)), action("act_c3", "Capture", "Approved", 1500, at(-24*59)),
		}},
		{requested: at(-24 * 6), captured: 1999, actions: []object{
			action("act_n1", "Return", "Approved", 1999, at(11)), action("act_c4", "Capture", "Approved", 1999, at(10)),
		}},
		{requested: at(-24 * 7), captured: 700, actions: []object{action("act_c5", "Capture", "Approved", 700, at(-24))}},
	} {
		made := &paid{
			id: "pay_book" + strconv.Itoa(i), reference: "att_" + strconv.Itoa(i), currency: "EUR", status: "Captured", amount: 1999, captured: p.captured,
			metadata: object{"payment_attempt_id": "att_" + strconv.Itoa(i), "order_id": "A-1"},
		}
		f.payments[made.id] = made
		shown := made.details()
		shown["status"], shown["requested_on"], shown["actions"] = "captured", p.requested.Format(time.RFC3339), p.actions
		payments = append(payments, shown)
	}
	disputes := []object{
		{"id": "dsp_1", "status": "evidence_required", "payment_id": "pay_book1", "received_on": at(12).Format(time.RFC3339), "last_update": at(24 * 3).Format(time.RFC3339)},
		{"id": "dsp_2", "status": "won", "payment_id": "pay_book2", "received_on": at(-24 * 30).Format(time.RFC3339), "last_update": at(13).Format(time.RFC3339)},
		{"id": "dsp_3", "status": "received", "payment_id": "pay_book2", "received_on": at(1).Format(time.RFC3339), "last_update": at(1).Format(time.RFC3339)},
		{"id": "dsp_4", "status": "lost", "payment_id": "pay_book3", "received_on": at(-24 * 30).Format(time.RFC3339), "last_update": at(-24).Format(time.RFC3339)},
	}
	for _, d := range disputes {
		d["amount"], d["currency"] = 1500, "EUR"
	}
	h := http.NewServeMux()
	h.Handle("/", f.handler(f))
	h.HandleFunc("POST /payments/search", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			From  string `json:"from"`
			To    string `json:"to"`
			Limit int    `json:"limit"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Limit == 0 {
			invalid("limit_required").write(w)
			return
		}
		found := within(payments, "requested_on", in.From, in.To)
		kept := len(f.keys)
		f.keys[strconv.Itoa(kept)] = answer{body: found}
		search(w, found, kept, 0)
	})
	h.HandleFunc("GET /payments/search/{id}", func(w http.ResponseWriter, r *http.Request) {
		kept, _ := strconv.Atoi(r.PathValue("id"))
		from, _ := strconv.Atoi(r.URL.Query().Get("token"))
		found, _ := f.keys[r.PathValue("id")].body.([]object)
		search(w, found, kept, from)
	})
	h.HandleFunc("GET /disputes", func(w http.ResponseWriter, r *http.Request) {
		found := within(disputes, "last_update", r.URL.Query().Get("from"), "9999")
		skip, _ := strconv.Atoi(r.URL.Query().Get("skip"))
		answer{200, object{"limit": 1, "skip": skip, "total_count": len(found), "data": found[skip:min(skip+1, len(found))]}}.write(w)
	})
	entry := func(id, pay string, m payment.MovementReport) gateway.Entry {
		e := gateway.Entry{ID: id, Payment: "pay_book" + pay, Movement: m}
		if m.Kind != payment.MovementChargeback && m.Kind != payment.MovementChargebackReversal {
			e.References, e.Order = []string{"att_" + pay}, "A-1"
		}
		return e
	}
	part := func(minor int64, e gateway.Entry) gateway.Entry {
		own := euro(minor)
		e.Part = &own
		return e
	}
	return providertest.Booked{
		Fake: h, Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)},
		Entries: []gateway.Entry{
			part(1000, entry("act_c1/capture", "1", payment.MovementReport{Kind: payment.MovementCapture, Money: euro(1000), At: at(2)})),
			part(999, entry("act_c2/capture", "1", payment.MovementReport{Kind: payment.MovementCapture, Money: euro(1999), At: at(3)})),
			entry("act_r1/refund", "1", payment.MovementReport{Kind: payment.MovementRefund, ID: "act_r1", Money: euro(100), At: at(7)}),
			entry("act_r4/refund", "2", payment.MovementReport{Kind: payment.MovementRefund, ID: "act_r4", Money: euro(200), At: at(8)}),
			part(1999, entry("act_c4/capture", "3", payment.MovementReport{Kind: payment.MovementCapture, Money: euro(1999), At: at(10)})),
			entry("act_n1/capture_reversal", "3", payment.MovementReport{Kind: payment.MovementCaptureReversal, ID: "act_n1", Money: euro(1999), At: at(11)}),
			entry("dsp_1/chargeback", "1", payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "dsp_1", Money: euro(1500), At: at(12)}),
			entry("dsp_2/chargeback_reversal", "2", payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: "dsp_2", Whole: true, Money: euro(1500), At: at(13)}),
		},
		Webhooks: []webhooks.Event{
			told(t, "payment_captured", object{"id": "pay_book1", "action_id": "act_c1", "amount": 1999, "currency": "EUR"}),
			told(t, "payment_refunded", object{"id": "pay_book1", "action_id": "act_r1", "amount": 100, "currency": "EUR"}),
			told(t, "payment_refunded", object{"id": "pay_book2", "action_id": "act_r4", "amount": 200, "currency": "EUR"}),
			told(t, "payment_returned", object{"id": "pay_book3", "action_id": "act_n1", "amount": 1999, "currency": "EUR"}),
			told(t, "dispute_evidence_required", object{"id": "dsp_1", "payment_id": "pay_book1", "amount": 1500, "currency": "EUR"}),
			told(t, "dispute_won", object{"id": "dsp_2", "payment_id": "pay_book2", "amount": 1500, "currency": "EUR"}),
		},
	}
}

// within returns the objects of a span. The begin is inclusive and the end exclusive.
func within(items []object, field, from, to string) []object {
	found := []object{}
	for _, o := range items {
		if on, _ := o[field].(string); on >= from && on <= to {
			found = append(found, o)
		}
	}
	return found
}

// search serves a page of two. Its link has another address, which must not be followed.
func search(w http.ResponseWriter, found []object, kept, from int) {
	page := object{"data": found[from:min(from+2, len(found))]}
	if from+2 < len(found) {
		page["_links"] = object{"next": object{"href": "https://elsewhere.example/payments/search/" + strconv.Itoa(kept) + "?token=" + strconv.Itoa(from+2)}}
	}
	answer{200, page}.write(w)
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:      func(_ *testing.T, base string, c *http.Client) gateway.Books { return checkout.New(base, secret, c) },
		Booked:   booked,
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return checkout.New(base, secret, c) },
	})
}

// An unreadable item that may belong to the span is an error, and hides no other item.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	paid := func(id, currency string, actions ...object) object {
		return object{"id": id, "currency": currency, "status": "Captured", "actions": actions}
	}
	contested := func(id, currency string, on time.Time) object {
		return object{
			"id": id, "status": "lost", "payment_id": "pay_1", "amount": 1500, "currency": currency,
			"received_on": on.Format(time.RFC3339), "last_update": on.Format(time.RFC3339),
		}
	}
	good, taken := paid("pay_1", "EUR", action("act_1", "Capture", "Approved", 700, at(2))), contested("dsp_1", "EUR", at(3))
	dateless := object{"id": "act_0", "type": "Capture", "status": "Approved", "amount": 700, "processed_on": "2023-08-25T14:15:24.3448464ZZ"}
	for name, tt := range map[string]struct {
		payment, dispute object
		unread           bool
	}{
		"no_currency":            {paid("pay_0", "", action("act_0", "Refund", "Approved", 700, at(2))), taken, true},
		"no_id":                  {paid("", "EUR", action("act_0", "Refund", "Approved", 700, at(2))), taken, true},
		"no_date":                {paid("pay_0", "EUR", dateless), taken, true},
		"of_another_day":         {paid("pay_0", "", action("act_0", "Refund", "Approved", 700, at(-2))), taken, false},
		"dispute_no_currency":    {good, contested("dsp_0", "", at(4)), true},
		"dispute_no_id":          {good, contested("", "EUR", at(4)), true},
		"dispute_of_another_day": {good, contested("dsp_0", "", at(-4)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := http.NewServeMux()
			h.HandleFunc("POST /payments/search", func(w http.ResponseWriter, _ *http.Request) {
				answer{200, object{"data": []object{tt.payment, good}}}.write(w)
			})
			h.HandleFunc("GET /disputes", func(w http.ResponseWriter, _ *http.Request) {
				answer{200, object{"total_count": 2, "data": []object{tt.dispute, taken}}}.write(w)
			})
			c, _ := serve(t, h)
			ids := map[string]bool{}
			err := c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
				ids[e.ID] = true
				return nil
			})
			require.Equal(t, map[string]bool{"act_1/capture": true, "dsp_1/chargeback": true}, ids)
			require.Equal(t, tt.unread, errors.Is(err, gateway.ErrUnreadable), "%v", err)
			require.True(t, tt.unread || err == nil, "%v", err)
		})
	}
}

// If the list has fewer disputes than its count, some are missing, and the span must be read again.
func TestDisputesThatAreNotListed(t *testing.T) {
	t.Parallel()
	h := http.NewServeMux()
	h.HandleFunc("POST /payments/search", func(w http.ResponseWriter, _ *http.Request) { answer{200, object{"data": []object{}}}.write(w) })
	h.HandleFunc("GET /disputes", func(w http.ResponseWriter, _ *http.Request) {
		answer{200, object{"total_count": 1, "data": []object{}}}.write(w)
	})
	c, _ := serve(t, h)
	err := c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(gateway.Entry) error { return nil })
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrUnreadable)
}

// A dispute that was won, and then lost in arbitration, takes the money twice. Whichever statuses were read, the kept entries have the money
// that the dispute holds, and no entry is kept twice.
func TestADisputeInArbitration(t *testing.T) {
	t.Parallel()
	statuses := []string{"evidence_required", "won", "arbitration_under_review", "arbitration_lost", "arbitration_won"}
	for i, tt := range []struct {
		read []int
		want int64
	}{
		{[]int{0, 1, 3}, -50},
		{[]int{0, 1, 2, 3, 3}, -50},
		{[]int{0, 3}, -50},
		{[]int{3}, -50},
		{[]int{0, 2, 3}, -50},
		{[]int{0, 1, 2}, -50},
		{[]int{0, 1, 2, 4}, 0},
		{[]int{0, 4}, 0},
		{[]int{4, 4}, 0},
		{[]int{0, 1}, 0},
	} {
		kept := map[string]int64{}
		for n, status := range tt.read {
			h := http.NewServeMux()
			h.HandleFunc("POST /payments/search", func(w http.ResponseWriter, _ *http.Request) { answer{200, object{"data": []object{}}}.write(w) })
			h.HandleFunc("GET /disputes", func(w http.ResponseWriter, _ *http.Request) {
				answer{200, object{"total_count": 1, "data": []object{{
					"id": "dsp_1", "status": statuses[status], "payment_id": "pay_1", "amount": 50, "currency": "EUR",
					"received_on": at(1).Format(time.RFC3339), "last_update": at(2 + 24*n).Format(time.RFC3339),
				}}}}.write(w)
			})
			c, _ := serve(t, h)
			require.NoError(t, c.Entries(t.Context(), gateway.Span{From: day, To: at(24 * (n + 1))}, func(e gateway.Entry) error {
				if _, stored := kept[e.ID]; stored {
					return nil
				}
				kept[e.ID] = e.Movement.Money.Minor
				if e.Movement.Kind == payment.MovementChargeback {
					kept[e.ID] = -kept[e.ID]
				}
				return nil
			}))
		}
		var sum int64
		for _, minor := range kept {
			sum += minor
		}
		require.Equal(t, tt.want, sum, "%d %v", i, kept)
	}
}
