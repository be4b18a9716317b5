package idempotency

import (
	"context"
	"time"
)

// Store is the port to the storage of the keys. Package pgxstore implements it on PostgreSQL; package
// storetest has the tests that every implementation must pass.
type Store interface {
	// InKeyTx runs fn in one transaction. Once it has returned nil, all writes are on disk. If fn
	// fails, no write is on disk, and InKeyTx returns fn's error. It may run fn again. The context
	// that fn gets may carry the transaction, for the command's writes.
	InKeyTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// KeyExtend extends a lease, KeyRelease ends it without a response, after which
	// any request may have the key; both return ErrFenced if another runner holds it.
	KeyExtend(ctx context.Context, r Request, fence int64, lease time.Duration) error
	KeyRelease(ctx context.Context, r Request, fence int64) error
}

// Tx is the part of a transaction that the package uses.
type Tx interface {
	// KeyClaim claims a key that is new, has expired, or belongs to the same request
	// with a lease that ran out, and reports true. Else it reports false and
	// returns the key as it is. It waits for a transaction that is just claiming
	// the same key; it may return ErrInProgress instead of waiting for long.
	KeyClaim(ctx context.Context, c Claim) (Record, bool, error)
	// KeyRespond stores the response of the runner that holds the fence and keeps
	// it for a while; ErrFenced, at the latest when the transaction ends, if another runner holds it.
	KeyRespond(ctx context.Context, r Request, fence int64, response Response, keep time.Duration) error
}

// Record is a key as it is stored.
type Record struct {
	Hash  Hash
	Fence int64
	// TakenOver is set by a claim when an earlier runner of the same request may have
	// done some of it. A key that has expired begins anew.
	TakenOver bool
	Response  *Response
}

// For returns the response that a request with the same key gets; ErrKeyReused
// when the key belongs to another request, ErrInProgress when its runner lives, or has
// only just given it back.
func (r Record) For(req Request) (*Response, error) {
	if r.Response == nil && r.Hash == (Hash{}) {
		return nil, ErrInProgress // free by now: the next request gets it
	}
	if err := req.Same(r.Hash); err != nil {
		return nil, err
	}
	if r.Response == nil {
		return nil, ErrInProgress
	}
	return r.Response, nil
}

// Stored is a response that is stored without a claim before it, by a transaction
// that keeps others from executing the same command by a lock of its own.
type Stored struct {
	Request
	Response

	Keep time.Duration
}
