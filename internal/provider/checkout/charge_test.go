package checkout_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

var _ gateway.Provider = (*checkout.Client)(nil)

// The capture happens later. The payment itself or a webhook reports it.
func TestAChargeIsOnePaymentThatIsCapturedLater(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	ch := charge(cardOK)
	o := charged(t, c, ch)
	money := euro(1999)
	require.Equal(t, gateway.Outcome{Event: fsm.EventAuthorized, ProviderPaymentID: o.ProviderPaymentID, Live: new(false), Money: &money}, o)

	sent := <-seen
	require.Equal(t, "POST /payments", sent.line)
	require.Equal(t, "0123-pay", sent.header.Get("Cko-Idempotency-Key"))
	require.Equal(t, "Bearer "+secret, sent.header.Get("Authorization"))
	id := ch.Attempt.String()
	require.JSONEq(t, `{"source":{"type":"token","token":"`+cardOK+`","store_for_future_use":false},"amount":1999,"currency":"EUR","reference":"`+id+`","capture":true,
		"3ds":{"enabled":true,"attempt_n3d":true},"success_url":"https://shop.example/back","failure_url":"https://shop.example/back",
		"metadata":{"payment_attempt_id":"`+id+`","order_id":"A-1"}}`, sent.body)

	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: o.ProviderPaymentID, Live: new(false), Money: &money}, now)
}

// An account with several processing channels names the channel of a payment.
func TestAPaymentGoesByTheChannel(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	c.Channel = "pc_q4dbxom5jbgudnjzjpz7j2z6uq"
	charged(t, c, charge(cardOK))
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte((<-seen).body), &sent))
	require.JSONEq(t, `"pc_q4dbxom5jbgudnjzjpz7j2z6uq"`, string(sent["processing_channel_id"]))
}

func TestWhatDiffersByTheCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*gateway.Charge)
		want   map[string]string // members of the body as JSON; empty: absent
	}{
		"manual": {func(c *gateway.Charge) { c.Capture = payment.CaptureManual }, map[string]string{"capture": "false"}},
		"nowhere to return to": {
			func(c *gateway.Charge) { c.ReturnURL = "" }, map[string]string{"3ds": "", "success_url": "", "failure_url": ""},
		},
		"stored instrument": {
			func(c *gateway.Charge) { c.Token, c.Stored, c.Customer.Reference = instrument, true, instrumentOf },
			map[string]string{"source": `{"type":"id","id":"` + instrument + `"}`, "customer": `{"id":"` + instrumentOf + `"}`},
		},
		"no decimals":         {money(1999, "JPY"), map[string]string{"amount": "1999", "currency": `"JPY"`}},
		"three decimals":      {money(1990, "KWD"), map[string]string{"amount": "1990"}},
		"two decimals here":   {money(19, "CLP"), map[string]string{"amount": "1900"}},
		"none, as ISO has it": {money(19, "ISK"), map[string]string{"amount": "19"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, seen := serve(t, newFake())
			ch := charge(cardOK)
			c.change(&ch)
			o := charged(t, client, ch)
			require.Equal(t, ch.Money, *o.Money)
			var got map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte((<-seen).body), &got))
			for member, want := range c.want {
				if want == "" {
					require.NotContains(t, got, member)
					continue
				}
				require.JSONEq(t, want, string(got[member]))
			}
		})
	}
}

func money(minor int64, currency payment.Currency) func(*gateway.Charge) {
	return func(c *gateway.Charge) { c.Money = payment.Money{Minor: minor, Currency: currency} }
}

// All requests fit Checkout.com's own description, except the list, which is newer.
func TestRequestsFitCheckoutsDescription(t *testing.T) {
	t.Parallel()
	f := newFake()
	providertest.NeedDescribed(t, document)
	h := providertest.Described(t, document, "", f)
	c, _ := serve(t, f.handler(h))
	for i, token := range []string{cardOK, cardDeclined, cardRedirect, cardNone, "src_wmlfc3zyhqzehihu7giusaaawu"} {
		ch := charge(token)
		ch.IdempotencyKey = "pay-" + string(rune('a'+i))
		o := charged(t, c, ch)
		if o.ProviderPaymentID == "" {
			continue
		}
		_, err := c.Lookup(t.Context(), o.ProviderPaymentID)
		require.NoError(t, err)
		_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: euro(5), IdempotencyKey: ch.IdempotencyKey + "c", Permit: permit()})
		require.NoError(t, err)
		_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: ch.IdempotencyKey + "v", Permit: permit()})
		require.NoError(t, err)
		_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: o.ProviderPaymentID, Money: euro(5), IdempotencyKey: ch.IdempotencyKey + "r", Permit: permit()})
		require.NoError(t, err)
	}
}

func TestAnAmountThatCheckoutHasNoDigitsForIsUnknown(t *testing.T) {
	t.Parallel()
	_, err := says(t, 200, `{"id":"pay_1","status":"Captured","amount":150,"currency":"CLP"}`).Lookup(t.Context(), "pay_1")
	unknown(t, err)
	c, seen := serve(t, newFake())
	huge := payment.Money{Minor: 1 << 62, Currency: "CLP"}
	ch := charge(cardOK)
	ch.Money = huge
	_, err = c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: "pay_1", Money: huge, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Money: huge, Permit: permit()})
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	require.Empty(t, seen)
}

func TestADeclineIsFinalAndSaysWhyWhenAskedLaterToo(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	o := charged(t, c, charge(cardPoor))
	require.Equal(t, fsm.EventFailed, o.Event)
	require.False(t, o.Refused)
	require.Equal(t, payment.NewFailure("insufficient_funds", "20051"), o.Failure)
	now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
}

// A decline without a readable reason is still a decline.
func TestADeclineWhoseReasonCannotBeReadIsADecline(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/actions") {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = io.WriteString(w, `{"id":"pay_1","status":"Declined","amount":1,"currency":"EUR"}`)
	}))
	o, err := c.Lookup(t.Context(), "pay_1")
	require.NoError(t, err)
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventFailed, ProviderPaymentID: "pay_1", Failure: payment.NewFailure("provider_rejected", ""),
	}, o)
}

func TestARefusedChargeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		body, code string
	}{
		"invalid":         {422, `{"request_id":"0","error_type":"request_invalid","error_codes":["payment_source_required","x"]}`, "payment_source_required"},
		"without a code":  {422, `{"error_type":"request_invalid"}`, "request_invalid"},
		"bad key":         {401, "", "unauthorized"},
		"not for this":    {403, "", "forbidden"},
		"malformed":       {400, `{"error_type":"request_malformed","error_codes":[]}`, "request_malformed"},
		"with error_type": {403, `{"error_type":"not_allowed"}`, "not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, gateway.Outcome{
				Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", c.code),
			}, charged(t, says(t, c.status, c.body), charge(cardOK)))
		})
	}
}

// Such an answer concerns another call with the key, is transient, or does not come from Checkout.com.
func TestErrorsThatLeaveTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	silent, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	for name, c := range map[string]*checkout.Client{
		"key in use":              says(t, 409, `{"error_type":"request_invalid","error_codes":["x"]}`),
		"a conflict's payment":    says(t, 409, `{"id":"pay_1","action_id":"act_1","status":"Captured","amount":1,"currency":"EUR"}`),
		"key in use, of old":      says(t, 429, `{"error_type":"request_invalid","error_codes":["duplicate_request"]}`),
		"bad gateway":             says(t, 502, ""),
		"another form":            says(t, 422, `{"message":"no"}`),
		"a page":                  says(t, 404, "404 page not found"),
		"empty, but of whom":      silent,
		"accepted, but not what":  says(t, 202, `{"status":"Pending"}`),
		"a payment of no status":  says(t, 201, `{"id":"pay_1"}`),
		"an action without an id": says(t, 202, `{"action_id":""}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.Charge(t.Context(), charge(cardOK))
			unknown(t, err)
			_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "pay_1", Permit: permit()})
			unknown(t, err)
			_, err = c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "pay_1", Permit: permit()})
			unknown(t, err)
			_, err = c.Lookup(t.Context(), "pay_1")
			unknown(t, err)
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheKeySaysWhichCheckoutIsCalled(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"sk_sbox_abc": "https://api.sandbox.checkout.com/payments/pay_1", "sk_abc": "https://api.checkout.com/payments/pay_1",
	} {
		var called string
		c := checkout.New("", key, &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			called = r.URL.String()
			return nil, http.ErrHandlerTimeout
		})})
		_, err := c.Lookup(t.Context(), "pay_1")
		unknown(t, err)
		require.Equal(t, want, called)
	}
}
