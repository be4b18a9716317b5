package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/webhooks"
	squarehooks "github.com/paylatch/paylatch/webhooks/square"
	stripehooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// channel is a provider with a payment of 19.99 €. One refund in its dashboard returned 5.00 €, another refund of 3.00 €
// failed. A dispute has taken the whole payment and returned it. In texts ~ is the payment's number.
type channel struct {
	name   string
	client func(s *httptest.Server) adapter
	reader webhooks.Reader
	// answers are the provider's, by the request's line, hooks the bodies of its webhooks.
	answers map[string]string
	hooks   []string
}

type adapter interface {
	gateway.Provider
	gateway.Books
}

func channels(t *testing.T) []channel {
	t.Helper()
	st, err := stripehooks.New(webhooks.Config{Secrets: []string{"whsec_1"}})
	require.NoError(t, err)
	sq, err := squarehooks.New(webhooks.Config{Secrets: []string{"key"}, PublicURL: "https://shop.example/webhooks"})
	require.NoError(t, err)
	return []channel{stripeChannel(st), squareChannel(sq)}
}

func stripeChannel(reader webhooks.Reader) channel {
	const (
		paid   = `{"object":"payment_intent","id":"pi_~","status":"succeeded","amount":1999,"amount_received":1999,"currency":"eur","latest_charge":CHARGE}`
		back   = `{"object":"refund","id":"re_a~","payment_intent":"pi_~","charge":"ch_~","amount":500,"currency":"eur","status":"succeeded"}`
		failed = `{"object":"refund","id":"re_b~","payment_intent":"pi_~","charge":"ch_~","amount":300,"currency":"eur","status":"failed"}`
		moved  = `[{"object":"balance_transaction","id":"txn_3~","amount":-1999,"created":1773446406},{"object":"balance_transaction","id":"txn_4~","amount":1999,"created":1773446407}]`
		argued = `{"object":"dispute","id":"dp_~","payment_intent":"pi_~","charge":"ch_~","amount":1999,"currency":"eur","status":"won","reason":"fraudulent","balance_transactions":` + moved + `}`
		charge = `{"object":"charge","id":"ch_~","payment_intent":"pi_~","status":"succeeded","amount":1999,"amount_captured":1999,"captured":true,"currency":"eur","disputed":true,` +
			`"refunds":{"object":"list","data":[` + failed + `,` + back + `],"has_more":false}}`
	)
	booked := func(id int, kind string, amount int, source string) string { // an entry has one date, wherever it is read
		return fmt.Sprintf(`{"object":"balance_transaction","id":"txn_%d~","type":"%s","created":%d,"amount":%d,"net":%d,"fee":0,"currency":"eur","source":%s}`,
			id, kind, 1773446403+id, amount, amount, source)
	}
	event := func(id, kind, of string) string {
		return `{"object":"event","id":"evt_` + id + `~","type":"` + kind + `","created":1773446400,"api_version":"2025-03-31.basil","data":{"object":` + of + `}}`
	}
	total := func(refunded string) string {
		return `{"object":"charge","id":"ch_~","payment_intent":"pi_~","amount":1999,"amount_captured":1999,"captured":true,"currency":"eur","amount_refunded":` + refunded + `}`
	}
	return channel{
		name: "stripe", reader: reader,
		client: func(s *httptest.Server) adapter { return stripe.New(s.URL, "sk_test_1", s.Client()) },
		answers: map[string]string{
			"POST /v1/payment_intents":     strings.ReplaceAll(paid, "CHARGE", `"ch_~"`),
			"GET /v1/payment_intents/pi_~": strings.ReplaceAll(paid, "CHARGE", charge),
			"GET /v1/disputes":             `{"object":"list","data":[` + argued + `],"has_more":false}`,
			"GET /v1/payouts":              `{"object":"list","data":[],"has_more":false}`,
			"GET /v1/balance_transactions": `{"object":"list","has_more":false,"data":[` + strings.Join([]string{
				booked(1, "charge", 1999, charge), booked(2, "refund", -500, back), booked(3, "adjustment", -1999, argued), booked(4, "adjustment", 1999, argued),
			}, ",") + `]}`,
		},
		hooks: []string{
			event("1", "charge.refunded", total("800")), event("2", "charge.refunded", total("500")), event("3", "refund.updated", back),
			event("4", "refund.failed", failed), event("5", "charge.dispute.funds_withdrawn", argued), event("6", "charge.dispute.funds_reinstated", argued),
		},
	}
}

func squareChannel(reader webhooks.Reader) channel {
	const (
		dates  = `"created_at":"2026-03-14T00:00:00.000Z","updated_at":"2026-03-14T00:00:01.000Z"`
		euros  = `,"currency":"EUR"}`
		paid   = `{"id":"sq-~","status":"COMPLETED","order_id":"o-~","amount_money":{"amount":1999` + euros + `,"total_money":{"amount":1999` + euros + `,"refund_ids":["ra-~","rb-~"],` + dates + `}`
		back   = `{"id":"ra-~","payment_id":"sq-~","order_id":"o-~","status":"COMPLETED","reason":"by hand","amount_money":{"amount":500` + euros + `,` + dates + `}`
		failed = `{"id":"rb-~","payment_id":"sq-~","order_id":"o-~","status":"FAILED","reason":"by hand","amount_money":{"amount":300` + euros + `,` + dates + `}`
	)
	argued := func(state string) string {
		return `{"id":"d-~","state":"` + state + `","amount_money":{"amount":1999` + euros + `,"disputed_payment":{"payment_id":"sq-~"},"reason":"NOT_AS_DESCRIBED",` + dates + `}`
	}
	event := func(id, kind, name, of string) string {
		return `{"event_id":"evt-` + id + `~","type":"` + kind + `","created_at":"2026-03-14T00:00:00Z","data":{"type":"` + name + `","object":{"` + name + `":` + of + `}}}`
	}
	settled := func(id, kind, gross, details string) string {
		return `{"id":"` + id + `~","payout_id":"po-~","type":"` + kind + `","effective_at":"2026-03-14T00:00:00Z","gross_amount_money":{"amount":` + gross + euros +
			`,"fee_amount_money":{"amount":0` + euros + `,"net_amount_money":{"amount":` + gross + euros + `,` + details + `}`
	}
	const disputed = `"type_dispute_details":{"payment_id":"sq-~","dispute_id":"d-~"}`
	return channel{
		name: "square", reader: reader,
		client: func(s *httptest.Server) adapter { return square.New(s.URL, "secret", s.Client()) },
		answers: map[string]string{
			"POST /v2/payments": `{"payment":` + paid + `}`, "GET /v2/payments/sq-~": `{"payment":` + paid + `}`,
			"GET /v2/refunds/ra-~": `{"refund":` + back + `}`, "GET /v2/refunds/rb-~": `{"refund":` + failed + `}`,
			"GET /v2/payments": `{"payments":[` + paid + `]}`, "GET /v2/refunds": `{"refunds":[` + back + `,` + failed + `]}`,
			"GET /v2/disputes": `{"disputes":[` + argued("WON") + `]}`,
			"GET /v2/payouts":  `{"payouts":[{"id":"po-~","status":"PAID","type":"BATCH","amount_money":{"amount":1499` + euros + `,` + dates + `}]}`,
			"GET /v2/payouts/po-~/payout-entries": `{"payout_entries":[` + strings.Join([]string{
				settled("pa-", "CHARGE", "1999", `"type_charge_details":{"payment_id":"sq-~"}`), settled("pb-", "REFUND", "-500", `"type_refund_details":{"payment_id":"sq-~","refund_id":"ra-~"}`),
				settled("pc-", "DISPUTE", "-1999", disputed), settled("pd-", "DISPUTE", "1999", disputed),
			}, ",") + `]}`,
		},
		hooks: []string{
			event("1", "refund.updated", "refund", back), event("2", "refund.updated", "refund", failed),
			event("3", "dispute.state.updated", "dispute", argued("EVIDENCE_REQUIRED")), event("4", "dispute.state.updated", "dispute", argued("WON")),
		},
	}
}

// A provider's webhooks, lookups and books lead to the same sums and refunds in any order and number.
func TestChannelsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range channels(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var number atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				of := strconv.FormatInt(number.Load()+1000, 10)
				answer, known := c.answers[req.Method+" "+strings.Replace(req.URL.Path, of, "~", 1)]
				if !known {
					answer, known = c.answers[req.Method+" "+req.URL.Path]
				}
				if !known {
					t.Errorf("%s %s", req.Method, req.URL)
				}
				_, _ = io.WriteString(w, strings.ReplaceAll(answer, "~", of))
			}))
			t.Cleanup(s.Close)
			p := c.client(s)
			r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return p }})
			rapid.Check(t, func(rt *rapid.T) {
				n := number.Add(1)
				if n > 12 {
					return // each is a payment with some twenty transactions
				}
				number := strconv.FormatInt(n+1000, 10)
				id := r.paid(t, payment.OrderID("A-"+number), "cnon:token").ID
				steps := c.steps(t, r, p, id, number)
				order := rapid.Permutation(steps).Draw(rt, "order")
				order = append(order, rapid.SliceOfN(rapid.SampledFrom(steps), 0, 4).Draw(rt, "again")...)
				for _, step := range order {
					step.do()
				}
				a := r.attempt(t, id)
				require.Equal(rt, []int64{1999, 500, 0}, []int64{a.Captured, a.Refunded, a.Disputed}, "%v\n%+v", order, a.Movements)
				require.Equal(rt, []string{"300 failed provider", "500 succeeded provider"}, rows[string](t, r,
					"SELECT amount || ' ' || status || ' ' || origin FROM refunds WHERE attempt_id = $1 ORDER BY amount", id.String()), "%v", order)
			})
			require.Empty(t, r.verify(t))
		})
	}
}

// step is a report of one of the channels.
type step struct {
	name string
	do   func()
}

// String implements fmt.Stringer.
func (s step) String() string { return s.name }

func (c channel) steps(t *testing.T, r *env, p adapter, id payment.AttemptID, number string) []step {
	t.Helper()
	all := []step{{"lookup", func() {
		_, err := r.Ask(t.Context(), id, byTest)
		require.NoError(t, err)
	}}}
	span := gateway.Span{From: time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)}
	require.NoError(t, p.Entries(t.Context(), span, func(e gateway.Entry) error {
		all = append(all, step{"entry " + e.ID, func() {
			_, err := r.Apply(t.Context(), id, []payment.Report{e.Report(byTest)})
			require.NoError(t, err)
		}})
		return nil
	}))
	for _, body := range c.hooks {
		body = strings.ReplaceAll(body, "~", number)
		for _, e := range c.reader.Read(webhooks.Delivery{Body: []byte(body), ReceivedAt: time.Now()}) {
			require.Empty(t, e.Unreadable)
			all = append(all, step{e.Type + " " + e.ID, func() { r.tell(t, e) }})
		}
	}
	return all
}
