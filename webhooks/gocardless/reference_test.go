package gocardless_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/gocardless"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"created", "confirmed"} {
		providertest.BegunElsewhere(t, newVerifier(t), gocardless.About().Reference, func(_ string, metadata map[string]string) string {
			return gocardlessBody(gocardlessItem("EV1", "payments", action,
				gocardlessPayment+`,"resource_metadata":`+providertest.JSON(metadata)))
		})
	}
}
