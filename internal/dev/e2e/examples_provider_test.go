package e2e_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

const (
	ownKey    = "key_of_the_shops_own_provider"
	ownSecret = "whsec_b3duLXByb3ZpZGVyLW93bi1wcm92aWRlci1vd24="
)

// ownProvider is a program of examples.
type ownProvider struct {
	*process

	program, address, file, hooks string
}

func newOwnProvider(t *testing.T, example, hooks string) *ownProvider {
	t.Helper()
	dir := t.TempDir()
	p := &ownProvider{program: filepath.Join(dir, "provider"), address: testdb.Address(t), file: filepath.Join(dir, "state.json"), hooks: hooks}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.program, "github.com/paylatch/paylatch/examples/"+example).CombinedOutput()
	require.NoError(t, err, "%s", out)
	p.launch(t)
	return p
}

// launch starts it, for the first time or after it was killed.
func (p *ownProvider) launch(t *testing.T) {
	t.Helper()
	p.process = startOf(t, p.program, t.TempDir(), []string{
		"PROVIDER_LISTEN=" + p.address, "PROVIDER_API_KEY=" + ownKey, "PROVIDER_FILE=" + p.file,
		"PROVIDER_WEBHOOK_URL=" + p.hooks, "PROVIDER_WEBHOOK_SECRET=" + ownSecret,
	})
	eventually(t, "the provider takes calls", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// conform runs the checks of paylatch conformance.
func (p *ownProvider) conform(t *testing.T, args ...string) (printed string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"conformance", "--url", "http://" + p.address, "--token-redirect="}, args...)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestExamplesSmallProvider checks the provider of examples/provider-small from outside: it passes without webhooks.
func TestExamplesSmallProvider(t *testing.T) {
	t.Parallel()
	p := newOwnProvider(t, "provider-small", "")
	printed, code := p.conform(t, "--api-key", ownKey)
	require.Zero(t, code, printed)
	for _, name := range []string{"wrong credential", "decline", "same key at once", "same key, another body", "lookup by reference", "capabilities: with nothing more; without holds, refunds"} {
		require.Contains(t, "\n"+printed, "\nok       "+name+"\n")
	}
	require.Contains(t, printed, " 0 failed, ")

	printed, code = p.conform(t, "--api-key", "another")
	require.Equal(t, 1, code, printed)
}

// TestExamplesProvider checks the provider of examples/provider from outside, with the commands of its page.
func TestExamplesProvider(t *testing.T) {
	t.Parallel()
	hooks := testdb.Address(t)
	p := newOwnProvider(t, "provider", "http://"+hooks)
	printed, code := p.conform(t, "--api-key", ownKey, "--listen", hooks, "--webhook-secret", ownSecret)
	require.Zero(t, code, printed)
	require.Contains(t, printed, "\nok       webhook again\n")
	require.Contains(t, printed, "\nok       capabilities: with refunds; without holds\n")
	require.Contains(t, printed, " 0 failed, ")

	printed, code = p.conform(t, "--api-key", "another")
	require.Equal(t, 1, code, printed)
	require.Contains(t, printed, "failed   charge\n")
}

// TestExamplesProviderIsPaidBy has a customer pay by an account of the kind standard. The answer to the charge is lost, and the provider is
// killed before its webhook was received: once it runs again that ends the payment, which was charged once.
func TestExamplesProviderIsPaidBy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hooks := faults.NewHTTP(t, "")
	hooks.Break(faults.Answer(http.StatusServiceUnavailable, ""))
	p := newOwnProvider(t, "provider", hooks.URL+"/webhooks/own")
	gate := faults.NewHTTP(t, "http://"+p.address)
	gate.Break(faults.When(faults.First(faults.Commands), faults.Lose))
	accounts, err := json.Marshal([]map[string]any{{
		"name": "own", "kind": "standard", "base_url": gate.URL, "api_key": ownKey, "webhook_secrets": []string{ownSecret},
	}})
	require.NoError(t, err)
	service := r.serve("PAYLATCH_ACCOUNTS="+string(accounts), "PAYLATCH_DEFAULT_ACCOUNT=own", "PAYLATCH_RECONCILE_AFTER=10h")
	hooks.Lead(service.base)
	c := service.customer()
	made := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	require.Equal(t, "pending", made.Status)

	p.kill()
	hooks.Mend()
	p.launch(t)
	eventually(t, "the webhook has ended the payment", func() bool { return c.read(t.Context(), made.ID).peek().Status == "succeeded" })
	require.Equal(t, int64(1), gate.Count(charges), "the charge was sent once")
	require.Equal(t, []string{"charge.succeeded applied"}, column[string](t, r, `SELECT event_type || ' ' || verdict FROM provider_events WHERE account = 'own'`))
	shown := client{base: "http://" + p.address, token: ownKey}.send(t.Context(), http.MethodGet, "/v1/charges?reference="+made.ID, "")
	shown.is(t, http.StatusOK)
	var list struct {
		Items []map[string]any `json:"items"`
	}
	require.NoError(t, json.Unmarshal(shown.text, &list))
	require.Len(t, list.Items, 1, "%s", shown.text)

	a := c.backend().send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+made.ID+"/refunds", `{"amount":500}`, "Idempotency-Key: "+unique("refund"))
	a.is(t, http.StatusCreated)
	require.Contains(t, string(a.text), `"succeeded"`)
	r.verifies(t)
}
