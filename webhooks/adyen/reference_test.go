package adyen_test

import (
	"fmt"
	"testing"

	"github.com/paylatch/paylatch/webhooks/adyen"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), adyen.About().Reference, func(text string, _ map[string]string) string {
		return adyenBody(adyenItem("AUTHORISATION", "true", fmt.Sprintf(`,"merchantReference":%q`, text)))
	})
}
