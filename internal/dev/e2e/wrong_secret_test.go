package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// wrongly is a period with a wrong secret: only webhooks report the results of its payments.
type wrongly struct {
	*rig
	*service

	attempts []string
}

// withSecret configures the account at the sandbox with a secret.
func (r *rig) withSecret(secret string) string {
	return "PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: '" + r.gate.URL + "', webhook_secrets: [" + secret + "], breaker: {failures: 0}}]"
}

// payWrongly makes payments whose webhooks are all rejected.
func payWrongly(t *testing.T, payments int) *wrongly {
	t.Helper()
	r := newRig(t)
	w := &wrongly{rig: r, service: r.serve(r.withSecret(partnerSecret), leftAlone), attempts: make([]string, payments)}
	c := w.customer()
	var all sync.WaitGroup
	for lane := range 8 {
		all.Go(func() {
			for i := lane; i < payments; i += 8 {
				order := unique("o")
				c.createOrder(t.Context(), order, unique("key"))
				w.attempts[i] = c.pay(t.Context(), order, unique("pay"), "tok_async_success").peek().ID
			}
		})
	}
	all.Wait()
	for _, id := range w.attempts {
		require.NotEmpty(t, id)
	}
	eventually(t, "a rejected webhook of each payment", func() bool {
		events, _ := r.hooks.rejected()
		return events >= payments
	})
	require.Empty(t, r.hooks.acknowledged())
	r.hooks.shut() // the provider has given up
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM payment_attempts WHERE status <> 'pending'`))
	return w
}

// succeed requires that each payment counts once, and that one event reports its end.
func (w *wrongly) succeed(t *testing.T) {
	t.Helper()
	c := w.customer()
	for _, id := range w.attempts {
		a := c.settled(t, id)
		require.Equal(t, "succeeded", a.Status)
		require.Equal(t, int64(1999), a.AmountCaptured)
		w.told(t, a)
	}
	require.Equal(t, len(w.attempts), one[int](t, w.rig, `SELECT count(*) FROM money_movements WHERE kind = 'capture'`))
	require.Empty(t, column[string](t, w.rig, `SELECT kind FROM discrepancies`))
	w.verifies(t)
}

// TestAWrongSecret has webhooks rejected by a wrong secret. The process is killed and comes back with the right one: each
// of them counts, also if the provider sends them again.
func TestAWrongSecret(t *testing.T) {
	t.Parallel()
	w := payWrongly(t, 30)
	eventually(t, "all of them on disk", func() bool {
		_, deliveries := w.hooks.rejected()
		// A delivery whose response came too late for the provider is on disk, too.
		return one[int](t, w.rig, `SELECT count(*) FROM rejected_deliveries`) >= deliveries
	})
	require.Zero(t, one[int](t, w.rig, `SELECT count(*) FROM rejected_deliveries WHERE position('charge' IN encode(sealed, 'escape')) > 0`))
	w.kill()

	w.service = w.serve(w.withSecret(sandboxSecret), leftAlone)
	w.hooks.shut()
	w.succeed(t)
	eventually(t, "what was taken in to be deleted", func() bool { return one[int](t, w.rig, `SELECT count(*) FROM rejected_deliveries`) == 0 })
	recovered := one[int](t, w.rig, `SELECT count(*) FROM provider_events WHERE taken = 'verified-again'`)
	require.GreaterOrEqual(t, recovered, len(w.attempts))
	require.Contains(t, string(client{base: w.base}.send(t.Context(), http.MethodGet, "/metrics", "").text), `paylatch_rejected_deliveries_recovered_total{account="sandbox"}`)
	course := w.as(token("sam", "support")).send(t.Context(), http.MethodGet, "/v1/support/attempts/"+w.attempts[0], "")
	require.Contains(t, string(course.text), "paylatch verified it again after the secrets changed")

	w.hooks.Mend()
	eventually(t, "the provider's next tries", func() bool { return len(w.hooks.acknowledged()) >= len(w.attempts) })
	w.succeed(t)
	require.Equal(t, recovered, one[int](t, w.rig, `SELECT count(*) FROM provider_events`), "they are duplicates")
}

// TestAWrongSecretForLong has more webhooks rejected than are kept. The provider's list has the payments that the repeated
// verification does not bring. A backfill that is killed is run again.
func TestAWrongSecretForLong(t *testing.T) {
	t.Parallel()
	w := payWrongly(t, 1100)
	if got := (client{base: w.sandbox}).send(t.Context(), http.MethodGet, "/v1/events?from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", ""); got.status == http.StatusNotFound {
		t.Skip("this sandbox lists no events")
	}
	kept := one[int](t, w.rig, `SELECT count(*) FROM rejected_deliveries`)
	require.Less(t, kept, 1001)
	code, _ := w.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	w.service = w.serve(w.withSecret(sandboxSecret), leftAlone)
	w.hooks.shut()

	dir := t.TempDir()
	file := filepath.Join(dir, "paylatch.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, settings, w.dsn, dir, secret, w.sandbox, sandboxSecret, stripeSecret, partnerSecret), 0o600))
	run := func() *process {
		return start(t, dir, nil, "backfill", "--config", file, "--account", "sandbox", "--since", "1h")
	}
	p := run()
	eventually(t, "the first of it", func() bool {
		return one[bool](t, w.rig, `SELECT EXISTS (SELECT FROM provider_events WHERE taken = 'backfill')`)
	})
	p.kill()
	p = run()
	within(t, "the backfill", p.done)
	require.Zero(t, p.cmd.ProcessState.ExitCode(), p.stderr)
	require.Contains(t, p.stdout.String(), "applied")
	w.succeed(t)
	p = run()
	within(t, "the backfill", p.done)
	sum := strings.TrimSpace(p.stdout.String())
	require.Regexp(t, `^\d+ events: \d+ duplicate$`, sum)
	t.Logf("%d were kept; %s", kept, sum)
}
