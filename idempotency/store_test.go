package idempotency_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/idempotency/storetest"
)

// memory is a storage of keys with a clock that can leap.
type memory struct {
	mu    sync.Mutex
	start time.Time
	leapt time.Duration
	rows  map[idempotency.Name]row
}

type row struct {
	idempotency.Record

	lease, expires time.Duration
}

func newMemory() *memory { return &memory{start: time.Now(), rows: map[idempotency.Name]row{}} }

func (m *memory) leap(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leapt += d
}

func (m *memory) now() time.Duration { return time.Since(m.start) + m.leapt }

func (m *memory) InKeyTx(ctx context.Context, fn func(context.Context, idempotency.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := maps.Clone(m.rows)
	err := fn(ctx, tx{m})
	if err != nil {
		m.rows = before
	}
	return err
}

func (m *memory) KeyExtend(_ context.Context, r idempotency.Request, fence int64, lease time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held(r, fence, func(k *row) { k.lease = m.now() + lease })
}

func (m *memory) KeyRelease(_ context.Context, r idempotency.Request, fence int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held(r, fence, func(k *row) { k.lease, k.Hash = m.now(), idempotency.Hash{} })
}

// held changes the key of the runner that holds the fence.
func (m *memory) held(r idempotency.Request, fence int64, do func(*row)) error {
	k, ok := m.rows[r.Name()]
	if !ok || k.Fence != fence || k.Response != nil {
		return idempotency.ErrFenced
	}
	do(&k)
	m.rows[r.Name()] = k
	return nil
}

type tx struct{ *memory }

func (m tx) KeyClaim(_ context.Context, c idempotency.Claim) (idempotency.Record, bool, error) {
	k := m.rows[c.Name()]
	lives := k.expires > m.now()
	if lives && (k.Response != nil || k.lease > m.now() || k.Hash != c.Hash && k.Hash != (idempotency.Hash{})) {
		return k.Record, false, nil
	}
	over := k.Fence > 0 && lives
	k = row{idempotency.Record{Hash: c.Hash, Fence: k.Fence + 1, TakenOver: over}, m.now() + c.Lease, m.now() + c.Keep}
	m.rows[c.Name()] = k
	return k.Record, true, nil
}

func (m tx) KeyRespond(_ context.Context, r idempotency.Request, fence int64, a idempotency.Response, keep time.Duration) error {
	if len(a.Body) > idempotency.MaxBody {
		a.Body = nil
	}
	return m.held(r, fence, func(k *row) { k.Response, k.expires = &a, m.now()+keep })
}

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) idempotency.Store { return newMemory() })
}

func request(content string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: "POST /v1/orders", Key: "key-12345678",
		Hash: idempotency.HashRequest("POST", "/v1/orders", nil, nil, []byte(content)),
	}
}
