package standard_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	client "github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/standard"
)

// A conflict about the key leaves the outcome of the other call with this key unknown, for all commands.
func TestAKeyInUseIsUnknown(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"request_in_progress", "idempotency_key_reused"} {
		r := says(t, http.StatusConflict, `{"error":{"code":"`+code+`"}}`)
		for name, do := range map[string]func() error{
			"charge":  func() error { _, err := r.Charge(t.Context(), charge("tok_success")); return err },
			"capture": func() error { _, err := r.Capture(t.Context(), capture("ch_1", 1)); return err },
			"cancel":  func() error { _, err := r.Cancel(t.Context(), cancel("ch_1")); return err },
			"refund": func() error {
				_, err := r.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "ch_1", Money: euro(1), IdempotencyKey: "r", Permit: permit()})
				return err
			},
			"complete": func() error {
				_, err := r.Complete(t.Context(), gateway.Completion{ProviderPaymentID: "ch_1", Details: json.RawMessage(`{}`), IdempotencyKey: "c", Permit: permit()})
				return err
			},
		} {
			err := do()
			require.Error(t, err, name)
			require.NotErrorIs(t, err, gateway.ErrNotSent, name)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, name)
		}
	}
}

// A provider refuses an operation that it does not offer. The call has then failed for good.
func TestNotSupported(t *testing.T) {
	t.Parallel()
	r := says(t, http.StatusUnprocessableEntity, `{"error":{"code":"not_supported"}}`)
	o, err := r.Charge(t.Context(), manual("tok_success"))
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "not_supported")}, o)
	back, err := r.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "ch_1", Money: euro(1), IdempotencyKey: "r", Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("not_supported"), back)
}

func TestAmountsOfACharge(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]*payment.Money{
		`"amount":1999,"currency":"EUR"`:                         new(euro(1999)),
		`"amount":1999,"amount_captured":null,"currency":"EUR"`:  new(euro(1999)),
		`"amount":1999,"amount_captured":500,"currency":"EUR"`:   new(euro(500)),
		`"amount":1999,"amount_captured":0,"currency":"EUR"`:     nil,
		`"amount":-1999,"amount_captured":-5,"currency":"EUR"`:   nil,
		`"amount":1999,"currency":"eur"`:                         nil,
		`"amount":1999,"currency":"EURO"`:                        nil,
		`"amount":1999`:                                          nil,
		`"amount":19.99,"currency":"EUR"`:                        nil,
		`"amount":1999,"amount_captured":"500","currency":"EUR"`: nil,
	} {
		o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"succeeded",`+body+`}`).Lookup(t.Context(), "ch_1")
		if want == nil {
			require.Error(t, err, body)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, body)
			continue
		}
		require.NoError(t, err, body)
		require.Equal(t, want, o.Money, body)
	}
}

func TestARefundThatFailed(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{"succeeded": fsm.EventSucceeded, "failed": fsm.EventFailed, "pending": fsm.EventProcessing, "simmering": fsm.EventProcessing} {
		o, err := says(t, http.StatusOK, `{"id":"re_1","status":"`+status+`","amount":5,"currency":"EUR","failure_code":"account_closed"}`).
			LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
		require.NoError(t, err)
		require.Equal(t, want, o.Event, status)
		if want == fsm.EventFailed {
			require.Equal(t, payment.NewFailure("provider_rejected", "account_closed"), o.Failure)
		} else {
			require.Nil(t, o.Failure)
		}
	}
}

// The page's result is sent unchanged, and only if it is an object.
func TestCompleteSendsTheDetails(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 1)
	r := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		_, _ = io.WriteString(w, `{"id":"ch_1","status":"succeeded","amount":1999,"currency":"EUR"}`)
	}))
	c := gateway.Completion{ProviderPaymentID: "ch_1", Details: json.RawMessage(`{"MD":"1","nested":{"a":[1]}}`), IdempotencyKey: "c", Permit: permit()}
	o, err := r.Complete(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.JSONEq(t, `{"details":{"MD":"1","nested":{"a":[1]}}}`, <-bodies)
	for _, details := range []string{``, `null`, `[]`, `"x"`, `{`, `{}x`} {
		c.Details = json.RawMessage(details)
		_, err := r.Complete(t.Context(), c)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest, details)
	}
	require.Empty(t, bodies)
}

func TestTheAPIKey(t *testing.T) {
	t.Parallel()
	headers := make(chan []string, 1)
	r := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header.Values("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":"unauthenticated"}}`)
	}))
	o, err := r.Charge(t.Context(), charge("tok_success"))
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, []string{"Bearer " + apiKey}, <-headers)
	_, err = r.Lookup(t.Context(), "ch_1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	require.NotContains(t, err.Error(), apiKey)
	<-headers
	_, _ = client.New(r.url, "", http.DefaultClient).Lookup(t.Context(), "ch_1")
	require.Empty(t, <-headers)
}

// A provider's lists are read only if the account names them.
func TestLists(t *testing.T) {
	t.Parallel()
	for lists, want := range map[string][2]bool{"": {false, false}, "balance": {true, false}, "events": {false, true}, "both": {true, true}} {
		s := kit.Settings{BaseURL: "https://pay.example", Params: map[string]string{"api_key": "k", "lists": lists}}
		books, err := client.Adapter().Books(s)
		require.NoError(t, err)
		events, err := client.Adapter().Events(s)
		require.NoError(t, err)
		require.Equal(t, want, [2]bool{books != nil, events != nil}, lists)
	}
}

// A provider on this machine is for tests. Any other provider counts as live.
func TestTestHosts(t *testing.T) {
	t.Parallel()
	for address, tests := range map[string]bool{
		"http://127.0.0.1:9091": true, "http://localhost": true, "https://LOCALHOST:1": true, "http://[::1]:9091": true,
		"https://pay.example": false, "https://localhost.example": false, "https://10.0.0.1": false, "": false,
	} {
		require.Equal(t, tests, client.Adapter().Tests(kit.Settings{BaseURL: address}), address)
	}
}

// A next action directs a customer's browser. If its address is not a web address, or its type is outside the contract,
// it is omitted, and the payment is under way.
func TestNextActions(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]bool{
		`{"type":"redirect","url":"https://pay.example/1"}`:                    true,
		`{"type":"post_form","url":"http://127.0.0.1:1/x","fields":{"a":"b"}}`: true,
		`{"type":"sdk","data":{"client_secret":"s"}}`:                          true,
		`{"type":"display","data":{"reference":"1"}}`:                          true,
		`{"type":"redirect","url":"javascript:alert(1)"}`:                      false,
		`{"type":"redirect","url":"/pay/1"}`:                                   false,
		`{"type":"redirect","url":"data:text/html,x"}`:                         false,
		`{"type":"redirect"}`:                                                  false,
		`{"type":"post_form","url":"ftp://pay.example"}`:                       false,
		`{"type":"teleport","url":"https://pay.example/1"}`:                    false,
		`null`: false,
	} {
		o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"pending","amount":1,"currency":"EUR","next_action":`+action+`}`).Lookup(t.Context(), "ch_1")
		require.NoError(t, err, action)
		if want {
			require.Equal(t, fsm.EventActionRequired, o.Event, action)
			require.NotNil(t, o.NextAction, action)
			continue
		}
		require.Equal(t, gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: "ch_1"}, o, action)
	}
}

// A dispute with a status outside the contract hides neither the payment nor the dispute's movements.
func TestADisputeOfAnUnknownStatus(t *testing.T) {
	t.Parallel()
	dispute := func(status string) string {
		return `{"id":"dp_1","status":"` + status + `","reason":"fraud","amount":1999,"currency":"EUR","movements":[{"entry_id":"le_1","kind":"chargeback","amount":1999}]}`
	}
	for status, disputes := range map[string]int{"lost": 1, "escalated": 0} {
		o, err := says(t, http.StatusOK, `{"id":"ch_1","status":"succeeded","amount":1999,"currency":"EUR","disputes":[`+dispute(status)+`]}`).Lookup(t.Context(), "ch_1")
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.Len(t, o.Disputes, disputes, status)
		require.Equal(t, []payment.MovementReport{{Kind: payment.MovementChargeback, Dispute: "dp_1", ID: "le_1", Money: euro(1999)}}, o.Movements)
	}
}

// TestOnePayment: the charge is the payment, and its page is its container, if the page has an id.
func TestOnePayment(t *testing.T) {
	t.Parallel()
	const made = `{"id":"ch_1","reference":"att_1","status":"succeeded","amount":1999,"currency":"EUR","container_id":"page_1","payee":"shop_1","test":true}`
	r := says(t, http.StatusOK, made)
	o := r.charged(t, charge("tok_success"))
	require.Equal(t, []string{"shop_1", "page_1"}, []string{o.Payee, o.Container})
	v, err := hooks.New(webhooks.Config{Secrets: []string{"whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}})
	require.NoError(t, err)
	body := `{"id":"evt_1","type":"charge.succeeded","data":{"charge_id":"ch_1","reference":"att_1","amount":1999,"currency":"EUR","container_id":"page_1","payee":"shop_1","test":true}}`
	event := v.Read(webhooks.Delivery{Body: []byte(body)})[0]
	require.Equal(t, webhooks.ModeTest, event.Mode)
	providertest.NamedAlike(t, providertest.Paid{Provider: r, Charged: o, Webhook: event})
	ended := v.Read(webhooks.Delivery{Body: []byte(`{"id":"evt_2","type":"container.expired","data":{"charge_id":"ch_1","reference":"att_1","container_id":"page_1"}}`)})[0]
	require.Equal(t, []string{"", "page_1", "expired"}, []string{ended.ProviderPaymentID, ended.Container, string(ended.FailureCode)})

	_, err = r.Cancel(t.Context(), gateway.Cancel{Container: "page_1", Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupported)

	s := start(t)
	direct := s.charged(t, charge("tok_success"))
	paid := v.Read(webhooks.Delivery{Body: []byte(`{"id":"evt_3","type":"charge.succeeded","data":{"charge_id":"` + direct.ProviderPaymentID + `","reference":"att_2","amount":1999,"currency":"EUR"}}`)})[0]
	providertest.NamedAlike(t, providertest.Paid{Provider: s, Charged: direct, Webhook: paid})
}
