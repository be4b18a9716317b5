package envelope

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
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
	// ciphers are by the id of their key. Current is what encrypts in a month: it stays what it is while the month lasts.
	ciphers map[uuid.UUID]cipher.AEAD
	current map[time.Time]dataKey
}

type dataKey struct {
	id  uuid.UUID
	key []byte
}

// New returns keys that are read when they are first needed, or by Refresh. The clock is the process's.
func New(p *pool.Pool, box Box, now func() time.Time) *Keys {
	return &Keys{pool: p, q: dbsqlc.New(), box: box, now: now, reading: make(chan struct{}, 1), current: map[time.Time]dataKey{}}
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
	there, err := k.load(ctx)
	if err != nil {
		return 0, err
	}
	this := month(k.now())
	for _, m := range []time.Time{this, this.AddDate(0, 1, 0)} {
		d, encrypts := k.of(m)
		oldest, found := there.oldest[m]
		switch {
		case encrypts && there.ids[d.id]:
			continue
		case !encrypts && found:
			d = oldest
		case !encrypts:
			d = newKey()
			fallthrough
		default:
			err = k.store(ctx, m, d)
		}
		if err == nil {
			err = k.use(m, d)
		}
		if err != nil {
			return 0, err
		}
	}
	k.forget(this)
	return there.closed, nil
}

// stored is what the database has.
type stored struct {
	ids map[uuid.UUID]bool
	// oldest are the first keys of each month that the ring opens; closed is how many it does not.
	oldest map[time.Time]dataKey
	closed int
}

// load replaces the ciphers in memory by those of the database, and of what encrypts here.
func (k *Keys) load(ctx context.Context) (there stored, err error) {
	ciphers := map[uuid.UUID]cipher.AEAD{}
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := k.q.DataKeys(ctx, c)
		if err != nil {
			return fmt.Errorf("read the data keys: %w", err)
		}
		there = stored{ids: map[uuid.UUID]bool{}, oldest: map[time.Time]dataKey{}}
		for _, row := range rows {
			there.ids[row.KeyID] = true
			key, err := k.box.Open(row.Wrapped, row.KeyID[:])
			if err != nil {
				there.closed++
				continue
			}
			if ciphers[row.KeyID], err = newCipher(key); err != nil {
				return err
			}
			if _, found := there.oldest[row.Month]; !found {
				there.oldest[row.Month] = dataKey{row.KeyID, key}
			}
			if err := k.wrapAnew(ctx, c, row, key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return stored{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range k.current {
		if ciphers[d.id] == nil {
			ciphers[d.id] = k.ciphers[d.id]
		}
	}
	k.ciphers = ciphers
	return there, nil
}

func newKey() dataKey {
	key := make([]byte, dataKeyBytes)
	_, _ = rand.Read(key) // it never fails
	return dataKey{uuid.New(), key}
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

// store has the database keep a key. Two processes may make one each for a month: both are used.
func (k *Keys) store(ctx context.Context, m time.Time, d dataKey) error {
	err := k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return k.q.DataKeyAdd(ctx, c, &dbsqlc.DataKeyAddParams{KeyID: d.id, Month: m, Wrapped: k.box.Seal(d.key, d.id[:])})
	})
	if err != nil {
		return fmt.Errorf("store a data key for %s: %w", m.Format("2006-01"), err)
	}
	return nil
}

// use has a key encrypt in a month.
func (k *Keys) use(m time.Time, d dataKey) error {
	aead, err := newCipher(d.key)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ciphers[d.id], k.current[m] = aead, d
	return nil
}

// forget ends what encrypted before a month.
func (k *Keys) forget(before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.current, func(m time.Time, _ dataKey) bool { return m.Before(before) })
}

// need reads or makes the keys, unless another caller has done that for a month meanwhile.
func (k *Keys) need(ctx context.Context, m time.Time) error {
	if err := k.take(ctx); err != nil {
		return err
	}
	defer k.leave()
	if _, found := k.of(m); found {
		return nil
	}
	_, err := k.refresh(ctx)
	return err
}

// of is the key that encrypts in a month, if there is one.
func (k *Keys) of(m time.Time) (d dataKey, found bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	d, found = k.current[m]
	return d, found
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
