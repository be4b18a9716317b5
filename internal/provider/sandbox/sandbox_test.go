package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/internal/provider/standard"
)

var _ gateway.Provider = (*sandbox.Client)(nil)

// TestCapabilities: the capabilities are those of the contract, with keys that are never deleted and several captures of
// a hold.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	got, contract := sandbox.New("http://127.0.0.1:1", "", nil).Capabilities(), standard.New("http://127.0.0.1:1", "", nil).Capabilities()
	require.Greater(t, got.KeyLife, 300*24*time.Hour)
	require.Equal(t, payment.CapturesSeveral, got.Captures)
	got.KeyLife, got.Captures = contract.KeyLife, contract.Captures
	require.Equal(t, contract, got)
}

// TestAccepts: a token that needs an address is refused without an address, before anything is sent.
func TestAccepts(t *testing.T) {
	t.Parallel()
	c := sandbox.New("http://127.0.0.1:1", "", nil)
	without := gateway.Charge{Details: gateway.Details{Token: "tok_billing"}}
	var invalid *payment.ValidationError
	require.ErrorAs(t, c.Accepts(without), &invalid)
	require.Equal(t, "customer.billing_address", invalid.Fields[0].Field)
	without.Customer.Billing = &gateway.Address{Line1: "Street 1"}
	require.NoError(t, c.Accepts(without))
	require.NoError(t, c.Accepts(gateway.Charge{Details: gateway.Details{Token: "tok_success"}}))
}

// TestAPIKey: an account at the sandbox may have a key, but needs none.
func TestAPIKey(t *testing.T) {
	t.Parallel()
	headers := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header.Get("Authorization")
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	for key, want := range map[string]string{"": "", "k": "Bearer k"} {
		p, err := sandbox.Adapter().New(kit.Settings{BaseURL: server.URL, Client: server.Client(), Params: map[string]string{"api_key": key}})
		require.NoError(t, err)
		_, err = p.Lookup(t.Context(), "ch_1")
		require.Error(t, err)
		require.Equal(t, want, <-headers)
	}
	for _, key := range sandbox.Adapter().Keys {
		require.Equal(t, key.Name == "api_key", key.Optional, key.Name)
	}
}
