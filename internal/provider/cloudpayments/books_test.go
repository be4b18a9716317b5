package cloudpayments_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

const local = "2006-01-02T15:04:05"

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func rubles(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "RUB"} }

// listed returns a transaction as a list shows it.
func listed(t transaction, kind int, made, confirmed time.Time, more object) object {
	o := t.render()
	o["Type"], o["CreatedDateIso"], o["PaymentCurrency"] = kind, made.Format(local), "RUB"
	if !confirmed.IsZero() {
		o["ConfirmDateIso"] = confirmed.Format(local)
	}
	maps.Copy(o, more)
	return o
}

// booked returns a fake with a list of seven transactions. The day has two payments, one of them held before, and two
// refunds. A payout and a hold have no entries.
func booked(t *testing.T) providertest.Booked {
	t.Helper()
	data := json.RawMessage(`{"payment_attempt_id":"att_1","order_id":"A-1","refund_id":"r1"}`)
	at := func(hour int) time.Time { return day.Add(time.Duration(hour) * time.Hour) }
	all := []object{
		listed(transaction{id: 11, currency: "RUB", amount: 1999, status: "Completed", data: data}, 0, at(1), at(1), object{"TotalFee": 0.7, "PayoutAmount": 19.29}),
		listed(transaction{id: 12, currency: "RUB", amount: 700, status: "Completed", invoice: "inv-12"}, 0, at(-24*7), at(2), object{"TotalFee": 0}),
		listed(transaction{id: 13, currency: "RUB", amount: 700, status: "Completed"}, 0, at(-24*7), at(-24), nil),
		listed(transaction{id: 14, currency: "RUB", amount: 700, status: "Authorized"}, 0, at(3), time.Time{}, nil),
		listed(transaction{id: 15, currency: "RUB", amount: 100, status: "Completed", original: 11, data: data}, 1, at(4), time.Time{}, object{"PayoutAmount": -1}),
		listed(transaction{id: 16, currency: "RUB", amount: 100, status: "Completed"}, 2, at(5), at(5), nil),
		listed(transaction{id: 17, currency: "RUB", amount: 200, status: "Completed", original: 12, invoice: "inv-12"}, 1, at(6), time.Time{}, nil),
	}
	h := http.NewServeMux()
	h.HandleFunc("POST /v2/payments/list", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			From       string   `json:"CreatedDateGte"`
			To         string   `json:"CreatedDateLte"`
			TimeZone   string   `json:"TimeZone"`
			PageNumber int      `json:"PageNumber"`
			Statuses   []string `json:"Statuses"`
		}
		user, password, _ := r.BasicAuth()
		if json.NewDecoder(r.Body).Decode(&in) != nil || user != publicID || password != secret || in.TimeZone != "UTC" || len(in.Statuses) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		found := []object{}
		for _, o := range all {
			if made := o["CreatedDateIso"].(string) + "Z"; o["Status"] == in.Statuses[0] && made >= in.From && made <= in.To {
				found = append(found, o)
			}
		}
		from := min(2*(in.PageNumber-1), len(found))
		_ = json.NewEncoder(w).Encode(done(found[from:min(from+2, len(found))]))
	})
	return providertest.Booked{
		Fake: h, Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)},
		Entries: []gateway.Entry{
			{
				ID: "11", Payment: "11", Payee: publicID, Live: new(false), References: []string{"att_1"}, Order: "A-1", Fee: rubles(70), Net: rubles(1929),
				Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *rubles(1999), At: at(1)},
			},
			{ID: "12", Payment: "12", Payee: publicID, Live: new(false), References: []string{"inv-12"}, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: *rubles(700), At: at(2)}},
			{ID: "15", Payment: "11", Payee: publicID, Live: new(false), References: []string{"att_1"}, Order: "A-1", Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "15", Money: *rubles(100), At: at(4)}},
			{ID: "17", Payment: "12", Payee: publicID, Live: new(false), References: []string{"inv-12"}, Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: "17", Money: *rubles(200), At: at(6)}},
		},
		Webhooks: append(append(append(
			notice(t, "pay", `{"TransactionId":"11","Amount":"19.99","Currency":"RUB","Status":"Completed"}`),
			notice(t, "confirm", `{"TransactionId":"12","Amount":"7.00","Currency":"RUB","InvoiceId":"inv-12"}`)...),
			notice(t, "refund", `{"TransactionId":"15","PaymentTransactionId":"11","Amount":"1.00"}`)...),
			notice(t, "refund", `{"TransactionId":"17","PaymentTransactionId":"12","Amount":"2.00","InvoiceId":"inv-12"}`)...),
	}
}

func notice(t *testing.T, topic, body string) []webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}, Params: map[string]string{"currency": "RUB"}})
	require.NoError(t, err)
	return v.Read(webhooks.Delivery{Method: http.MethodPost, Topic: topic, Header: http.Header{}, Body: []byte(body), ReceivedAt: time.Now()})
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books {
			return cloudpayments.New(base, publicID, secret, c)
		},
		Booked: booked,
	})
}

// An unreadable transaction of the day is an error and not a missing entry, and hides no other transaction.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{
		`{}`, `null`, `{"Status":5}`,
		`{"Status":"Completed","Type":0,"Amount":1,"Currency":"RUB","CreatedDateIso":"2026-03-14T01:00:00"}`,
		`{"Status":"Completed","Type":1,"TransactionId":1,"OriginalTransactionId":0,"Amount":1,"Currency":"RUB","CreatedDateIso":"2026-03-14T01:00:00"}`,
		`{"Status":"Completed","Type":0,"TransactionId":1,"Amount":1.001,"Currency":"RUB","CreatedDateIso":"2026-03-14T01:00:00"}`,
		`{"Status":"Completed","Type":0,"TransactionId":1,"Amount":1,"Currency":"RUB"}`,
	} {
		ids, err := listing(t, `[`+odd+`,{"Status":"Completed","Type":0,"TransactionId":2,"Amount":1,"Currency":"RUB","CreatedDateIso":"2026-03-14T01:00:00"}]`)
		require.ErrorIs(t, err, gateway.ErrUnreadable, odd)
		require.Equal(t, []string{"2"}, ids, odd)
	}
	ids, err := listing(t, `[{"Status":"Completed","Type":0,"TransactionId":1,"Amount":1.001,"Currency":"RUB","CreatedDateIso":"2026-03-13T01:00:00"}]`)
	require.NoError(t, err, "it is of another day")
	require.Empty(t, ids)
	_, err = listing(t, `{}`)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrUnreadable, "it is no list")
}

// listing returns the ids of the entries on a list's only page, and the error after them.
func listing(t *testing.T, model string) (ids []string, err error) {
	t.Helper()
	pages := []string{model, `[]`}
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Success":true,"Model":`+pages[0]+`}`)
		pages = pages[1:]
	}))
	err = c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	return ids, err
}
