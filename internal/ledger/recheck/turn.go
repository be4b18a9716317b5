package recheck

import (
	"context"
	"errors"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// errEnd ends a turn.
var errEnd = errors.New("the turn is over")

// turn is one turn of an account.
type turn struct {
	*Rechecker

	budget int
	// now is the time of the storage, until the end of the turn by the clock of the process.
	now, until time.Time
}

// over reports whether nothing more is looked up in this turn.
func (t *turn) over(ctx context.Context) bool {
	return ctx.Err() != nil || t.budget <= 0 || !t.Now().Before(t.until)
}

// batch looks up the next attempts of a cursor and moves the cursor past the finished attempts. It reports whether there
// may be more, and returns errEnd where the turn is over.
func (t *turn) batch(ctx context.Context, c *Cursor) (more bool, err error) {
	if t.over(ctx) {
		return false, errEnd
	}
	next, err := t.Store.FinalAttempts(ctx, *c, first(t.now.Add(-c.Age)), min(batchMost, t.budget))
	if err != nil || next.Last == c.After {
		return false, err
	}
	done, err := t.askAll(ctx, c.Account, next.Attempts)
	if errors.Is(err, errMiss) {
		err = errEnd
		if c.Misses++; c.Misses >= missesMost {
			t.Counted(c.Account, Failed)
			done[next.Attempts[len(done.inOrder(next))].ID] = true
		}
	}
	return err == nil, errors.Join(t.move(context.WithoutCancel(ctx), c, done.reached(c.After, next)), err)
}

// move moves a cursor. Its misses belong to the attempt that comes next.
func (t *turn) move(ctx context.Context, c *Cursor, after payment.AttemptID) error {
	if after != c.After {
		c.Misses = 0
	}
	err := t.Store.CursorMove(ctx, *c, after)
	c.After = after
	return err
}

// errMiss is returned where the provider showed nothing, or nothing of several attempts in a row.
var errMiss = errors.New("the provider shows nothing")

// doneWith are the attempts of a batch that the cursor may pass.
type doneWith map[payment.AttemptID]bool

// inOrder returns the first attempts of a batch, up to the first unfinished attempt.
func (d doneWith) inOrder(b Batch) []Attempt {
	for i, a := range b.Attempts {
		if !d[a.ID] {
			return b.Attempts[:i]
		}
	}
	return b.Attempts
}

// reached is how far the cursor may move.
func (d doneWith) reached(after payment.AttemptID, b Batch) payment.AttemptID {
	switch first := d.inOrder(b); {
	case len(first) == len(b.Attempts):
		return b.Last
	case len(first) > 0:
		return first[len(first)-1].ID
	}
	return after
}

// askAll looks up attempts, and failed ones several times. It returns errMiss if the provider shows no attempt, errEnd
// where the turn is over, and an error of the storage.
func (t *turn) askAll(ctx context.Context, account string, all []Attempt) (doneWith, error) {
	done := doneWith{}
	for range rounds {
		if err := t.round(ctx, account, all, done); err != nil {
			return done, err
		}
	}
	if len(done) == 0 && len(all) > 0 {
		return done, errMiss
	}
	for _, a := range all {
		if !done[a.ID] {
			t.Counted(account, Failed)
			done[a.ID] = true
		}
	}
	return done, nil
}

// round looks up the attempts that are not done with, each once.
func (t *turn) round(ctx context.Context, account string, all []Attempt, done doneWith) error {
	failures := 0
	for _, a := range all {
		if done[a.ID] {
			continue
		}
		if t.over(ctx) {
			return errEnd
		}
		switch err := t.ask(ctx, account, a); {
		case err == nil:
			done[a.ID], failures = true, 0
		case errors.Is(err, gateway.ErrThrottled):
			t.Counted(account, HeldBack)
			return errEnd
		case errors.Is(err, payment.ErrUnavailable):
			return err
		default:
			if failures++; failures == inARow {
				return errMiss
			}
		}
	}
	return nil
}

// ask looks one attempt up. That the provider does not find it is a result, too.
func (t *turn) ask(ctx context.Context, account string, a Attempt) error {
	t.budget--
	v, err := t.Runner.Ask(ctx, a.ID, payment.Cause{Kind: payment.CauseCheck, ID: "recheck"})
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment):
		t.Counted(account, NotFound)
		return nil
	case err != nil:
		return err
	case v.Version != a.Version:
		t.Counted(account, Changed)
	default:
		t.Counted(account, Unchanged)
	}
	return nil
}
