package pool

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// The growth of a patience.
const (
	// patienceStep is how many attempts to connect are begun before the limit doubles.
	patienceStep = 16
	// patienceDoublings is how often the limit doubles at most: 1 s becomes 8 s.
	patienceDoublings = 3
)

// patience is how long connecting may take. The limit grows while no attempt succeeds. A server that is too busy to answer within the
// first limit would never be reached otherwise, and each attempt that is given up adds to its work. It is safe for concurrent use.
type patience struct {
	first time.Duration
	// begun counts the attempts since the last success.
	begun atomic.Int64
}

func (p *patience) limit() time.Duration {
	return p.first << min(p.begun.Load()/patienceStep, patienceDoublings)
}

// begin is called before each attempt. It has the signature of [pgxpool.Config.BeforeConnect].
func (p *patience) begin(_ context.Context, c *pgx.ConnConfig) error {
	c.ConnectTimeout = p.limit()
	p.begun.Add(1)
	return nil
}

// succeed is called once a connection can be used.
func (p *patience) succeed() { p.begun.Store(0) }
