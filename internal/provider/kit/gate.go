package kit

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http/httptrace"

	"github.com/paylatch/paylatch/internal/gateway"
)

var errAgain = errors.New("a command is sent once")

// gate allows a request on one connection, if its permit is still valid.
type gate struct {
	permit  *gateway.Permit
	read    bool
	cancel  context.CancelCauseFunc
	passed  bool
	refused error
}

// pass is called with each connection that net/http chooses. It is called a second time if a reused connection broke,
// because net/http retries requests with an Idempotency-Key.
func (g *gate) pass(c httptrace.GotConnInfo) {
	switch {
	case g.read:
	case g.passed:
		g.refused = errAgain
	case g.permit != nil:
		g.refused = g.permit.Check()
	}
	if g.passed = g.passed || g.refused == nil; g.refused == nil {
		return
	}
	// HTTP/2 checks the context before it writes, and shares the connection.
	g.cancel(g.refused)
	if t, ok := c.Conn.(*tls.Conn); !ok || t.ConnectionState().NegotiatedProtocol != "h2" {
		_ = c.Conn.Close()
	}
}

func (g *gate) explain(err error) error {
	switch {
	case g.read, g.passed:
		return fmt.Errorf("ask the provider: %w", err)
	case g.refused != nil:
		return fmt.Errorf("%w: %w", gateway.ErrNotSent, g.refused)
	}
	return fmt.Errorf("%w: %w", gateway.ErrNotSent, err)
}
