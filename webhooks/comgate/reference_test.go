package comgate_test

import (
	"strings"
	"testing"

	"github.com/paylatch/paylatch/webhooks/comgate"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), comgate.About().Reference, func(text string, _ map[string]string) string {
		return strings.Replace(comgateForm, "att_1", text, 1) + "status=PAID"
	})
}
