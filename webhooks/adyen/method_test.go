package adyen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	token := func(kind string) string {
		return `{"createdAt":"2026-07-14T18:10:49+01:00","environment":"test","type":"recurring.token.` + kind + `","eventId":"QBQQ9DLNRHHKGK38","data":{` +
			`"merchantAccount":"Shop","storedPaymentMethodId":"M5N7TQ4TG5PFWR50","type":"visa","operation":"x","shopperReference":"u1"}}`
	}
	const original = `,"originalReference":"PSP0"`
	providertest.Stored(t, newVerifier(t), map[string]string{
		token("updated"):         "method_updated: M5N7TQ4TG5PFWR50",
		token("disabled"):        "method_removed: M5N7TQ4TG5PFWR50",
		token("created"):         "ignored:",
		token("alreadyExisting"): "ignored:",

		adyenBody(adyenItem("AUTHORISATION", "true", `,"additionalData":{"fraudManualReview":"true"}`)):  "authorized: review open of PSP1",
		adyenBody(adyenItem("AUTHORISATION", "true", `,"additionalData":{"fraudManualReview":"false"}`)): "authorized:",
		adyenBody(adyenItem("AUTHORISATION", "false", `,"additionalData":{"fraudManualReview":"true"}`)): "failed:",
		adyenBody(adyenItem("MANUAL_REVIEW_ACCEPT", "true", original)):                                   "review: review approved of PSP0",
		adyenBody(adyenItem("MANUAL_REVIEW_REJECT", "true", original)):                                   "review: review declined of PSP0",
		adyenBody(adyenItem("MANUAL_REVIEW_ACCEPT", "false", original)):                                  "ignored:",
		adyenBody(adyenItem("MANUAL_REVIEW_REJECT", "maybe", original)):                                  "ignored:",
	})
	updated, disabled := providertest.Parsed(t, newVerifier(t), token("updated")), providertest.Parsed(t, newVerifier(t), token("disabled"))
	require.NotEqual(t, updated.ID, disabled.ID, "an eventId may be a payment's, and come with both")
	require.Equal(t, webhooks.Derived, updated.IDSource)
	require.Equal(t, "Shop", updated.Payee)
	providertest.RequireUnreadable(t, newVerifier(t), providertest.Signed(t, newVerifier(t), `{"type":"recurring.token.disabled","eventId":"E1","data":{}}`))
}
