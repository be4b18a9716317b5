package square_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/square"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"APPROVED", "COMPLETED"} {
		providertest.BegunElsewhere(t, newVerifier(t), square.About().Reference, func(text string, _ map[string]string) string {
			return squareBody("payment.updated", "payment",
				strings.Replace(squarePaymentMembers, "att_1", text, 1)+`,"status":"`+status+`"`)
		})
	}
}
