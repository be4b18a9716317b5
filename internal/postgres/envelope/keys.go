package envelope

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Box encrypts data keys; *auth.Sealer in the program.
type Box interface {
	Seal(plaintext, aad []byte) []byte
	Open(sealed, aad []byte) ([]byte, error)
	// Outdated reports whether something was sealed by another key than the one that seals now.
	Outdated(sealed []byte) bool
}

var (
	// ErrClosed is returned for what can't be opened: its data key is gone, or is encrypted with a key that the ring lacks.
	ErrClosed = errors.New("there is no key for it")
	// errNoBox is returned by keys without a ring.
	errNoBox = errors.New("encryption_keys are missing: what providers send is stored encrypted")
)

// dataKeyBytes is the size of a key of AES-256.
const dataKeyBytes = 32

// Keys are the data keys of a database, in memory once they were read. They are safe for concurrent use. Without a box nothing can be
// encrypted or opened.
type Keys struct {
	pool *pool.Pool
	q    *dbsqlc.Queries
	box  Box
	now  func() time.Time

	// reading is taken by whoever reads or makes keys: no other does at the same time.
	reading chan struct{}
	mu      sync.RWMutex
	// ciphers are by the id of their key, current by the month: the one that encrypts.
	ciphers map[uuid.UUID]cipher.AEAD
	current map[time.Time]dataKey
}

type dataKey struct {
	id  uuid.UUID
	key []byte
}

// New returns keys that are read when they are first needed, or by Refresh. The clock is the process's.
func New(p *pool.Pool, box Box, now func() time.Time) *Keys {
	return &Keys{pool: p, q: dbsqlc.New(), box: box, now: now, reading: make(chan struct{}, 1)}
}

// month is the beginning of a time's month.
func month(t time.Time) time.Time {
	year, m, _ := t.UTC().Date()
	return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)
}

// Refresh reads the keys and makes those that this month and the next lack. One that encrypts here and that the database has lost, restored
// from a backup, is put back. It returns how many there are that the ring does not open.
func (k *Keys) Refresh(ctx context.Context) (closed int, err error) {
	if k == nil || k.box == nil {
		return 0, errNoBox
	}
	if err := k.take(ctx); err != nil {
		return 0, err
	}
	defer k.leave()
	return k.refresh(ctx)
}

// Closed returns how many data keys there are that the ring does not open; it writes nothing.
func (k *Keys) Closed(ctx context.Context) (closed int, err error) {
	if k == nil || k.box == nil {
		return 0, errNoBox
	}
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := k.q.DataKeys(ctx, c)
		for _, row := range rows {
			if _, err := k.box.Open(row.Wrapped, row.KeyID[:]); err != nil {
				closed++
			}
		}
		return err
	})
	return closed, err
}

func (k *Keys) take(ctx context.Context) error {
	select {
	case k.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", payment.ErrUnavailable, ctx.Err())
	}
}

func (k *Keys) leave() { <-k.reading }

func (k *Keys) refresh(ctx context.Context) (closed int, err error) {
	had := k.used()
	if closed, err = k.load(ctx); err != nil {
		return 0, err
	}
	this := month(k.now())
	for _, m := range []time.Time{this, this.AddDate(0, 1, 0)} {
		before, encrypted := had[m]
		_, aead := k.of(m)
		switch {
		case encrypted && k.cipher(before.id) == nil:
			err = k.add(ctx, m, before)
		case aead == nil:
			err = k.add(ctx, m, newKey())
		}
		if err != nil {
			return 0, err
		}
	}
	return closed, nil
}

// used are the keys that encrypt, by their month.
func (k *Keys) used() map[time.Time]dataKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.current
}

func newKey() dataKey {
	key := make([]byte, dataKeyBytes)
	_, _ = rand.Read(key) // it never fails
	return dataKey{uuid.New(), key}
}

// load replaces what is in memory by what is in the database. Of several keys of a month the oldest one encrypts.
func (k *Keys) load(ctx context.Context) (closed int, err error) {
	ciphers, current := map[uuid.UUID]cipher.AEAD{}, map[time.Time]dataKey{}
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := k.q.DataKeys(ctx, c)
		if err != nil {
			return fmt.Errorf("read the data keys: %w", err)
		}
		for _, row := range rows {
			key, err := k.box.Open(row.Wrapped, row.KeyID[:])
			if err != nil {
				closed++
				continue
			}
			if ciphers[row.KeyID], err = newCipher(key); err != nil {
				return err
			}
			if _, found := current[row.Month]; !found {
				current[row.Month] = dataKey{row.KeyID, key}
			}
			if err := k.wrapAnew(ctx, c, row, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ciphers, k.current = ciphers, current
	return closed, nil
}

// wrapAnew encrypts a data key with the ring's first key, if another one did.
func (k *Keys) wrapAnew(ctx context.Context, c *pgxpool.Conn, row *dbsqlc.DataKeysRow, key []byte) error {
	if !k.box.Outdated(row.Wrapped) {
		return nil
	}
	if err := k.q.DataKeyWrap(ctx, c, &dbsqlc.DataKeyWrapParams{Wrapped: k.box.Seal(key, row.KeyID[:]), KeyID: row.KeyID}); err != nil {
		return fmt.Errorf("encrypt data key %s anew: %w", row.KeyID, err)
	}
	return nil
}

// add stores a key of a month. Two processes may make one each: both are used.
func (k *Keys) add(ctx context.Context, m time.Time, d dataKey) error {
	aead, err := newCipher(d.key)
	if err != nil {
		return err
	}
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return k.q.DataKeyAdd(ctx, c, &dbsqlc.DataKeyAddParams{KeyID: d.id, Month: m, Wrapped: k.box.Seal(d.key, d.id[:])})
	})
	if err != nil {
		return fmt.Errorf("add a data key for %s: %w", m.Format("2006-01"), err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ciphers[d.id] = aead
	if _, found := k.current[m]; !found {
		k.current[m] = d
	}
	return nil
}

// need reads or makes the keys, unless another caller has done that for a month meanwhile.
func (k *Keys) need(ctx context.Context, m time.Time) error {
	if err := k.take(ctx); err != nil {
		return err
	}
	defer k.leave()
	if _, aead := k.of(m); aead != nil {
		return nil
	}
	_, err := k.refresh(ctx)
	return err
}

// of is the key that encrypts in a month; nil if there is none.
func (k *Keys) of(m time.Time) (uuid.UUID, cipher.AEAD) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	id := k.current[m].id
	return id, k.ciphers[id]
}

func (k *Keys) cipher(id uuid.UUID) cipher.AEAD {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.ciphers[id]
}

// newCipher is AES-256-GCM with random nonces: safe for 2^32 texts a key (NIST SP 800-38D, 8.3), 1,600 a second for a month.
func newCipher(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	return aead, nil
}
