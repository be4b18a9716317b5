package paypal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func TestStored(t *testing.T) {
	t.Parallel()
	of := func(event, resource string) string {
		return `{"id":"WH-1","event_type":"VAULT.PAYMENT-TOKEN.` + event + `","create_time":"2026-03-14T15:09:20.000Z","resource":` + resource + `}`
	}
	v := newVerifier(t)
	providertest.Stored(t, v, map[string]string{
		of("DELETED", `{"id":"8kk8451t"}`):            "method_removed: paypal:8kk8451t card:8kk8451t",
		of("DELETION-INITIATED", `{"id":"8kk8451t"}`): "ignored:",
		of("CREATED", `{"id":"8kk8451t"}`):            "ignored:",
	})
	require.True(t, providertest.Parsed(t, v, of("DELETED", `{"id":"8kk8451t"}`)).NeedsFetch, "of the body only a checksum is signed")
	providertest.RequireUnreadable(t, v, providertest.Signed(t, v, of("DELETED", `{}`)))
}
