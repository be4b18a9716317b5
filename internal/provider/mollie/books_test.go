package mollie_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
)

const stamp = "2006-01-02T15:04:05Z07:00"

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

// list serves a page of a list, newest first. The next page begins at the id in its link.
func list(w http.ResponseWriter, r *http.Request, name string, items []object) {
	from := max(0, slices.IndexFunc(items, func(o object) bool { return o["id"] == r.URL.Query().Get("from") }))
	to := min(from+pageSize, len(items))
	links := object{"self": href("https://api.mollie.com"), "documentation": href("https://docs.mollie.com"), "next": nil, "previous": nil}
	if to < len(items) {
		links["next"] = href("https://elsewhere.example/v2/" + name + "?from=" + items[to]["id"].(string) + "&limit=2")
	}
	write(w, http.StatusOK, object{"count": to - from, "_embedded": object{name: items[from:to]}, "_links": links})
}

// booked returns a fake with five payments, two of them paid on the day, four refunds, one of them pending and one failed, and
// two chargebacks, one of them reversed.
func booked(t *testing.T) providertest.Booked {
	t.Helper()
	f := newFake(t)
	var payments []object
	for i, p := range []struct {
		status        string
		made, paid    time.Duration
		captured, sum int
	}{
		{status: "open", made: 3 * time.Hour},
		{status: "paid", made: time.Hour, paid: 2 * time.Hour, sum: 1999},
		{status: "failed", made: time.Hour},
		{status: "paid", made: -90 * 24 * time.Hour, paid: 5 * time.Hour, captured: 1500, sum: 1999},
		{status: "paid", made: -95 * 24 * time.Hour, paid: -94 * 24 * time.Hour, sum: 700},
	} {
		made := &paid{
			id: "tr_book" + strconv.Itoa(i), status: p.status, amount: euros(p.sum), captured: p.captured, sequence: "oneoff",
			metadata: []byte(`{"payment_attempt_id":"att_` + strconv.Itoa(i) + `","order_id":"A-1"}`),
		}
		f.payments[made.id] = made
		shown := made.render(false)
		shown["createdAt"] = day.Add(p.made).Format(stamp)
		if p.paid != 0 {
			shown["paidAt"], shown["settlementId"] = day.Add(p.paid).Format(stamp), "stl_jDk30akdN"
		}
		payments = append(payments, shown)
	}
	var refunds []object
	for i, status := range []string{"refunded", "pending", "refunded", "failed"} {
		made := &refund{id: "re_book" + strconv.Itoa(i), payment: "tr_book1", status: status, amount: euros(100 + i), metadata: []byte(`{"payment_attempt_id":"att_1","refund_id":"r1"}`)}
		shown := made.render()
		shown["createdAt"] = day.Add(time.Duration(9-i) * time.Hour).Format(stamp)
		refunds = append(refunds, shown)
	}
	chargebacks := []object{
		{"resource": "chargeback", "id": "chb_book0", "amount": euros(1999), "paymentId": "tr_book1", "createdAt": day.Add(12 * time.Hour).Format(stamp), "reversedAt": nil, "settlementId": "stl_2"},
		{"resource": "chargeback", "id": "chb_book1", "amount": euros(1500), "paymentId": "tr_book3", "createdAt": day.Add(-40 * 24 * time.Hour).Format(stamp), "reversedAt": day.Add(13 * time.Hour).Format(stamp)},
		{"resource": "chargeback", "id": "chb_book2", "amount": euros(700), "paymentId": "tr_book4", "createdAt": day.Add(-50 * 24 * time.Hour).Format(stamp)},
	}
	for _, one := range chargebacks {
		of := "https://api.mollie.com/v2/payments/" + one["paymentId"].(string)
		one["_links"] = object{"self": href(of + "/chargebacks/" + one["id"].(string)), "payment": href(of)}
	}
	for name, items := range map[string][]object{"payments": payments, "refunds": refunds, "chargebacks": chargebacks} {
		f.HandleFunc("GET /v2/"+name, func(w http.ResponseWriter, r *http.Request) { list(w, r, name, items) })
	}
	eur := func(cents int64) payment.Money { return payment.Money{Minor: cents, Currency: "EUR"} }
	return providertest.Booked{
		Fake: f, Span: gateway.Span{From: day, To: day.Add(24 * time.Hour)},
		Entries: []gateway.Entry{
			{
				ID: "tr_book1", Payment: "tr_book1", References: []string{"att_1"}, Order: "A-1", Payout: "stl_jDk30akdN", Payee: "pfl_2A1gacu42V", Live: new(false),
				Grows: true, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: eur(1999), At: day.Add(2 * time.Hour)},
			},
			{
				ID: "tr_book3", Payment: "tr_book3", References: []string{"att_3"}, Order: "A-1", Payout: "stl_jDk30akdN", Payee: "pfl_2A1gacu42V", Live: new(false),
				Grows: true, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: eur(1500), At: day.Add(5 * time.Hour)},
			},
			{
				ID: "re_book0", Payment: "tr_book1", References: []string{"att_1"},
				Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "re_book0", Money: eur(100), At: day.Add(9 * time.Hour)},
			},
			{
				ID: "re_book2", Payment: "tr_book1", References: []string{"att_1"},
				Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "re_book2", Money: eur(102), At: day.Add(7 * time.Hour)},
			},
			{
				ID: "re_book3/reversal", Undoes: "re_book3", Payment: "tr_book1", References: []string{"att_1"},
				Movement: payment.MovementReport{Kind: payment.MovementRefundReversal, ID: "re_book3", Money: eur(103)},
			},
			{
				ID: "chb_book0", Payment: "tr_book1", Payout: "stl_2",
				Movement: payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "chb_book0", Money: eur(1999), At: day.Add(12 * time.Hour)},
			},
			{
				ID: "chb_book1/reversal", Payment: "tr_book3",
				Movement: payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: "chb_book1", Whole: true, Money: eur(1500), At: day.Add(13 * time.Hour)},
			},
		},
		Webhooks: []webhooks.Event{
			event(t, "payment.paid", "tr_book1", `{"amount":{"value":"19.99","currency":"EUR"}}`),
			event(t, "refund.refunded", "re_book0", `{"paymentId":"tr_book1","amount":{"value":"1.00","currency":"EUR"}}`),
			event(t, "refund.refunded", "re_book2", `{"paymentId":"tr_book1","amount":{"value":"1.02","currency":"EUR"}}`),
			event(t, "chargeback.received", "chb_book0", `{"paymentId":"tr_book1","amount":{"value":"19.99","currency":"EUR"}}`),
			event(t, "chargeback.reversed", "chb_book1", `{"paymentId":"tr_book3","amount":{"value":"15.00","currency":"EUR"}}`),
		},
	}
}

func books(t *testing.T, fake func(*testing.T, providertest.Booked) providertest.Booked) {
	t.Helper()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books { return mollie.New(base, key, hook, c) },
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			return fake(t, booked(t))
		},
		Listed: func(e gateway.Entry) time.Time {
			if e.ID == "re_book3/reversal" {
				return day.Add(6 * time.Hour) // when the refund was made; Mollie does not date its failure
			}
			return e.Movement.At
		},
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return mollie.New(base, key, hook, c)
		},
	})
}

func TestBooks(t *testing.T) {
	t.Parallel()
	books(t, func(_ *testing.T, b providertest.Booked) providertest.Booked { return b })
}

// The lists are checked against Mollie's description, except the list of chargebacks, which the description lacks.
func TestBooksFitMolliesDescription(t *testing.T) {
	t.Parallel()
	providertest.NeedDescribed(t, "mollie-payments.json")
	books(t, func(t *testing.T, b providertest.Booked) providertest.Booked {
		t.Helper()
		plain := b.Fake
		checked := providertest.Described(t, "mollie-payments.json", "", plain)
		b.Fake = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v2/chargebacks") {
				plain.ServeHTTP(w, r)
				return
			}
			checked.ServeHTTP(w, r)
		})
		return b
	})
}

// A list is read back only as far as its items may be in the span.
func TestBooksStopAtWhatIsOlder(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, booked(t).Fake)
	far := gateway.Span{From: day.AddDate(2, 0, 0), To: day.AddDate(2, 0, 1)}
	require.NoError(t, c.Entries(t.Context(), far, func(e gateway.Entry) error {
		t.Errorf("%+v", e)
		return nil
	}))
	require.Len(t, seen, 3, "the first page of each list")
}

// An unreadable item that may belong to the span is an error, and does not end the list.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	good := object{"resource": "payment", "id": "tr_1", "status": "paid", "amount": euros(1999), "createdAt": day.Format(stamp)}
	for name, tt := range map[string]struct {
		odd    object
		unread bool
	}{
		"no_date":        {object{"resource": "payment", "id": "tr_0", "status": "paid", "amount": euros(1999)}, true},
		"no_amount":      {object{"resource": "payment", "id": "tr_0", "status": "paid", "createdAt": day.Format(stamp)}, true},
		"of_another_day": {object{"resource": "payment", "id": "tr_0", "status": "paid", "createdAt": day.AddDate(0, 0, -1).Format(stamp)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				items := map[string][]object{"payments": {tt.odd, good}, "refunds": {}, "chargebacks": {}}
				name := strings.TrimPrefix(r.URL.Path, "/v2/")
				list(w, r, name, items[name])
			}))
			var ids []string
			err := c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
				ids = append(ids, e.ID)
				return nil
			})
			require.Equal(t, []string{"tr_1"}, ids)
			require.Equal(t, tt.unread, errors.Is(err, gateway.ErrUnreadable), "%v", err)
			require.True(t, tt.unread || err == nil, "%v", err)
		})
	}
}
