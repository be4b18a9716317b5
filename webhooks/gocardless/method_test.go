package gocardless_test

import (
	"testing"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	of := func(action string) string {
		return gocardlessBody(gocardlessItem("EV1", "mandates", action, `,"links":{"mandate":"MD1","organisation":"OR1"}`))
	}
	bodies := map[string]string{
		of("reinstated"):  "method_updated: MD1 restored",
		of("resumed"):     "method_updated: MD1 restored",
		of("transferred"): "method_updated: MD1",
	}
	for _, action := range []string{"cancelled", "failed", "expired", "replaced", "consumed", "blocked", "suspended_by_payer"} {
		bodies[of(action)] = "method_removed: MD1"
	}
	for _, action := range []string{"created", "submitted", "active", "customer_approval_granted", "customer_approval_skipped", "resubmission_requested", "new"} {
		bodies[of(action)] = "ignored:"
	}
	v := newVerifier(t)
	providertest.Stored(t, v, bodies)
	providertest.RequireUnreadable(t, v, providertest.Signed(t, v, gocardlessBody(gocardlessItem("EV1", "mandates", "cancelled", `,"links":{}`))))
}
