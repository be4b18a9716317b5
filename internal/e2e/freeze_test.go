package e2e_test

import (
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// mute accepts connections and says nothing: whoever wants to speak TLS with it
// waits with the first byte of its request.
func mute(t *testing.T) (address string, accepted <-chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conns := make(chan net.Conn, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return "https://" + l.Addr().String(), conns
}

// TestFrozenDuringAPay freezes a service between its two commits until its lease
// is over and another has taken the attempt over and ended it. What the first
// does when it thaws charges nobody and moves nothing.
func TestFrozenDuringAPay(t *testing.T) {
	t.Parallel()
	lease := []string{"PAYLATCH_IDEMPOTENCY_LEASE=5s", "PAYLATCH_PROVIDER_TIMEOUT=4s"}
	for name, at := range map[string]point{
		"before the provider got it": beforeTheProvider,
		"after it charged":           afterTheCharge,
		"before it was sent":         nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hooks.closed.Store(true)
			var first *service
			var u underway
			goOn := func() {}
			if at != nil {
				first = r.serve(append(lease, "PAYLATCH_RECONCILE_EVERY=1h")...)
				u, goOn = at(t, r, first)
			} else {
				silent, accepted := mute(t)
				first = r.serveAt(silent, append(lease, "PAYLATCH_RECONCILE_EVERY=1h")...)
				u = first.customer().begin(t)
				conn := within(t, "a connection", accepted)
				defer conn.Close()
			}
			first.signal(syscall.SIGSTOP)

			second := r.serveAt(r.sandbox, append(lease, "PAYLATCH_RECONCILE_EVERY=1h")...)
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
