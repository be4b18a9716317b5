package paypal_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// secured returns PayPal's result of 3-D Secure; without a status of the authentication where it is empty.
func secured(shift, enrollment, status string) object {
	three := object{}
	for name, value := range map[string]string{"enrollment_status": enrollment, "authentication_status": status} {
		if value != "" {
			three[name] = value
		}
	}
	return object{"liability_shift": shift, "three_d_secure": three}
}

// The suite of all adapters for each method of PayPal's script.
func TestConformanceOfScripts(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"card", "apple_pay", "google_pay"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := suite()
			s.Step = providertest.Step{Token: method, Customer: func(t *testing.T, h http.Handler, id string) json.RawMessage {
				t.Helper()
				f, ok := h.(*fake)
				require.True(t, ok)
				f.enters(id, "APPROVED", secured("POSSIBLE", "Y", "Y"))
				return nil
			}}
			providertest.Run(t, s)
		})
	}
}

// The order requests 3-D Secure, and has its method for later lookups.
func TestAnOrderForAScript(t *testing.T) {
	t.Parallel()
	always := map[string]json.RawMessage{"verification": json.RawMessage(`{"method":"SCA_ALWAYS"}`)}
	for name, tt := range map[string]struct {
		token  string
		data   map[string]json.RawMessage
		source string
	}{
		"card": {"card", nil, `{"card":{"attributes":{"verification":{"method":"SCA_WHEN_REQUIRED"}},
			"experience_context":{"return_url":"https://shop.example/back","cancel_url":"https://shop.example/back"}}}`},
		"card, always": {"card", always, `{"card":{"attributes":{"verification":{"method":"SCA_ALWAYS"}},
			"experience_context":{"return_url":"https://shop.example/back","cancel_url":"https://shop.example/back"}}}`},
		"Google Pay": {"google_pay", nil, `{"google_pay":{"attributes":{"verification":{"method":"SCA_WHEN_REQUIRED"}}}}`},
		"Apple Pay":  {"apple_pay", nil, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, o := sent(t, tt.token, func(c *gateway.Charge) { c.ProviderData = tt.data })
			requireJSON(t, tt.source, body["payment_source"])
			require.Equal(t, tt.token, body["purchase_units"].([]any)[0].(map[string]any)["reference_id"])
			require.Equal(t, fsm.EventActionRequired, o.Event)
			require.Empty(t, o.ProviderPaymentID)
			require.Equal(t, payment.ActionSDK, o.NextAction.Type)
			require.JSONEq(t, `{"order_id":"`+o.Container+`","payment_method":"`+tt.token+`"}`, string(o.NextAction.Data))
		})
	}
}

// A lookup shows the script's action again, and not PayPal's page.
func TestALookupKeepsTheScript(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	o := charged(t, c, charge("apple_pay"))
	now, err := c.Lookup(t.Context(), o.Container)
	require.NoError(t, err)
	require.Equal(t, o, now)
}

// A card is captured only if PayPal recommends it. The rows are PayPal's own table
// (https://developer.paypal.com/docs/checkout/advanced/customize/3d-secure/response-parameters).
func TestOnlyAnAuthenticatedCardIsCaptured(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		shift, enrollment, status string
		passes                    bool
	}{
		{"POSSIBLE", "Y", "Y", true},
		{"POSSIBLE", "Y", "A", true},
		{"YES", "Y", "Y", true},
		{"NO", "Y", "N", false},
		{"NO", "Y", "R", false},
		{"NO", "Y", "U", false},
		{"UNKNOWN", "Y", "U", false},
		{"UNKNOWN", "Y", "C", false},
		{"NO", "Y", "", false},
		{"NO", "N", "", true},
		{"NO", "U", "", true},
		{"UNKNOWN", "U", "", false},
		{"NO", "B", "", true},
		{"UNKNOWN", "", "", false},
		{"", "", "", false},
	} {
		for _, token := range []string{"card", "google_pay"} {
			for _, status := range []string{"APPROVED", "CREATED"} {
				t.Run(strings.Join([]string{tt.shift, tt.enrollment, tt.status, token, status}, "_"), func(t *testing.T) {
					t.Parallel()
					f := newFake(t)
					c, got := serve(t, f)
					ch := charge(token)
					o := charged(t, c, ch)
					f.enters(o.Container, status, secured(tt.shift, tt.enrollment, tt.status))
					found, err := c.Lookup(t.Context(), o.Container)
					require.NoError(t, err)
					require.Equal(t, tt.passes && status == "APPROVED", found.Approved)
					done := completed(t, c, completion(ch, o.Container))
					if tt.passes {
						require.Equal(t, fsm.EventSucceeded, done.Event)
						require.Equal(t, euro(1999), *done.Money)
						return
					}
					require.Equal(t, fsm.EventSoftFailed, done.Event)
					require.Equal(t, payment.NewFailure("authentication_failed", "liability_shift "+tt.shift), done.Failure)
					require.Equal(t, ch.Attempt.String(), done.References[0])
					require.Empty(t, f.orders[o.Container].captures)
					for len(got) > 0 {
						require.NotContains(t, (<-got).line, "/capture")
					}
					over, err := c.Cancel(t.Context(), gateway.Cancel{Container: o.Container, Permit: permit(), Quiet: time.Hour})
					require.NoError(t, err)
					require.Equal(t, fsm.EventFailed, over.Event)
				})
			}
		}
	}
}

// A card without a result of 3-D Secure needed none if PayPal has approved the order. Otherwise its customer may not have finished.
func TestACardThatNeedsNoAuthenticationIsCaptured(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	ch := manual(charge("card"))
	o := charged(t, c, ch)
	f.enters(o.Container, "CREATED", nil)
	require.Equal(t, fsm.EventActionRequired, completed(t, c, completion(ch, o.Container)).Event)
	f.enters(o.Container, "APPROVED", nil)
	require.Equal(t, fsm.EventAuthorized, completed(t, c, completion(ch, o.Container)).Event)
}

// While PayPal waits for the customer's challenge, the order waits on.
func TestAChallengeInTheScriptWaits(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	ch := charge("card")
	o := charged(t, c, ch)
	f.enters(o.Container, "PAYER_ACTION_REQUIRED", secured("UNKNOWN", "Y", "C"))
	waits := completed(t, c, completion(ch, o.Container))
	require.Equal(t, fsm.EventActionRequired, waits.Event)
	require.Equal(t, payment.ActionSDK, waits.NextAction.Type)
	require.False(t, waits.Approved)
	f.enters(o.Container, "APPROVED", secured("POSSIBLE", "Y", "Y"))
	require.Equal(t, fsm.EventSucceeded, completed(t, c, completion(ch, o.Container)).Event)
}

func TestAcceptsOfScripts(t *testing.T) {
	t.Parallel()
	verification := func(token, value string) gateway.Charge {
		ch := charge(token)
		ch.ProviderData = map[string]json.RawMessage{"verification": json.RawMessage(value)}
		return ch
	}
	saves, branded := charge("card"), charge("google_pay")
	saves.Save, saves.Customer.Reference = true, "c-7"
	branded.ProviderData = map[string]json.RawMessage{"brand_name": json.RawMessage(`"The Shop"`)}
	c := paypal.New("", "", "", nil, nil)
	for name, tt := range map[string]struct {
		ch    gateway.Charge
		field string
	}{
		"verification of a wallet":    {verification("paypal", `{"method":"SCA_ALWAYS"}`), "provider_data.verification"},
		"verification by Apple":       {verification("apple_pay", `{"method":"SCA_ALWAYS"}`), "provider_data.verification"},
		"verification by another way": {verification("card", `{"method":"AVS_CVV"}`), "provider_data.verification"},
		"verification, a text":        {verification("card", `"SCA_ALWAYS"`), "provider_data.verification"},
		"a card that is to be stored": {saves, "save_payment_method"},
		"a page's name":               {branded, "provider_data.brand_name"},
		"a wallet's id":               {charge("google_pay:1"), "payment_method.token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var invalid *payment.ValidationError
			require.ErrorAs(t, c.Accepts(tt.ch), &invalid)
			require.Len(t, invalid.Fields, 1)
			require.Equal(t, tt.field, invalid.Fields[0].Field)
		})
	}
	require.NoError(t, c.Accepts(verification("google_pay", `{"method":"SCA_WHEN_REQUIRED"}`)))
}
