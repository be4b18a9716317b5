package yookassa_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/yookassa"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"payment.waiting_for_capture", "payment.succeeded"} {
		providertest.BegunElsewhere(t, newVerifier(t), yookassa.About().Reference, func(_ string, metadata map[string]string) string {
			return yookassaBody(name, `,"metadata":`+providertest.JSON(metadata))
		})
	}
}
