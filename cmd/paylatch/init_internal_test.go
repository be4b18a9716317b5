package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// TestTryRefusesRealMoney: of each kind, init --try makes no payment with a configuration of an account that may move real money, though its
// environment is test.
func TestTryRefusesRealMoney(t *testing.T) {
	t.Parallel()
	for kind, k := range provider.Kinds() {
		if kind == "sandbox" {
			continue // it moves none
		}
		a := config.NewAccount("a", kind)
		a.BaseURL, a.Fields, a.WebhookSecrets = "https://pay.example", map[string]config.Secret{}, []config.Secret{"secret"}
		for _, key := range k.Calls {
			a.Fields[key] = "sk_live_51Secret"
		}
		cfg := &config.Config{Environment: config.Test, DefaultAccount: "a", Accounts: []config.Account{a}}
		require.True(t, a.CanCharge(), kind)
		_, err := (&initCmd{}).payment(&app{}, cfg, "paylatch.yaml")
		require.ErrorAs(t, err, new(config.ValidationErrors), kind)
		require.ErrorContains(t, err, "only in a provider's test mode", kind)
		require.NotContains(t, err.Error(), "51Secret", kind)
	}
}

// TestTryAtASlowService: a service that accepts connections is running, however long it needs to respond.
func TestTryAtASlowService(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		responds, patience time.Duration
		want               error
	}{
		"slow":   {responds: 4 * time.Second, patience: time.Minute},
		"silent": {responds: time.Minute, patience: 100 * time.Millisecond, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(tc.responds):
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(service.Close)
			ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
			defer cancel()
			var out strings.Builder
			called := ""
			err := new(initCmd).withService(ctx, &app{stdout: &out, stderr: &out}, &config.Config{Listen: service.Listener.Addr().String(), DataDir: t.TempDir()}, func(_, how string) error {
				called = how
				return nil
			})
			require.ErrorIs(t, err, tc.want)
			require.Empty(t, out.String(), "it started another service")
			require.Equal(t, tc.want == nil, called == running)
		})
	}
}

// TestListenByTLS: the default address of the API is https if the service has TLS.
func TestListenByTLS(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		environ []string
		want    string
	}{
		{nil, "http://127.0.0.1:8443"},
		{[]string{"PAYLATCH_TLS_CERT_FILE=missing.pem", "PAYLATCH_TLS_KEY_FILE=missing.pem"}, "https://127.0.0.1:8443"},
	} {
		c := listenCmd{Token: "token"}
		_, err := c.complete(&app{environ: append(tc.environ, "PAYLATCH_LISTEN=:8443"), cell: -1})
		require.Equal(t, tc.environ != nil, err != nil, "%v", err) // the certificate is missing
		require.Equal(t, tc.want, c.API)
	}
}
