package worklist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// turnLife is how long a process that died keeps others from the next turn, rest the pause between two.
	turnLife = 30 * time.Second
	rest     = time.Second
	// portion is how many a turn looks at.
	portion = 200
)

// Settler closes discrepancies with nothing left to decide. It is safe for concurrent use.
type Settler struct {
	turns Turns
	inTx  InTx
	log   func(id payment.DiscrepancyID, err error)
}

// NewSettler returns a settler. log gets the error of a discrepancy that could not be settled; it stays open until its
// next turn.
func NewSettler(turns Turns, inTx InTx, log func(id payment.DiscrepancyID, err error)) *Settler {
	return &Settler{turns, inTx, log}
}

// Turn checks the next portion of the open discrepancies, unless another process has the turn, or the last turn has just
// ended. It returns an error if the storage is unavailable.
func (s *Settler) Turn(ctx context.Context) error {
	t, err := s.turns.TakeTurn(ctx, turnLife)
	if errors.Is(err, lease.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := s.turns.Next(ctx, t, portion)
	if err != nil {
		return err
	}
	for _, c := range list {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the process stops; the next turn begins where this one did
		}
		if err := s.look(ctx, c); err != nil {
			return err
		}
		t.BehindAt, t.BehindID = c.At, [16]byte(c.ID)
	}
	if len(list) < portion { // from the beginning again
		t = Turn{Fence: t.Fence, BehindAt: time.Unix(0, 0)}
	}
	return s.turns.EndTurn(ctx, t, rest)
}

// look closes a discrepancy that seems settled. Its errors end the turn.
func (s *Settler) look(ctx context.Context, c Candidate) error {
	if _, settled := c.Settled(c.Evidence); !settled {
		return nil
	}
	err := lease.Guard(func() error { return s.settle(ctx, c.Discrepancy) })
	if err != nil && !errors.Is(err, payment.ErrUnavailable) && ctx.Err() == nil {
		s.log(c.ID, err)
		return nil
	}
	return err
}

// settle closes a discrepancy that is settled still, under the locks of its event, its order and its attempts.
func (s *Settler) settle(ctx context.Context, about payment.Discrepancy) error {
	err := s.inTx(ctx, func(ctx context.Context, tx commands.Tx) error {
		if about.Event.ID != "" {
			if err := s.turns.LockEvent(ctx, tx, about.Event); err != nil {
				return err
			}
		}
		if about.AttemptID != nil {
			if _, err := tx.OrderLock(ctx, about.OrderID); err != nil {
				return err
			}
		}
		d, err := tx.DiscrepancyLock(ctx, about.ID)
		if err != nil {
			return err
		}
		evidence, err := s.turns.EvidenceIn(ctx, tx, d.ID)
		if err != nil {
			return err
		}
		by, settled := d.Settled(evidence)
		if !settled {
			return nil
		}
		d.Resolved = &payment.Resolved{Resolution: payment.ResolvedSettled, By: payment.ResolvedByPaylatch, Reason: by, At: tx.Now()}
		return tx.DiscrepancyResolve(ctx, d, outbox.Discrepancy(d))
	})
	if err != nil {
		return fmt.Errorf("settle discrepancy %s: %w", about.ID, err)
	}
	return nil
}
