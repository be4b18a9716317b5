package call

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http/httptrace"

	"github.com/paylatch/paylatch/internal/payment"
)

var errAgain = errors.New("a command is sent once")

// gate lets a request out to one connection, if its licence holds by then.
type gate struct {
	licence *payment.Licence
	read    bool
	cancel  context.CancelCauseFunc
	passed  bool
	refused error
}

// pass is called with each connection that net/http chooses, the second time
// when a kept one broke: it repeats by itself what bears an Idempotency-Key.
func (g *gate) pass(c httptrace.GotConnInfo) {
	switch {
	case g.read:
	case g.passed:
		g.refused = errAgain
	case g.licence != nil:
		g.refused = g.licence.Check()
	}
	if g.passed = g.passed || g.refused == nil; g.refused == nil {
		return
	}
	// HTTP/2 looks at the context before it writes, and others use the connection.
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
		return fmt.Errorf("%w: %w", payment.ErrNotSent, g.refused)
	}
	return fmt.Errorf("%w: %w", payment.ErrNotSent, err)
}
