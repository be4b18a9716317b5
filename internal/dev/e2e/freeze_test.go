package e2e_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// TestFrozenDuringAPay freezes a service between its two commits until its lease is over and another service has taken the
// attempt over and ended it. When the first service thaws, it charges no customer and changes no state.
func TestFrozenDuringAPay(t *testing.T) {
	t.Parallel()
	idle := []string{"PAYLATCH_RECONCILE_EVERY=1h", "PAYLATCH_IDEMPOTENCY_LEASE=21s", "PAYLATCH_PROVIDER_TIMEOUT=20s"}
	for name, at := range map[string]point{
		"before the provider got it": beforeTheProvider,
		"after it charged":           afterTheCharge,
		"before it was sent":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hooks.shut()
			var first *service
			var u underway
			goOn := func() {}
			if at != nil {
				first = r.serve(idle...)
				u, goOn = at(t, r, first)
			} else {
				// A client that begins TLS with a frozen server waits before the first byte of its request.
				way := faults.NewTCP(t, "tcp", strings.TrimPrefix(r.sandbox, "http://"))
				way.Freeze()
				first = r.serveAt("https://"+way.Address(), idle...)
				u = first.customer().begin(t)
				eventually(t, "a connection", func() bool { return way.Open() > 0 })
			}
			first.signal(syscall.SIGSTOP)

			second := r.serveAt(r.sandbox, idle...)
			c := second.customer()
			taken := c.pay(t.Context(), u.order, u.key, "tok_success")
			a := taken.attempt(t, http.StatusCreated)
			require.Equal(t, "succeeded", a.Status)
			require.Equal(t, "reused", taken.header.Get("Idempotency-Result"))
			r.charged(t, a.ID, 1999)

			first.signal(syscall.SIGCONT)
			goOn()
			late := (<-u.answer).attempt(t, http.StatusCreated)
			require.Equal(t, a.ID, late.ID)
			require.Equal(t, "succeeded", late.Status)
			require.Equal(t, a.Version, late.Version)
			r.charged(t, a.ID, 1999)
			end := c.read(t.Context(), a.ID).attempt(t, http.StatusOK)
			require.Equal(t, a.Version, end.Version)
			r.told(t, end)
			require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
			require.Len(t, r.movements(t), 1)
		})
	}
}
