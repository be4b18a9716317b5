package yookassa_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/yookassa"
)

const precise = "2006-01-02T15:04:05.000Z"

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

// within returns the objects that pass the list's filters: the status, and a time range with an inclusive begin and an
// exclusive end.
func within(r *http.Request, field string, items []object) (left []object) {
	query := r.URL.Query()
	from, err := time.Parse(time.RFC3339, query.Get(field+".gte"))
	to, err2 := time.Parse(time.RFC3339, query.Get(field+".lt"))
	for _, o := range items {
		text, _ := o[field].(string)
		at, err3 := time.Parse(time.RFC3339, text)
		if err == nil && err2 == nil && err3 == nil && o["status"] == query.Get("status") && !at.Before(from) && at.Before(to) {
			left = append(left, o)
		}
	}
	return left
}

// booked returns a fake with five payments, three of them captured on the day, and four refunds, one of them pending.
func booked(t *testing.T) providertest.Booked {
	t.Helper()
	f, _ := newFake(t).(*fake)
	var payments, refunds []object
	var want []gateway.Entry
	for i, status := range []string{"succeeded", "canceled", "succeeded", "succeeded", "succeeded"} {
		made := &paid{
			id: "2book000-000f-5000-8000-00000000000" + strconv.Itoa(i), status: status, amount: amount{"19.99", "RUB"}, made: day.AddDate(0, 0, -6),
			metadata: map[string]string{"payment_attempt_id": "att_" + strconv.Itoa(i), "order_id": "A-1"},
		}
		f.payments = append(f.payments, made)
		shown, at := made.render(), day.Add(time.Duration(i)*time.Hour+827*time.Millisecond)
		if i == 4 {
			at = day.AddDate(0, 0, -1)
		}
		shown["captured_at"], shown["income_amount"] = at.Format(precise), amount{"19.29", "RUB"}
		if i == 3 {
			delete(shown, "income_amount")
		}
		payments = append(payments, shown)
		if status != "succeeded" || i == 4 {
			continue
		}
		e := gateway.Entry{
			ID: made.id, Payment: made.id, References: []string{made.metadata["payment_attempt_id"]}, Order: "A-1", Payee: shop, Live: new(false),
			Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: rub(1999), At: at},
		}
		if i != 3 {
			fee, net := rub(70), rub(1929)
			e.Fee, e.Net = &fee, &net
		}
		want = append(want, e)
	}
	for i, status := range []string{"succeeded", "pending", "succeeded", "succeeded"} {
		made := &refund{id: "2refund0-0016-50be-b000-00000000000" + strconv.Itoa(i), payment: f.payments[0].id, status: status, amount: amount{"1.00", "RUB"}}
		at := day.Add(time.Duration(10+i) * time.Hour)
		made.metadata = map[string]string{"payment_attempt_id": "att_0", "refund_id": "r1"}
		shown := made.render()
		shown["created_at"] = at.Format(precise)
		refunds = append(refunds, shown)
		if status == "succeeded" {
			want = append(want, gateway.Entry{
				ID: made.id, Payment: made.payment, References: []string{"att_0"},
				Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: made.id, Money: rub(100), At: at},
			})
		}
	}
	h := http.NewServeMux()
	h.Handle("/", f)
	h.HandleFunc("GET /v3/payments", f.question(func(r *http.Request) (int, object) {
		return paged(within(r, "captured_at", payments), r.URL.Query().Get("cursor"))
	}))
	h.HandleFunc("GET /v3/refunds", f.question(func(r *http.Request) (int, object) {
		return paged(within(r, "created_at", refunds), r.URL.Query().Get("cursor"))
	}))
	return providertest.Booked{
		Fake: h, Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, Entries: want,
		Webhooks: reported(t, want),
	}
}

// reported returns the webhooks of entries.
func reported(t *testing.T, entries []gateway.Entry) (all []webhooks.Event) {
	t.Helper()
	for _, e := range entries {
		object := `"id":"` + e.ID + `","status":"succeeded","amount":{"value":"1.00","currency":"RUB"}}}`
		if e.Movement.Kind == payment.MovementRefund {
			all = append(all, notice(t, `{"type":"notification","event":"refund.succeeded","object":{"payment_id":"`+e.Payment+`",`+object)...)
			continue
		}
		all = append(all, notice(t, `{"type":"notification","event":"payment.succeeded","object":{`+object)...)
	}
	return all
}

func notice(t *testing.T, body string) []webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{})
	require.NoError(t, err)
	return v.Read(webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body), ReceivedAt: time.Now()})
}

func books(t *testing.T, fake func(*testing.T, http.Handler) http.Handler) {
	t.Helper()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books {
			return yookassa.New(base, shop, secret, c)
		},
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			b := booked(t)
			b.Fake = fake(t, b.Fake)
			return b
		},
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return yookassa.New(base, shop, secret, c)
		},
	})
}

func TestBooks(t *testing.T) {
	t.Parallel()
	books(t, func(_ *testing.T, h http.Handler) http.Handler { return h })
}

func TestBooksFitYooKassasDescription(t *testing.T) {
	t.Parallel()
	providertest.NeedDescribed(t, "yookassa-v3.json")
	books(t, func(t *testing.T, h http.Handler) http.Handler {
		t.Helper()
		return providertest.Described(t, "yookassa-v3.json", "/v3", h)
	})
}

// elsewhen returns the entries of a day from lists that ignore YooKassa's filters.
func elsewhen(t *testing.T, in gateway.Span, moments ...time.Time) (ids []string, err error) {
	t.Helper()
	payments, refunds := []object{}, []object{}
	for i, at := range moments {
		id := strconv.Itoa(i)
		money := amount{"19.99", "RUB"}
		payments = append(payments, object{"id": "p" + id, "status": "succeeded", "amount": money, "captured_at": at.Format(time.RFC3339Nano)})
		refunds = append(refunds, object{"id": "r" + id, "payment_id": "p" + id, "status": "succeeded", "amount": money, "created_at": at.Format(time.RFC3339Nano)})
	}
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := payments
		if r.URL.Path == "/v3/refunds" {
			items = refunds
		}
		_ = json.NewEncoder(w).Encode(object{"type": "list", "items": items})
	}))
	err = c.Entries(t.Context(), in, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	return ids, err
}

// The filters have millisecond precision and are slightly wider than the span. Their results are checked against the
// span itself.
func TestBooksHaveTheSpanAlone(t *testing.T) {
	t.Parallel()
	in := gateway.Span{From: day.Add(500 * time.Microsecond), To: day.Add(time.Hour + 500*time.Microsecond)}
	ids, err := elsewhen(t, in, in.From.Add(-1), in.From, in.To.Add(-1), in.To, day.AddDate(0, 0, -1), day.AddDate(0, 0, 1))
	require.NoError(t, err)
	require.Equal(t, []string{"p1", "p2", "r1", "r2"}, ids)
	ids, err = elsewhen(t, in, in.From, time.Time{})
	require.ErrorIs(t, err, gateway.ErrUnreadable, "without a date it may be of the span")
	require.Equal(t, []string{"p0", "r0"}, ids)
}
