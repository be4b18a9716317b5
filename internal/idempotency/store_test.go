package idempotency_test

import (
	"context"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// memory is a storage of keys with a clock that can leap.
type memory struct {
	mu    sync.Mutex
	start time.Time
	leapt time.Duration
	rows  map[idempotency.Key]*row
}

type row struct {
	idempotency.Record

	lease, expires time.Duration
}

func newMemory() *memory { return &memory{start: time.Now(), rows: map[idempotency.Key]*row{}} }

func (m *memory) leap(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leapt += d
}

func (m *memory) now() time.Duration { return time.Since(m.start) + m.leapt }

func (m *memory) InKeyTx(ctx context.Context, fn func(context.Context, idempotency.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn(ctx, tx{m})
}

func (m *memory) KeyExtend(_ context.Context, r idempotency.Request, fence int64, lease time.Duration) error {
	return m.held(r, fence, func(k *row) { k.lease = m.now() + lease })
}

func (m *memory) KeyRelease(_ context.Context, r idempotency.Request, fence int64) error {
	return m.held(r, fence, func(k *row) { k.lease, k.Hash = m.now(), idempotency.Hash{} })
}

func (m *memory) held(r idempotency.Request, fence int64, do func(*row)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.rows[r.Key]
	if k == nil || k.Fence != fence || k.Answer != nil {
		return idempotency.ErrFenced
	}
	do(k)
	return nil
}

type tx struct{ *memory }

func (m tx) KeyClaim(_ context.Context, c idempotency.Claim) (idempotency.Record, bool, error) {
	k := m.rows[c.Key]
	if k == nil {
		k = &row{}
	} else if k.expires > m.now() && (k.Answer != nil || k.lease > m.now() || k.Hash != c.Hash && k.Hash != (idempotency.Hash{})) {
		return k.Record, false, nil
	}
	over := k.Fence > 0 && k.expires > m.now()
	m.rows[c.Key] = &row{idempotency.Record{Hash: c.Hash, Fence: k.Fence + 1, TakenOver: over}, m.now() + c.Lease, m.now() + c.Keep}
	return m.rows[c.Key].Record, true, nil
}

func (m tx) KeyAnswer(_ context.Context, r idempotency.Request, fence int64, a idempotency.Answer, keep time.Duration) error {
	k := m.rows[r.Key]
	if k == nil || k.Fence != fence || k.Answer != nil {
		return idempotency.ErrFenced
	}
	k.Answer, k.expires = &a, m.now()+keep
	return nil
}

func request(content string) idempotency.Request {
	return idempotency.Request{
		User: "u1", Endpoint: "POST /v1/orders", Key: "key-12345678",
		Hash: idempotency.HashRequest("POST", "/v1/orders", nil, nil, []byte(content)),
	}
}
