package idempotency

import (
	"context"
	"errors"
	"time"
)

// How long an answer is kept, by what it is. An answer of 5xx is not kept at
// all.
const (
	KeepMoney   = 30 * 24 * time.Hour
	KeepOther   = 72 * time.Hour
	KeepRefused = 6 * time.Hour
)

// MaxBody is the largest body that is kept with an answer, in bytes. Of a larger
// one only the subject is kept, and the entity is read again.
const MaxBody = 64 << 10

var (
	// ErrKeyReused is returned when the key was used for another request.
	ErrKeyReused = errors.New("idempotency key reused for another request")
	// ErrInProgress is returned when the first request with this key still runs.
	ErrInProgress = errors.New("request in progress")
	// ErrFenced is returned when another runner has taken the key over.
	ErrFenced = errors.New("key taken over by another runner")
)

// Request is one command of one user, as it is recognised again.
type Request struct {
	User     string
	Endpoint string
	Key      Key
	Hash     Hash
	// Refusal renders the answer to an executed command that was refused, so
	// that the refusal can be stored with the key and replayed to the letter.
	Refusal func(error) Answer
}

// Name is what makes a key the same key.
type Name struct {
	User, Endpoint string
	Key            Key
}

// Name is the name of the request's key.
func (r Request) Name() Name { return Name{r.User, r.Endpoint, r.Key} }

// ReplayError carries a stored refusal back to the caller.
type ReplayError struct{ Answer Answer }

// Error implements error.
func (e *ReplayError) Error() string { return "replayed refusal of key" }

// Result separates a first response from a repeated one.
type Result string

// The values of the Idempotency-Result header.
const (
	Created Result = "created"
	Reused  Result = "reused"
)

// Answer is what is replayed.
type Answer struct {
	Status  int
	Headers map[string]string
	// Body is empty where the answer is rendered from the subject as it is now.
	Body []byte
	// Subject is the id of the entity that the command made or moved.
	Subject string
}

// Claim is a request for a key.
type Claim struct {
	Request
	// Lease is how long the runner may take; Keep, how long the key is kept.
	Lease, Keep time.Duration
}

// Record is a key as it is stored.
type Record struct {
	Hash  Hash
	Fence int64
	// TakenOver is set by a claim when an earlier runner of the same request may have
	// done some of it. A key that has expired begins anew.
	TakenOver bool
	Answer    *Answer
}

// For returns the answer that a request with the same key is given; ErrKeyReused
// when the key belongs to another request, ErrInProgress when its runner lives, or has
// only just given it back.
func (r Record) For(h Hash) (*Answer, error) {
	switch {
	case r.Answer == nil && r.Hash == Hash{}:
		return nil, ErrInProgress // free by now: the next request gets it
	case r.Hash != h:
		return nil, ErrKeyReused
	case r.Answer == nil:
		return nil, ErrInProgress
	}
	return r.Answer, nil
}

// Stored is an answer that is stored without a claim before it, by a transaction
// that keeps others from executing the same command by a lock of its own.
type Stored struct {
	Request
	Answer
	Keep time.Duration
}

// Tx is what the package needs of a transaction.
type Tx interface {
	// KeyClaim claims a key that is new, has expired, or belongs to the same request
	// with a lease that ran out, and reports true. Else it reports false and
	// returns the key as it is. It waits for a transaction that is just claiming
	// the same key.
	KeyClaim(ctx context.Context, c Claim) (Record, bool, error)
	// KeyAnswer stores the answer of the runner that holds the fence and keeps
	// it for a while; ErrFenced if another runner holds it.
	KeyAnswer(ctx context.Context, r Request, fence int64, a Answer, keep time.Duration) error
}

// Take claims a key in the caller's transaction. It returns the answer that is
// there, or nil and the record of a claim that is now the caller's; ErrKeyReused
// when the key belongs to another request, ErrInProgress when its runner lives.
func Take(ctx context.Context, tx Tx, c Claim) (*Answer, Record, error) {
	rec, claimed, err := tx.KeyClaim(ctx, c)
	if err != nil || claimed {
		return nil, rec, err
	}
	answer, err := rec.For(c.Hash)
	return answer, rec, err
}
