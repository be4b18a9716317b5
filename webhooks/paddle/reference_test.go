package paddle_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paddle"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"transaction.paid", "transaction.completed"} {
		providertest.BegunElsewhere(t, newVerifier(t), paddle.About().Reference, func(_ string, metadata map[string]string) string {
			return strings.Replace(paddleBody(name, paddleTransaction),
				`{"payment_attempt_id":"att_1"}`, providertest.JSON(metadata), 1)
		})
	}
}
