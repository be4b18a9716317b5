package robokassa_test

import (
	"net/url"
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/robokassa"
)

func TestBegunElsewhere(t *testing.T) {
	t.Parallel()
	providertest.BegunElsewhere(t, newVerifier(t), robokassa.About().Reference, func(_ string, metadata map[string]string) string {
		form := url.Values{"OutSum": {"19.990000"}, "InvId": {"58"}}
		for name, value := range metadata {
			form.Set(name, value)
		}
		return form.Encode()
	})
}
