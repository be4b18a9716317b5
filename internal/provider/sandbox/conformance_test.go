package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	client "github.com/paylatch/paylatch/internal/provider/sandbox"
	"github.com/paylatch/paylatch/internal/sandbox"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, suite())
}

func TestCarries(t *testing.T) {
	t.Parallel()
	providertest.Carries(t, suite(), client.Adapter(),
		func(c *gateway.Charge) { c.Token, c.Save = "tok_success", true },
		func(c *gateway.Charge) {
			c.Token, c.Stored, c.Unattended = "card_00000000000000000000000000000000", true, true
		},
	)
}

func suite() providertest.Suite {
	return providertest.Suite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client.New(base, c) },
		Fake: func(t *testing.T) http.Handler {
			t.Helper()
			s, err := sandbox.New(sandbox.Options{})
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
		Declined:  fsm.NewsFailed,
		NoPayment: "ch_00000000000000000000000000000000",
		NoRefund:  "re_00000000000000000000000000000000",
	}
}

// approve is a customer who agrees on the sandbox's page, and what it gives back.
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
