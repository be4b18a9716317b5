package payment

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// refusal is the result of an executed command: the answer to the key of rec.
type refusal struct {
	error

	rec idempotency.Record
}

// underKey runs a command's first commit. A *refusal is stored as its key's answer,
// and committed; any other error undoes everything and leaves the key unused.
func (s *Service) underKey(ctx context.Context, req idempotency.Request, do func(ctx context.Context, tx Tx) error) error {
	var refused *refusal
	err := s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		refused = nil
		err := do(ctx, tx)
		if errors.As(err, &refused) {
			return refuse(ctx, tx, req, refused.rec, refused.error)
		}
		return err
	})
	if err == nil && refused != nil {
		return refused.error
	}
	return err
}

// refuse stores the refusal of an executed command with its key.
func refuse(ctx context.Context, tx Tx, req idempotency.Request, rec idempotency.Record, err error) error {
	return tx.KeyAnswer(ctx, req, rec.Fence, req.Refusal(err), idempotency.KeepRefused)
}

// takeKey is idempotency.Take; a refusal that is there is returned as a ReplayError.
func (s *Service) takeKey(
	ctx context.Context, tx Tx, req idempotency.Request, keep time.Duration,
) (*idempotency.Answer, idempotency.Record, error) {
	answer, rec, err := idempotency.Take(ctx, tx, idempotency.Claim{Request: req, Lease: s.opts.Lease, Keep: keep})
	if err == nil && answer != nil {
		err = replayed(*answer)
	}
	return answer, rec, err
}

// replayed returns the ReplayError of a stored refusal.
func replayed(a idempotency.Answer) error {
	if a.Status >= http.StatusBadRequest {
		return &idempotency.ReplayError{Answer: a}
	}
	return nil
}
