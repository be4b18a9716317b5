package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
)

// TestListen forwards events to a program on this machine as an endpoint gets them: signed, oldest first, and without events
// from before its start.
func TestListen(t *testing.T) {
	t.Parallel()
	const signedWith = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	r := newRig(t)
	s := r.serve()
	shop := s.customer()
	before := shop.order(t)
	require.Equal(t, 201, shop.pay(t.Context(), before, "key-before", "tok_success").status)
	eventually(t, "the events of before have positions", func() bool { return one[int](t, r, "SELECT last FROM outbox_head") == 2 })

	got := make(chan goclient.Event, 10)
	var refusals atomic.Int32
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		e, err := goclient.ParseEvent([]string{signedWith}, q.Header, body)
		if err != nil {
			t.Error(err)
		}
		got <- e
		if refusals.Add(1) == 1 {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(program.Close)
	p := start(t, t.TempDir(), []string{"PAYLATCH_TOKEN=" + token("laptop", "service")}, "listen", "--api", s.base, "--forward-to", program.URL, "--secret", signedWith,
		"--types", "payment_attempt.succeeded,order.paid")
	eventually(t, "it listens", func() bool { return p.stdout.String() != "" })
	after := shop.order(t)
	require.Equal(t, 201, shop.pay(t.Context(), after, "key-after-1", "tok_success").status)
	for _, want := range []string{"payment_attempt.succeeded", "order.paid"} {
		e := within(t, want, got)
		require.Equal(t, want, e.Type)
		require.Contains(t, string(e.Data), `"order_id":"`+after+`"`)
	}
	eventually(t, "what came of both is printed", func() bool {
		printed := p.stdout.String()
		return strings.Contains(printed, "→ 418 I'm a teapot,") && strings.Contains(printed, "→ 200,")
	})
	code, _ := p.stop(t, syscall.SIGINT)
	require.Zero(t, code, p.stderr.String())
}
