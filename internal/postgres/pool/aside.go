package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/pipeline"
)

// Lists, searches, exports, the overview and metrics have connections of their own: however slow they are, pays, webhooks and /readyz
// find theirs. These numbers are in docs/explanation/security.md.
const (
	// asideConns is how many slow reads run at once.
	asideConns = 6
	// asideRole is how many of them one role has, so that a job of the shop's leaves staff the rest.
	asideRole = 2
	// asideReader is how many one person or one job has; further ones wait for the first. Readers without a name share their role's.
	asideReader = 1
	// asideWaiting is how many reads of one role wait. One more is refused at once.
	asideWaiting = 20
)

// aside is the connections for expensive reads. It is safe for concurrent use.
type aside struct {
	conns *pgxpool.Pool
	// atMost is how long a reader waits for its turn: acquireTimeout, unless Patiently has set another limit.
	atMost time.Duration

	mu      sync.Mutex
	running map[authz.Reader]int
	waiting map[string]int
	// freed is closed and replaced when a read ends.
	freed chan struct{}
}

func newAside(ctx context.Context, cfg *pgxpool.Config) (*aside, error) {
	few := cfg.Copy()
	few.MinConns, few.MinIdleConns, few.MaxConns = 0, 0, asideConns
	conns, err := pgxpool.NewWithConfig(ctx, few)
	if err != nil {
		return nil, fmt.Errorf("prepare the connections for lists: %w", err)
	}
	a := turns()
	a.conns = conns
	return a, nil
}

// turns is an aside without connections.
func turns() *aside {
	return &aside{atMost: acquireTimeout, running: make(map[authz.Reader]int), waiting: make(map[string]int), freed: make(chan struct{})}
}

// enter waits until the context's reader may read, and returns the function that ends the read. It
// returns payment.ErrOverloaded if the reader or its role has used its share.
func (a *aside) enter(ctx context.Context) (leave func(), err error) {
	r := authz.ReaderOf(ctx)
	ctx, cancel := context.WithTimeout(ctx, a.atMost)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting[r.Role] >= asideWaiting {
		return nil, payment.ErrOverloaded
	}
	a.waiting[r.Role]++
	defer func() { a.waiting[r.Role]-- }()
	for r.Name != "" && a.running[r] >= asideReader || a.running[authz.Reader{Role: r.Role}] >= asideRole {
		freed := a.freed
		a.mu.Unlock()
		select {
		case <-freed:
			err = nil
		case <-ctx.Done():
			err = payment.ErrOverloaded
		}
		a.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	a.add(r, 1)
	return func() { a.leave(r) }, nil
}

func (a *aside) leave(r authz.Reader) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.add(r, -1)
	close(a.freed)
	a.freed = make(chan struct{})
}

// add counts a read of a reader and of its role. The role is the reader without a name.
func (a *aside) add(r authz.Reader, n int) {
	role := authz.Reader{Role: r.Role}
	a.running[role] += n
	if r != role {
		a.running[r] += n
	}
	for _, of := range []authz.Reader{r, role} {
		if a.running[of] == 0 {
			delete(a.running, of)
		}
	}
}

// Aside is Read for slow reads that move no money: lists, searches, exports, the overview, metrics. It waits only for
// reads of the same kind. It returns payment.ErrOverloaded if the context's reader, or its role, has used its share.
func (p *Pool) Aside(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	leave, err := p.aside.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return p.on(ctx, p.aside.conns, func(ctx context.Context, c *pgxpool.Conn) error {
		if err := p.ready(ctx, c); err != nil {
			return err
		}
		return fn(ctx, c)
	})
}

// OnceAside is Once on the connections of Aside.
func (p *Pool) OnceAside(ctx context.Context, fn func(ctx context.Context, tx *pipeline.Tx) error) error {
	leave, err := p.aside.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return fresh(p.aside.conns, func() error { return p.once(ctx, p.aside.conns, fn) })
}
