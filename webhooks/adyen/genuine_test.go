package adyen_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func FuzzGenuine(f *testing.F) {
	providertest.Genuine(f, "adyen", newVerifier(f), true,
		adyenBody(adyenItem("AUTHORISATION", "true", ""), adyenItem("REFUND", "false", "")),
		`{"type":"x","eventId":"E1","data":{"a":{"id":"b"}}}`,
	)
}
