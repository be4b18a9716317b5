package lemonsqueezy_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/lemonsqueezy"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), lemonsqueezy.About().Reference, func(_ string, metadata map[string]string) string {
		return strings.Replace(lemonBody("order_created", `,"status":"paid"`),
			`{"payment_attempt_id":"att_1"}`, providertest.JSON(metadata), 1)
	})
}
