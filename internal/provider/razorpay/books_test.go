package razorpay_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/webhooks"
)

// began is the beginning of the fixture's day in UTC.
var began = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func at(second int) int { return int(began.Unix()) + second }

// books are the fake's lists: payments and refunds, the newest last, and settlements by day.
type books struct {
	payments, refunds, settlements []object
	settled                        map[string][]object
	disputes                       map[string]string
}

// booksPage is smaller than the requested page size, so that every list has several pages.
const booksPage = 2

func keeping(t *testing.T, b *books) *fake {
	t.Helper()
	f := newFake(t)
	lists := http.NewServeMux()
	lists.HandleFunc("GET /v1/payments", f.call(func(r *http.Request, _ request) (int, object) { return listed(r, b.payments) }))
	lists.HandleFunc("GET /v1/refunds", f.call(func(r *http.Request, _ request) (int, object) { return listed(r, b.refunds) }))
	lists.HandleFunc("GET /v1/settlements", f.call(func(r *http.Request, _ request) (int, object) { return listed(r, b.settlements) }))
	lists.HandleFunc("GET /v1/payments/{id}", f.call(func(r *http.Request, _ request) (int, object) {
		for _, p := range b.payments {
			if p["id"] == r.PathValue("id") {
				return http.StatusOK, p
			}
		}
		return missing()
	}))
	lists.HandleFunc("GET /v1/settlements/recon/combined", f.call(func(r *http.Request, _ request) (int, object) {
		q := r.URL.Query()
		return listed(r, b.settled[q.Get("year")+"-"+q.Get("month")+"-"+q.Get("day")])
	}))
	lists.HandleFunc("GET /v1/disputes/{id}", f.call(func(r *http.Request, _ request) (int, object) {
		id := r.PathValue("id")
		return http.StatusOK, object{"id": id, "entity": "dispute", "payment_id": b.disputes[id]}
	}))
	f.ServeMux = lists
	return f
}

func listed(r *http.Request, all []object) (int, object) {
	q := r.URL.Query()
	count, _ := strconv.Atoi(q.Get("count"))
	skip, err := strconv.Atoi(cmp.Or(q.Get("skip"), "0"))
	if err != nil || count < 1 || count > 100 {
		return refuse("The count may not be greater than 100.")
	}
	from, to := 0, 1<<40
	if q.Has("from") {
		from, _ = strconv.Atoi(q.Get("from"))
		to, _ = strconv.Atoi(q.Get("to"))
	}
	items := []object{}
	for _, one := range all {
		if at, _ := one["created_at"].(int); at >= from && at <= to {
			items = append(items, one)
		}
	}
	items = items[min(skip, len(items)):min(skip+min(count, booksPage), len(items))]
	return http.StatusOK, object{"entity": "collection", "count": len(items), "items": items}
}

func paid(id, status string, amount, second int, more object) object {
	p := object{
		"id": id, "entity": "payment", "amount": amount, "currency": "INR", "status": status, "captured": status == "captured" || status == "refunded",
		"order_id": "order_" + id, "fee": 236, "tax": 36, "notes": object{"payment_attempt_id": "att-" + id, "order_id": "A-" + id}, "created_at": at(second),
	}
	maps.Copy(p, more)
	return p
}

func paidBack(id, of, status string, second int) object {
	return object{
		"id": id, "entity": "refund", "amount": 50000, "currency": "INR", "payment_id": of, "notes": []any{}, "receipt": nil, "created_at": at(second), "status": status,
	}
}

func entry(id, of string, kind payment.MovementKind, movement string, amount int64, second int) gateway.Entry {
	return gateway.Entry{
		ID: id, Payment: of, References: []string{"att-" + of, "order_" + of}, Order: payment.OrderID("A-" + of),
		Movement: payment.MovementReport{Kind: kind, ID: movement, Money: rupees(amount), At: began.Add(time.Duration(second) * time.Second)},
	}
}

func taken(id string, amount int64, second int) gateway.Entry {
	e := entry(id, id, payment.MovementCapture, "", amount, second)
	e.Fee, e.Net = new(rupees(236)), new(rupees(amount-236))
	return e
}

func sold() *books {
	return &books{
		payments: []object{
			paid("pay_1", "captured", 199900, 0, nil), paid("pay_2", "refunded", 50000, 1, nil), paid("pay_3", "failed", 1, 2, nil),
			paid("pay_4", "captured", 300, 3, nil), paid("pay_5", "authorized", 5, 4, nil), paid("pay_6", "refunded", 5, 4, object{"captured": false}),
		},
		refunds: []object{
			paidBack("rfnd_1", "pay_2", "processed", 5), paidBack("rfnd_2", "pay_1", "pending", 6), paidBack("rfnd_3", "pay_1", "failed", 7),
			paidBack("rfnd_4", "pay_6", "processed", 8), paidBack("rfnd_5", "pay_1", "processed", 9),
		},
	}
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books {
			return razorpay.New(base, keyID, secret, c)
		},
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return razorpay.New(base, keyID, secret, c)
		},
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			b := sold()
			return providertest.Booked{
				Fake: keeping(t, b), Span: gateway.Span{From: began, To: began.Add(time.Hour)},
				Entries: []gateway.Entry{
					taken("pay_1", 199900, 0), taken("pay_2", 50000, 1), taken("pay_4", 300, 3),
					entry("rfnd_1", "pay_2", payment.MovementRefund, "rfnd_1", 50000, 5),
					entry("rfnd_5", "pay_1", payment.MovementRefund, "rfnd_5", 50000, 9),
				},
				Webhooks: []webhooks.Event{
					webhook(t, "payment.captured", "payment", text(t, b.payments[0])),
					webhook(t, "refund.processed", "refund", text(t, b.refunds[0])), webhook(t, "refund.processed", "refund", text(t, b.refunds[4])),
				},
			}
		},
	})
}

func text(t *testing.T, of object) string {
	t.Helper()
	raw, err := json.Marshal(of)
	require.NoError(t, err)
	return string(raw)
}

// read returns the entries of a span, and the error after them.
func read(t *testing.T, b *books, span gateway.Span) (all []gateway.Entry, err error) {
	t.Helper()
	c, _ := serve(t, keeping(t, b))
	err = c.Entries(t.Context(), span, func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

func settledItem(id, kind string, settledAt int, more object) object {
	s := object{
		"entity_id": id, "type": kind, "debit": 0, "credit": 0, "amount": 100000, "currency": "INR", "fee": 0, "tax": 0, "on_hold": false, "settled": true,
		"created_at": at(0), "settled_at": at(settledAt), "settlement_id": "setl_1", "notes": "Beam me up Scotty.", "payment_id": nil, "order_id": nil, "dispute_id": nil,
	}
	maps.Copy(s, more)
	return s
}

// A settled item is passed with its payout, even if it is old. A lost dispute's entry has its payment, even if the
// settlement does not name it. Transfers and other adjustments are entries of the account.
func TestASettlementHasItsEntries(t *testing.T) {
	t.Parallel()
	const hour = 3600
	b := &books{
		settled: map[string][]object{
			"2026-03-16": {
				settledItem("pay_1", "payment", 48*hour, object{"credit": 97100, "fee": 2900, "order_id": "order_1", "notes": object{"payment_attempt_id": "att-1"}}),
				settledItem("rfnd_1", "refund", 48*hour, object{"debit": 100000, "payment_id": "pay_1"}),
				settledItem("trf_1", "transfer", 48*hour, object{"debit": 100000, "payment_id": "pay_1"}),
				settledItem("adj_1", "adjustment", 48*hour, object{"debit": 100000, "dispute_id": "disp_1"}),
				settledItem("adj_2", "adjustment", 48*hour, object{"credit": 100000, "dispute_id": "disp_2", "payment_id": "pay_2"}),
				settledItem("adj_3", "adjustment", 48*hour, object{"credit": 1012}),
				settledItem("new_1", "moon_landing", 48*hour, object{"credit": 5}),
			},
			"2026-03-17": {settledItem("pay_2", "payment", 71*hour, object{"credit": 100000}), settledItem("pay_3", "payment", 72*hour, object{"credit": 100000})},
		},
		disputes: map[string]string{"disp_1": "pay_1"},
	}
	got, err := read(t, b, gateway.Span{From: began.AddDate(0, 0, 2), To: began.AddDate(0, 0, 3)})
	require.NoError(t, err)
	settled := func(id, of string, kind payment.MovementKind, movement string, net int64) gateway.Entry {
		return gateway.Entry{
			ID: id, Payment: of, Movement: payment.MovementReport{Kind: kind, ID: movement, Money: rupees(100000), At: began},
			Fee: new(rupees(0)), Net: new(rupees(net)), Payout: "setl_1",
		}
	}
	disputed := func(id, of string, kind payment.MovementKind, dispute string, net int64) gateway.Entry {
		e := settled(id, of, kind, "", net)
		e.Movement.Dispute = dispute
		return e
	}
	ofAccount := func(id string, kind payment.EntryKind, net int64) gateway.Entry {
		return gateway.Entry{ID: id, Own: kind, Net: new(rupees(net)), Payout: "setl_1", Movement: payment.MovementReport{At: began}}
	}
	first := settled("pay_1", "pay_1", payment.MovementCapture, "", 97100)
	first.Fee, first.References = new(rupees(2900)), []string{"att-1", "order_1"}
	require.Equal(t, []gateway.Entry{
		first,
		settled("rfnd_1", "pay_1", payment.MovementRefund, "rfnd_1", -100000),
		ofAccount("trf_1", payment.EntryTransfer, -100000),
		disputed("adj_1", "pay_1", payment.MovementChargeback, "disp_1", -100000),
		disputed("adj_2", "pay_2", payment.MovementChargebackReversal, "disp_2", 100000),
		ofAccount("adj_3", payment.EntryAdjustment, 1012),
		settled("pay_2", "pay_2", payment.MovementCapture, "", 100000),
	}, got)
}

// The entry of a settled dispute has the same name as the movement in the dispute's webhook.
func TestALostDisputeIsNamedAsItsWebhook(t *testing.T) {
	t.Parallel()
	item := settledItem("adj_1", "adjustment", 60, object{"debit": 39000, "amount": 39000, "dispute_id": "disp_1", "payment_id": "pay_1"})
	got, err := read(t, &books{settled: map[string][]object{"2026-03-14": {item}}}, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.NoError(t, err)
	told := webhook(t, "payment.dispute.lost", "dispute", `{"id":"disp_1","payment_id":"pay_1","amount":39000,"amount_deducted":39000,"currency":"INR"}`)
	require.Len(t, got, 1)
	require.Equal(t, webhooks.KindChargeback, told.Kind)
	require.Equal(t, told.MovementID, got[0].Movement.Dispute)
	require.Equal(t, told.ProviderPaymentID, got[0].Payment)
	require.Equal(t, told.Money.Minor, got[0].Movement.Money.Minor)
}

func TestFeesAreInTheCurrencyOfTheBalance(t *testing.T) {
	t.Parallel()
	b := &books{payments: []object{
		paid("pay_1", "captured", 1000, 0, object{"currency": "USD", "base_amount": 83000, "base_currency": "INR"}),
		paid("pay_2", "captured", 1000, 1, object{"currency": "USD"}),
		paid("pay_3", "captured", 1000, 2, object{"currency": "JPY", "fee": nil}),
	}}
	got, err := read(t, b, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, payment.Money{Minor: 1000, Currency: "USD"}, got[0].Movement.Money)
	require.Equal(t, []*payment.Money{new(rupees(236)), new(rupees(83000 - 236))}, []*payment.Money{got[0].Fee, got[0].Net})
	require.Equal(t, []*payment.Money{nil, nil, nil, nil}, []*payment.Money{got[1].Fee, got[1].Net, got[2].Fee, got[2].Net})
	require.Equal(t, payment.Money{Minor: 1000, Currency: "JPY"}, got[2].Movement.Money)
}

func TestAnUnreadableItemHidesNoOther(t *testing.T) {
	t.Parallel()
	b := sold()
	b.payments[0]["amount"] = 5.5
	b.refunds[0]["payment_id"] = nil
	b.settled = map[string][]object{"2026-03-14": {settledItem("pay_9", "payment", 60, object{"currency": ""})}}
	got, err := read(t, b, gateway.Span{From: began, To: began.Add(time.Hour)})
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "3 items")
	require.Len(t, got, 3)
}
