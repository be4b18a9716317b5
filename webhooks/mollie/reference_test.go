package mollie_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/mollie"
)

// TestBegunElsewhere is of an event with its payload. A classic notice has an id alone: the metadata are found by a lookup.
func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), mollie.About().Reference, func(_ string, metadata map[string]string) string {
		return mollieBody("payment.paid", "tr_1",
			`"amount":{"value":"19.99","currency":"EUR"},"metadata":`+providertest.JSON(metadata))
	})
}
