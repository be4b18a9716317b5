package engine_test

import (
	"context"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/gocardless"
	"github.com/paylatch/paylatch/internal/provider/mollie"
	"github.com/paylatch/paylatch/internal/provider/razorpay"
	"github.com/paylatch/paylatch/internal/provider/square"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/internal/provider/yookassa"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

func TestOtherPayment(t *testing.T) {
	t.Parallel()
	t.Run("opens_a_discrepancy", otherPaymentOpensADiscrepancy)
	t.Run("whichever_is_first", otherPaymentWhicheverIsFirst)
	t.Run("named_in_a_resolution", otherPaymentNamedInAResolution)
	t.Run("of_each_provider", otherPaymentOfEachProvider)
}

// about lists the subjects of an attempt's discrepancies.
func (r *env) about(t *testing.T, id payment.AttemptID) []string {
	t.Helper()
	require.Empty(t, r.verify(t))
	return rows[string](t, r, "SELECT concat_ws(' ', kind, nullif(about, ''), nullif(about_id, '')) FROM discrepancies WHERE attempt_id = $1 ORDER BY discrepancy_id", id.String())
}

// under is an event that names an attempt by its own id, and its payment by another.
func under(kind webhooks.Kind, id payment.AttemptID, name string) webhooks.Event {
	e := event(kind, id.String(), name)
	e.ProviderPaymentID = name
	return e
}

// Money under another id belongs to another payment: a discrepancy is opened, once.
func otherPaymentOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, provider: (&spy{}).on})
	paid := r.paid(t, "A-1", "tok_never")
	own := under(webhooks.KindSucceeded, paid.ID, paid.ProviderPaymentID)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, own))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, under(webhooks.KindProcessing, paid.ID, "ch_2")))
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, under(webhooks.KindFailed, paid.ID, "ch_2")))
	require.Empty(t, r.about(t, paid.ID))
	before := r.attempt(t, paid.ID)
	for _, want := range []fsm.Verdict{fsm.Conflict, fsm.Repeat} {
		require.Equal(t, []fsm.Verdict{want}, r.tell(t, under(webhooks.KindSucceeded, paid.ID, "ch_2")))
		require.Equal(t, []string{"needs_review second_payment ch_2"}, r.about(t, paid.ID))
	}
	require.Equal(t, before.Version+1, r.attempt(t, paid.ID).Version)
	require.Equal(t, 2*before.Captured, r.attempt(t, paid.ID).Captured, "the sum tells the truth")
	require.Equal(t, []fsm.Verdict{fsm.Stale}, r.tell(t, under(webhooks.KindAuthorized, paid.ID, "ch_3")))
	require.Equal(t, []string{"ch_3"}, rows[string](t, r, "SELECT payment FROM operations WHERE kind = 'cancel' AND open"), "the second hold is cancelled")
	for _, d := range r.open(t, paid.ID) {
		_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedAccepted))
		require.NoError(t, err)
	}
	for _, e := range rows[[16]byte](t, r, "SELECT event_id FROM provider_events WHERE attempt_id = $1", paid.ID.String()) {
		_, err := r.Replay(t.Context(), intake.Replay{ID: e})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"needs_review second_payment ch_2"}, r.about(t, paid.ID))
	require.Empty(t, r.open(t, paid.ID))
}

// Whichever of the two was reported first, the response to a call included.
func otherPaymentWhicheverIsFirst(t *testing.T) {
	t.Parallel()
	var r *env
	p := &spy{charge: func(_ context.Context, c gateway.Charge, send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		out, err := send()
		if c.Order == "A-2" {
			r.tell(t, under(webhooks.KindProcessing, c.Attempt, "ch_first"))
		}
		return out, err
	}}
	r = newEnv(t, setup{silent: true, provider: p.on})
	pending := r.paid(t, "A-1", "tok_never")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under(webhooks.KindSucceeded, pending.ID, "ch_2")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, pending.ID).Attempt))
	require.Equal(t, "ch_2", r.attempt(t, pending.ID).ProviderPaymentID)
	require.Empty(t, r.about(t, pending.ID), "one payment took money")

	answered := r.paid(t, "A-2", "tok_success").ID
	a := r.attempt(t, answered)
	require.NotEqual(t, "ch_first", a.ProviderPaymentID)
	require.Len(t, a.Payments, 2)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.Empty(t, r.about(t, answered))
}

// A payment that a resolution names as paid is.
func otherPaymentNamedInAResolution(t *testing.T) {
	t.Parallel()
	p := &lossy{says: map[string]func() (gateway.Outcome, error){"ch_found": saysPaid("ch_found", price, "EUR")}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { return (&spy{}).on(p.on(of)) }})
	id, d := r.stuck(t, "A-1")
	_, err := r.Resolve(t.Context(), sam, because(d, payment.ResolvedPaid, "ch_found"))
	require.NoError(t, err)
	require.Equal(t, []string{"amount_mismatch 0.05 EUR"}, r.about(t, id))
}

// deals has an adapter, its provider's response to a charge, and a webhook. The webhook reports that another payment, or
// the same payment by another id, has taken the money.
type deals struct {
	kind    string
	config  webhooks.Config
	adapter func(base string, client *http.Client) gateway.Provider
	token   string
	// answers and the webhook's body have OF in the place of the attempt's id.
	answers map[string]string
	body    string
	opens   []string
}

// keys are the keys of the providers that sign.
func keys() webhooks.Config {
	return webhooks.Config{Secrets: []string{"a-secret"}, PublicURL: "https://shop.example/hook"}
}

// others are of providers that call a payment by one id.
func others() map[string]deals {
	return map[string]deals{
		"checkout": {
			kind: "checkout", config: keys(), token: "tok_1",
			adapter: func(base string, client *http.Client) gateway.Provider { return checkout.New(base, "sk", client) },
			answers: map[string]string{"POST /payments": `{"id":"pay_1","status":"Captured","amount":1999,"currency":"EUR"}`},
			body:    `{"id":"evt_2","type":"payment_captured","data":{"id":"pay_2","action_id":"act_2","reference":"OF","amount":1999,"currency":"EUR"}}`,
			opens:   []string{"needs_review second_payment pay_2"},
		},
		"square": {
			kind: "square", config: keys(), token: "cnon:1",
			adapter: func(base string, client *http.Client) gateway.Provider { return square.New(base, "token", client) },
			answers: map[string]string{"POST /v2/payments": `{"payment":{"id":"sq1","order_id":"o1","status":"COMPLETED","amount_money":{"amount":1999,"currency":"EUR"}}}`},
			body: `{"event_id":"e2","type":"payment.updated","data":{"id":"sq2","object":{"payment":{"id":"sq2","order_id":"o2","reference_id":"OF",` +
				`"status":"COMPLETED","amount_money":{"amount":1999,"currency":"EUR"}}}}}`,
			opens: []string{"needs_review second_payment sq2"},
		},
		"mollie": {
			kind: "mollie", token: "cst_1",
			adapter: func(base string, client *http.Client) gateway.Provider { return mollie.New(base, "key", "", client) },
			answers: map[string]string{
				"POST /v2/payments": `{"resource":"payment","id":"tr_1","status":"paid","amount":{"value":"19.99","currency":"EUR"}}`,
				"GET /v2/payments/tr_2": `{"resource":"payment","id":"tr_2","status":"paid","amount":{"value":"19.99","currency":"EUR"},` +
					`"metadata":{"payment_attempt_id":"OF"}}`,
			},
			body:  "id=tr_2",
			opens: []string{"needs_review second_payment tr_2"},
		},
		"gocardless": {
			kind: "gocardless", config: keys(), token: "MD1",
			adapter: func(base string, client *http.Client) gateway.Provider { return gocardless.New(base, "token", client) },
			answers: map[string]string{
				"GET /mandates/MD1": `{"mandates":{"id":"MD1","metadata":{},"links":{"customer":"MD1"}}}`,
				"POST /payments":    `{"payments":{"id":"PM1","status":"confirmed","amount":1999,"currency":"EUR","metadata":{}}}`,
				"GET /payments/PM2": `{"payments":{"id":"PM2","status":"confirmed","amount":1999,"currency":"EUR","metadata":{"payment_attempt_id":"OF"}}}`,
			},
			body:  `{"events":[{"id":"EV2","resource_type":"payments","action":"confirmed","links":{"payment":"PM2"}}]}`,
			opens: []string{"needs_review second_payment PM2"},
		},
		"gocardless, by another billing request": {
			kind: "gocardless", config: keys(), token: "redirect",
			adapter: func(base string, client *http.Client) gateway.Provider { return gocardless.New(base, "token", client) },
			answers: map[string]string{
				"POST /billing_requests":      `{"billing_requests":{"id":"BRQ1","status":"pending","metadata":{},"links":{}}}`,
				"POST /billing_request_flows": `{"billing_request_flows":{"id":"BRF1","authorisation_url":"https://pay.gocardless.example/flow"}}`,
				"GET /billing_requests/BRQ2":  `{"billing_requests":{"id":"BRQ2","status":"fulfilled","metadata":{"payment_attempt_id":"OF"},"links":{"payment_request_payment":"PM2"}}}`,
				"GET /payments/PM2":           `{"payments":{"id":"PM2","status":"confirmed","amount":1999,"currency":"EUR","metadata":{}}}`,
			},
			body: `{"events":[{"id":"EV2","resource_type":"billing_requests","action":"fulfilled","links":{"billing_request":"BRQ2","payment_request_payment":"PM2"},` +
				`"resource_metadata":{"payment_attempt_id":"OF"}}]}`,
		},
		"yookassa": {
			kind: "yookassa", config: webhooks.Config{AllowedIPs: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, token: "one-time",
			adapter: func(base string, client *http.Client) gateway.Provider {
				return yookassa.New(base, "shop", "key", client)
			},
			answers: map[string]string{
				"POST /v3/payments":      `{"id":"pay-1","status":"succeeded","amount":{"value":"19.99","currency":"EUR"}}`,
				"GET /v3/payments/pay-2": `{"id":"pay-2","status":"succeeded","amount":{"value":"19.99","currency":"EUR"},"metadata":{"payment_attempt_id":"OF"}}`,
			},
			body:  `{"type":"notification","event":"payment.succeeded","object":{"id":"pay-2","status":"succeeded"}}`,
			opens: []string{"needs_review second_payment pay-2"},
		},
	}
}

// same are of providers that have several ids in their messages about one payment, and Adyen with two payments.
func same() map[string]deals {
	return map[string]deals{
		"stripe, of the charge": {
			kind: "stripe", config: keys(), token: "pm_1",
			adapter: func(base string, client *http.Client) gateway.Provider { return stripe.New(base, "sk", client) },
			answers: map[string]string{"POST /v1/payment_intents": `{"object":"payment_intent","id":"pi_1","status":"succeeded","amount_received":1999,"currency":"eur"}`},
			body: `{"id":"evt_2","type":"charge.succeeded","data":{"object":{"object":"charge","id":"ch_1","amount":1999,"captured":true,"currency":"eur","payment_intent":"pi_1",` +
				`"metadata":{"payment_attempt_id":"OF"}}}}`,
		},
		"adyen, two authorisations": {
			kind: "adyen", config: webhooks.Config{Secrets: []string{"00ff"}, Params: map[string]string{"capture": "automatic"}}, token: `{"type":"ideal"}`,
			adapter: func(base string, client *http.Client) gateway.Provider {
				return adyen.New(adyen.Account{Base: base, Key: "key", Merchant: "shop", Capture: "automatic"}, client)
			},
			answers: map[string]string{"POST /v72/payments": `{"pspReference":"PSP1","resultCode":"Authorised","amount":{"value":1999,"currency":"EUR"}}`},
			body: `{"live":"true","notificationItems":[{"NotificationRequestItem":{"pspReference":"PSP2","merchantReference":"OF","eventCode":"AUTHORISATION",` +
				`"success":"true","amount":{"value":1999,"currency":"EUR"}}}]}`,
			opens: []string{"needs_review second_payment PSP2"},
		},
		"gocardless, of the billing request's payment": {
			kind: "gocardless", config: keys(), token: "redirect",
			adapter: func(base string, client *http.Client) gateway.Provider { return gocardless.New(base, "token", client) },
			answers: map[string]string{
				"POST /billing_requests":      `{"billing_requests":{"id":"BRQ1","status":"pending","metadata":{},"links":{}}}`,
				"POST /billing_request_flows": `{"billing_request_flows":{"id":"BRF1","authorisation_url":"https://pay.gocardless.example/flow"}}`,
				"GET /payments/PM1":           `{"payments":{"id":"PM1","status":"confirmed","amount":1999,"currency":"EUR","metadata":{"payment_attempt_id":"OF"}}}`,
			},
			body: `{"events":[{"id":"EV2","resource_type":"payments","action":"confirmed","links":{"payment":"PM1"}}]}`,
		},
		"gocardless, of the billing request": {
			kind: "gocardless", config: keys(), token: "redirect",
			adapter: func(base string, client *http.Client) gateway.Provider { return gocardless.New(base, "token", client) },
			answers: map[string]string{
				"POST /billing_requests":      `{"billing_requests":{"id":"BRQ1","status":"pending","metadata":{},"links":{}}}`,
				"POST /billing_request_flows": `{"billing_request_flows":{"id":"BRF1","authorisation_url":"https://pay.gocardless.example/flow"}}`,
				"GET /billing_requests/BRQ1":  `{"billing_requests":{"id":"BRQ1","status":"fulfilled","metadata":{},"links":{"payment_request_payment":"PM1"}}}`,
				"GET /payments/PM1":           `{"payments":{"id":"PM1","status":"confirmed","amount":1999,"currency":"EUR","metadata":{}}}`,
			},
			body: `{"events":[{"id":"EV2","resource_type":"billing_requests","action":"fulfilled","links":{"billing_request":"BRQ1","payment_request_payment":"PM1"}},` +
				`{"id":"EV3","resource_type":"payments","action":"confirmed","links":{"payment":"PM1"}}]}`,
		},
		"razorpay, of the link's payment": {
			kind: "razorpay", config: keys(), token: "redirect",
			adapter: func(base string, client *http.Client) gateway.Provider {
				return razorpay.New(base, "id", "secret", client)
			},
			answers: map[string]string{"POST /v1/payment_links/": `{"id":"plink_1","status":"created","currency":"EUR","amount":1999,"reference_id":"OF","short_url":"https://rzp.example"}`},
			body: `{"entity":"event","event":"payment.captured","contains":["payment"],"created_at":1700000000,"payload":{"payment":{"entity":{"id":"pay_1",` +
				`"amount":1999,"currency":"EUR","notes":{"payment_attempt_id":"OF"}}}}}`,
		},
	}
}

// Of some providers another payment can be seen, and of others it can't, since their webhooks
// call one payment by several ids.
func otherPaymentOfEachProvider(t *testing.T) {
	t.Parallel()
	deals := others()
	maps.Copy(deals, same())
	for name, d := range deals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := "nobody"
			said := map[string]func() string{}
			for line, body := range d.answers {
				said[line] = func() string { return strings.ReplaceAll(body, "OF", of) }
			}
			s := answers(t, said)
			r := newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider { return d.adapter(s.URL, s.Client()) }})
			id := r.paid(t, "A-1", d.token).ID
			require.NotEmpty(t, r.attempt(t, id).ProviderPaymentID)
			of = id.String()
			v, err := all.New(d.kind, d.config)
			require.NoError(t, err)
			sent := webhooks.Delivery{Body: []byte(strings.ReplaceAll(d.body, "OF", of)), ReceivedAt: time.Now()}
			if by, ok := v.(webhooks.Signer); ok && len(d.config.Secrets) > 0 {
				require.NoError(t, by.Sign(&sent))
			}
			r.notify(t, v, sent)
			r.retry(t, true)
			require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
			require.Zero(t, r.parked(t))
			require.ElementsMatch(t, d.opens, r.about(t, id))
		})
	}
}
