package square_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	of := func(event, members string) string {
		return squareBody("card."+event, "card", `"id":"ccof:1","card_brand":"VISA","last_4":"1111","exp_month":11,"exp_year":2032`+members)
	}
	const card = "ccof:1 card VISA •••• 1111 2032-11"
	v := newVerifier(t)
	providertest.Stored(t, v, map[string]string{
		of("updated", `,"enabled":true`):                                    "method_updated: " + card,
		of("updated", `,"enabled":false`):                                   "method_removed: " + card,
		of("automatically_updated", ``):                                     "method_updated: " + card,
		of("disabled", `,"enabled":true`):                                   "method_removed: " + card,
		of("created", ``):                                                   "ignored:",
		squareBody("card.forgotten", "card", `"id":"ccof:1"`):               "method_removed: ccof:1 card",
		squareBody("card.updated", "card", `"id":"ccof:1","exp_month":"x"`): "method_updated: ccof:1 card",
	})
	providertest.RequireUnreadable(t, v, providertest.Signed(t, v, squareBody("card.disabled", "card", `"enabled":false`)))
}
