package tbank_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/tbank"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"AUTHORIZED", "CONFIRMED"} {
		providertest.BegunElsewhere(t, newVerifier(t), tbank.About().Reference, func(text string, _ map[string]string) string {
			return strings.Replace(tbankBody(status, ""), "att_1", text, 1)
		})
	}
}
