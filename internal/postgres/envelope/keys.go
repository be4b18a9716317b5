package envelope

import (
	"context"
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
	"github.com/paylatch/paylatch/internal/platform/xaes"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

// Box encrypts data keys; *auth.Sealer in the program.
type Box interface {
	Seal(plaintext, aad []byte) []byte
	Open(sealed, aad []byte) ([]byte, error)
	// Outdated reports whether sealed was encrypted with another key than the current one.
	Outdated(sealed []byte) bool
}

var (
	// ErrClosed is returned for data that can't be opened: its data key is gone, or is encrypted with a key that the
	// ring lacks.
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
	// clock is the database's.
	clock func(ctx context.Context, db dbsqlc.DBTX) (time.Time, error)

	// reading is taken by whoever reads or makes keys: no other does at the same time.
	reading chan struct{}
	mu      sync.RWMutex
	// ciphers are by the id of their key. current has the encrypting key of each month. It does not change during the
	// month.
	ciphers map[uuid.UUID]cipher.AEAD
	current map[time.Time]dataKey
	// missing are ids of keys that did not exist, or that the ring does not open, when the keys were last read.
	missing map[uuid.UUID]bool
	// ahead is how much the database's clock is ahead of the process's.
	ahead time.Duration
}

type dataKey struct {
	id  uuid.UUID
	key []byte
}

// New returns keys that are read when they are first needed, or by Refresh. The clock is the process's. Its offset from
// the database's clock is measured when the keys are read.
func New(p *pool.Pool, box Box, now func() time.Time) *Keys {
	q := dbsqlc.New()
	return &Keys{pool: p, q: q, box: box, now: now, clock: q.Clock, reading: make(chan struct{}, 1), current: map[time.Time]dataKey{}}
}

// month is the beginning of a time's month.
func month(t time.Time) time.Time {
	year, m, _ := t.UTC().Date()
	return time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)
}

// Refresh reads the keys. It makes missing keys and partitions of this month and the next. A key that encrypts here may
// be missing in a database that was restored from a backup. Refresh then puts it back. It returns the number of keys
// that the ring does not open.
func (k *Keys) Refresh(ctx context.Context) (closed int, err error) {
	if k == nil || k.box == nil {
		return 0, errNoBox
	}
	if err := k.take(ctx); err != nil {
		return 0, err
	}
	defer k.leave()
	if closed, err = k.refresh(ctx); err != nil {
		return 0, err
	}
	return closed, k.partitions(ctx) // the inbox goes on without
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
	this := month(k.time())
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
	return len(there.missing), nil
}

// partitions makes the partitions of this month and the next.
func (k *Keys) partitions(ctx context.Context) error {
	err := k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		_, err := k.q.EventBytesMake(ctx, c)
		return err
	})
	if err != nil {
		return fmt.Errorf("make the partitions of event_bytes: %w", err)
	}
	return nil
}

// time is by the database's clock.
func (k *Keys) time() time.Time {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.now().Add(k.ahead)
}

// stored is the content of the database.
type stored struct {
	ids map[uuid.UUID]bool
	// ciphers are the ciphers of the keys that the ring opens, oldest the first one of each month. missing are the other
	// keys.
	ciphers map[uuid.UUID]cipher.AEAD
	oldest  map[time.Time]dataKey
	missing map[uuid.UUID]bool
	// ahead is how much the database's clock is ahead.
	ahead time.Duration
}

// load replaces the ciphers in memory by the database's ciphers and the encrypting ones of this process.
func (k *Keys) load(ctx context.Context) (there stored, err error) {
	err = k.pool.Read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		there, err = k.read(ctx, c)
		return err
	})
	if err != nil {
		return stored{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range k.current {
		if there.ciphers[d.id] == nil {
			there.ciphers[d.id] = k.ciphers[d.id]
		}
	}
	k.ciphers, k.missing, k.ahead = there.ciphers, there.missing, there.ahead
	return there, nil
}

func (k *Keys) read(ctx context.Context, c *pgxpool.Conn) (stored, error) {
	rows, err := k.q.DataKeys(ctx, c)
	if err != nil {
		return stored{}, fmt.Errorf("read the data keys: %w", err)
	}
	now, err := k.clock(ctx, c)
	if err != nil {
		return stored{}, fmt.Errorf("read the database's clock: %w", err)
	}
	there := stored{
		ids: map[uuid.UUID]bool{}, ciphers: map[uuid.UUID]cipher.AEAD{}, oldest: map[time.Time]dataKey{}, missing: map[uuid.UUID]bool{}, ahead: now.Sub(k.now()),
	}
	for _, row := range rows {
		key, err := k.box.Open(row.Wrapped, row.KeyID[:])
		if err != nil {
			there.ids[row.KeyID], there.missing[row.KeyID] = true, true
			continue
		}
		if err := there.add(row, key); err != nil {
			return stored{}, err
		}
		if err := k.wrapAnew(ctx, c, row, key); err != nil {
			return stored{}, err
		}
	}
	return there, nil
}

// add is of a key that the ring has opened.
func (s *stored) add(row *dbsqlc.DataKeysRow, key []byte) (err error) {
	s.ids[row.KeyID] = true
	if _, found := s.oldest[row.Month]; !found {
		s.oldest[row.Month] = dataKey{row.KeyID, key}
	}
	s.ciphers[row.KeyID], err = newCipher(key)
	return err
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

// forget drops the encrypting keys of months before a month.
func (k *Keys) forget(before time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.current, func(m time.Time, _ dataKey) bool { return m.Before(before) })
}

// need reads or makes the keys, unless another caller has done that meanwhile.
func (k *Keys) need(ctx context.Context) error {
	if err := k.take(ctx); err != nil {
		return err
	}
	defer k.leave()
	if _, _, found := k.present(); found {
		return nil
	}
	_, err := k.refresh(ctx)
	return err
}

// present is the time, to the second, and the key that encrypts then, if there is one.
func (k *Keys) present() (at time.Time, d dataKey, found bool) {
	at = k.time().UTC().Truncate(time.Second)
	d, found = k.of(month(at))
	return at, d, found
}

// of is the key that encrypts in a month, if there is one.
func (k *Keys) of(m time.Time) (d dataKey, found bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	d, found = k.current[m]
	return d, found
}

// find returns the cipher of a key. Another process may have made the key meanwhile. It returns nil if the key does not
// exist. A missing key is not looked for again until the next read of the keys.
func (k *Keys) find(ctx context.Context, id uuid.UUID) (cipher.AEAD, error) {
	k.mu.RLock()
	aead, missing := k.ciphers[id], k.missing[id]
	k.mu.RUnlock()
	if aead != nil || missing {
		return aead, nil
	}
	if _, err := k.load(ctx); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if aead = k.ciphers[id]; aead == nil {
		k.missing[id] = true
	}
	return aead, nil
}

func (k *Keys) cipher(id uuid.UUID) cipher.AEAD {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.ciphers[id]
}

// newCipher is XAES-256-GCM, so a key lasts its month whatever the number of texts.
func newCipher(key []byte) (cipher.AEAD, error) {
	aead, err := xaes.New(key)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	return aead, nil
}
