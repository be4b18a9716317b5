package standard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	box "github.com/paylatch/paylatch/internal/provider/sandbox"
	client "github.com/paylatch/paylatch/internal/provider/standard"
)

// TestConformance checks each request of the adapter and each response of the sandbox against the contract's
// description.
func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.RunDescribed(t, suite(), providertest.Document{File: contract(t), Paths: "/v1/"})
}

// contract returns the path of the contract's description.
func contract(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "api", "standard-provider.yaml"))
	require.NoError(t, err)
	require.FileExists(t, path)
	return path
}

func TestCarries(t *testing.T) {
	t.Parallel()
	for kind, a := range map[string]kit.Adapter{"standard": client.Adapter(), "sandbox": box.Adapter()} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			providertest.Carries(t, suite(), a,
				func(c *gateway.Charge) { c.Token, c.Save = "tok_success", true },
				func(c *gateway.Charge) {
					c.Token, c.Stored, c.Unattended = "card_00000000000000000000000000000000", true, true
				},
			)
		})
	}
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client.New(base, apiKey, c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			s, err := sandbox.New(sandbox.Options{APIKey: apiKey})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			return s
		},
		Tokens: providertest.Tokens{Success: "tok_success", Decline: "tok_decline", Redirect: "tok_redirect", None: "tok_nobody"},
		Stored: providertest.Stored{
			Owner: "c-7", Forms: []string{"card_00000000000000000000000000000000"},
			Save: func(t *testing.T, p gateway.Provider) string {
				t.Helper()
				ch := charge("tok_save")
				ch.Customer.Reference = "c-7"
				o, err := p.Charge(t.Context(), ch)
				require.NoError(t, err)
				require.NotNil(t, o.Saved)
				return o.Saved.Token
			},
		},
		Step:      providertest.Step{Token: "tok_3ds_form", Customer: approve},
		Charges:   []string{"tok_redirect", "tok_3ds_form"},
		Declined:  fsm.EventFailed,
		NoPayment: "ch_00000000000000000000000000000000",
		NoRefund:  "re_00000000000000000000000000000000",
	}
}

// approve approves as the customer on the sandbox's page, and returns the page's result.
func approve(t *testing.T, fake http.Handler, id string) json.RawMessage {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pay/"+id, strings.NewReader("decision=approve"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	fake.ServeHTTP(w, r)
	back, err := w.Result().Location()
	require.NoError(t, err)
	details, err := json.Marshal(map[string]string{"sandbox_result": back.Query().Get("sandbox_result")})
	require.NoError(t, err)
	return details
}
