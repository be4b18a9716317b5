package pool

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// The growth of the limit.
const (
	// limitStep is how many attempts to connect are begun before the limit doubles.
	limitStep = 16
	// limitDoublings is how often the limit doubles at most: 1 s becomes 8 s.
	limitDoublings = 3
)

// connectLimit is how long connecting may take. It grows while no attempt succeeds. A server that is too busy to answer within the
// first limit would never be reached otherwise, and each attempt that is given up adds to its work. It is safe for concurrent use.
type connectLimit struct {
	first time.Duration
	// begun counts the attempts since the last success.
	begun atomic.Int64
}

// now is the present limit.
func (l *connectLimit) now() time.Duration {
	return l.first << min(l.begun.Load()/limitStep, limitDoublings)
}

// begin is called before each attempt. It has the signature of [pgxpool.Config.BeforeConnect].
func (l *connectLimit) begin(_ context.Context, c *pgx.ConnConfig) error {
	c.ConnectTimeout = l.now()
	l.begun.Add(1)
	return nil
}

// succeed is called once a connection can be used.
func (l *connectLimit) succeed() { l.begun.Store(0) }
