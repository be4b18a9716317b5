package standard_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/standard"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), standard.About().Reference, func(text string, _ map[string]string) string {
		return strings.Replace(chargeSucceeded, "att_1", text, 1)
	})
}
