package adyen_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/adyen"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

// TestOnePaymentHasOneID: the answers to a charge and to its later calls, webhooks and the settlement report name one
// pspReference.
func TestOnePaymentHasOneID(t *testing.T) {
	t.Parallel()
	base, hc, _ := serve(t, newFake())
	c := client(base, "", hc)
	made := charged(t, c, manual())
	id := made.ProviderPaymentID
	taken, captureErr := c.Capture(t.Context(), gateway.Capture{ProviderPaymentID: id, Money: euro(1999), IdempotencyKey: "c", Permit: permit()})
	entries, err := statement(t, reportOf(reportLine("Settled", id, "MOD1", "GBP,,5.00,1,GBP,,4.88,,,,")))
	require.NoError(t, err)
	providertest.OnePayment(t, providertest.Named{Payment: id}, map[string]providertest.Named{
		"charge": providertest.ByOutcome(t, made, nil), "capture": providertest.ByOutcome(t, taken, captureErr),
		"AUTHORISATION": hooked(t, "AUTHORISATION", id, ""), "CAPTURE": hooked(t, "CAPTURE", "MOD1", id), "REFUND": hooked(t, "REFUND", "REF1", id),
		"CHARGEBACK": hooked(t, "CHARGEBACK", "DIS1", id), "report": {Payment: entries[0].Payment},
	})
	require.Contains(t, adyen.Adapter().Payees(map[string]string{"merchant_account": merchant}), merchant)
}

// TestWhatIsOfferedIsNoPayment: an OFFER_CLOSED ends an offer that waits for its customer, and a payment with another
// pspReference pays it.
func TestWhatIsOfferedIsNoPayment(t *testing.T) {
	t.Parallel()
	offered := charged(t, says(t, http.StatusOK, `{"resultCode":"RedirectShopper","pspReference":"OFFER1"}`), charge(methodRedirect))
	require.Equal(t, fsm.EventActionRequired, offered.Event)
	require.Empty(t, offered.ProviderPaymentID)
	require.Equal(t, hooked(t, "OFFER_CLOSED", "OFFER1", ""), providertest.ByOutcome(t, offered, nil))
}

// hooked returns the ids in a signed item.
func hooked(t *testing.T, code, psp, original string) providertest.Named {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"}})
	require.NoError(t, err)
	d := webhooks.Delivery{Method: http.MethodPost, Body: fmt.Appendf(nil, `{"live":"false","notificationItems":[{"NotificationRequestItem":{`+
		`"eventCode":%q,"success":"true","pspReference":%q,"originalReference":%q,"merchantAccountCode":%q,"merchantReference":"att_1",`+
		`"amount":{"currency":"EUR","value":1999}}}]}`, code, psp, original, merchant)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	named := providertest.ByEvents(t, events, err)
	require.Equal(t, merchant, events[0].Payee)
	return named
}
