package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

const (
	rotatedSecret = "whsec_cm90YXRlZHJvdGF0ZWRyb3RhdGVkcm90YXRlZHJvdA=="
	readAgain     = "the configuration was reloaded. New and changed accounts are in use"
	notReadAgain  = "the configuration was not reloaded, because it has errors. The accounts do not change"
)

// reload makes the service read its configuration again with some texts in it replaced, and waits for its log line.
func (s *service) reload(t *testing.T, logs string, replaced ...string) {
	t.Helper()
	s.reconfigure(t, replaced...)
	count := func() (n int) {
		for _, e := range s.stderr.entries() {
			if e.Message == logs {
				n++
			}
		}
		return n
	}
	const late = "send SIGHUP again" // a provider did not respond in time
	before, refused := count(), strings.Count(s.stderr.String(), late)
	s.signal(syscall.SIGHUP)
	eventually(t, logs, func() bool {
		if n := strings.Count(s.stderr.String(), late); logs == readAgain && n > refused {
			refused = n
			s.signal(syscall.SIGHUP)
		}
		return count() > before
	})
}

// reconfigure replaces texts in the configuration of the service, which does not read it yet.
func (s *service) reconfigure(t *testing.T, replaced ...string) {
	t.Helper()
	file := s.cmd.Args[slices.Index(s.cmd.Args, "--config")+1]
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.NewReplacer(replaced...).Replace(string(text))
	require.NotEqual(t, string(text), changed)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
}

// unfailing requires that no request of a load was refused, except because PostgreSQL was too busy to respond in time.
func (l *load) unfailing(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, n := range l.seen {
		require.NotContains(t, strings.TrimSuffix(kind, " 503 storage-unavailable"), " 5", "%d times", n)
		require.NotContains(t, kind, " 401", "%d times", n)
	}
}

// TestReloadUnderLoad rotates a webhook secret and adds an account while others pay and send webhooks. No request fails, and a call to
// a provider that was under way ends as it would have.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	held := r.hold(t, (*faults.Hold).After)
	slow := s.customer().begin(t)
	await(t, held)
	old := newLoad(t, s)
	old.run(t, 4)
	eventually(t, "some load", func() bool { return old.counts() > 100 })

	second := fmt.Sprintf("  - {name: second, kind: sandbox, base_url: %q, webhook_secrets: [%s], offered: true}\nidempotency:", r.gate.URL, sandboxSecret)
	s.reload(t, readAgain, "["+partnerSecret+"]", "["+rotatedSecret+", "+partnerSecret+"]", "breaker: {failures: 0}}", "breaker: {failures: 0}, late_success: auto_refund}", "idempotency:", second)
	rotated := newLoad(t, s)
	signer, err := all.New("standard", webhooks.Config{Secrets: []string{rotatedSecret}})
	require.NoError(t, err)
	rotated.partner = signer.(webhooks.Signer)
	rotated.run(t, 4)
	before := old.counts()
	eventually(t, "load by both secrets", func() bool { return rotated.counts() > 100 && old.counts() > before+100 })
	held.Free()
	require.Equal(t, "succeeded", (<-slow.answer).attempt(t, http.StatusCreated).Status)
	require.Len(t, r.ledger(t, (<-paidBySecond(t, s)).attempt(t, http.StatusCreated).ID), 1)
	old.stop()

	s.reload(t, readAgain, rotatedSecret+", "+partnerSecret, rotatedSecret)
	refused := served(t.Context(), func() answer {
		return s.deliverOnce(t.Context(), "partner", old.partner, chargeSucceeded(unique("evt"), unique("ch"), unique("of")), "Webhook-Id: "+unique("evt"))
	})
	refused.problem(t, http.StatusUnauthorized, "webhook-signature-invalid")
	s.reload(t, notReadAgain, "kind: standard", "kind: nothing", "listen:", "lisen:")
	before = rotated.counts()
	eventually(t, "load by the rotated secret", func() bool { return rotated.counts() > before+100 })
	rotated.stop()

	old.unfailing(t)
	rotated.unfailing(t)
	old.kept(t, r)
	rotated.kept(t, r)
	require.NotContains(t, s.stderr.String(), rotatedSecret)
	require.NotContains(t, s.stderr.String(), "take effect only at the next start", "accounts alone have changed")
}

// paidBySecond pays by the account that was added.
func paidBySecond(t *testing.T, s *service) <-chan answer {
	t.Helper()
	c, got := s.customer(), make(chan answer, 1)
	got <- c.send(t.Context(), http.MethodPost, "/v1/orders/"+c.order(t)+"/pay", `{"account":"second","payment_method":{"token":"tok_success"}}`, "Idempotency-Key: "+unique("pay"))
	return got
}

// TestPausedAccount pauses the pays of an account, then its webhooks. Payments that have begun go on, and nothing is lost.
func TestPausedAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve(leftAlone)
	c := s.customer()
	r.hooks.shut()
	begun := c.pay(t.Context(), c.order(t), unique("pay"), "tok_async_success").attempt(t, http.StatusCreated)

	s.reload(t, readAgain, "kind: sandbox,", "kind: sandbox, enabled: webhooks,")
	order, key := c.order(t), unique("pay")
	blunt := s.bluntly(c.token)
	paused := served(t.Context(), func() answer { return blunt.pay(t.Context(), order, key, "tok_success") })
	paused.problem(t, http.StatusServiceUnavailable, "account-paused")
	r.hooks.Mend()
	require.Equal(t, "succeeded", c.settled(t, begun.ID).Status, "its webhooks go on")

	s.reload(t, readAgain, "enabled: webhooks", "enabled: pays")
	paid := served(t.Context(), func() answer { return blunt.pay(t.Context(), order, key, "tok_async_success") })
	waits := paid.attempt(t, http.StatusCreated)
	box, err := all.New("sandbox", webhooks.Config{Secrets: []string{sandboxSecret}})
	require.NoError(t, err)
	served(t.Context(), func() answer {
		return s.deliverOnce(t.Context(), "sandbox", box.(webhooks.Signer), chargeSucceeded(unique("evt"), unique("ch"), unique("of")), "Webhook-Id: "+unique("evt"))
	}).problem(t, http.StatusServiceUnavailable, "webhooks-paused")
	s.reload(t, readAgain, "enabled: pays", "enabled: all")
	require.Equal(t, "succeeded", c.settled(t, waits.ID).Status, "its provider has delivered again")
	r.consistent(t)
}
