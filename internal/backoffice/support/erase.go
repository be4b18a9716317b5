package support

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// The acts in the audit log. Their target is the pseudonym, never the name.
const (
	Erased  Action = "customer.erase"
	Counted Action = "customer.erase.view"
)

// A batch holds the locks of its orders for some milliseconds; keys are small.
const (
	batch    = 200
	keyBatch = 1000
)

// act is an entry of the audit log that is written at the beginning and at the end.
type act struct{ AuditEntry }

func entry(who Staff, action Action, pseudonym, reason string) act {
	e := who.Entry(action, "customer", pseudonym)
	e.Reason = reason
	return act{e}
}

func (d act) with(outcome Outcome, detail map[string]any) AuditEntry {
	d.ID, d.Outcome, d.Detail = payment.OnlyCell.NewID(), outcome, detail
	return d.AuditEntry
}

// Ended is the entry at the end.
func (d act) Ended(detail map[string]any) AuditEntry { return d.with(Done, detail) }

// result is the counts of an erasure.
type result struct {
	pseudonym      string
	orders, events int
	// left are orders that keep the name, and keys the commands.
	left ErasureFound
	keys int
}

func erase(ctx context.Context, at ErasureSide, user payment.UserID, marks [][]byte, q Erasure) (done result, err error) {
	var d act
	done.pseudonym, err = at.Store.Begin(ctx, marks, fresh(), func(pseudonym string) AuditEntry {
		d = entry(at.Who, Erased, pseudonym, q.Reason)
		return d.with(Begun, map[string]any{"details": q.Details})
	})
	if err != nil {
		return done, err
	}
	err = each(func(behind payment.OrderID) (ErasureStep, error) {
		s, err := at.Store.Orders(ctx, user, done.pseudonym, behind, batch)
		if done.orders += s.Orders; s.Seen > 0 {
			_, _ = fmt.Fprintf(at.Progress, "the name was removed from %d orders\n", done.orders)
		}
		return s, err
	})
	if err != nil {
		return done, err
	}
	err = each(func(behind payment.OrderID) (ErasureStep, error) {
		s, err := at.Store.Details(ctx, user, done.pseudonym, q.Details, behind, batch)
		if done.events += s.Events; s.Events > 0 {
			_, _ = fmt.Fprintf(at.Progress, "the provider's messages of %d events were erased\n", done.events)
		}
		return s, err
	})
	if err != nil {
		return done, err
	}
	if done.keys, err = keys(ctx, at.Store, user); err != nil {
		return done, err
	}
	if done.left, err = at.Store.Count(ctx, user, 0); err != nil {
		return done, err
	}
	return done, at.Store.End(ctx, done.pseudonym, d.Ended(map[string]any{
		"orders": done.orders, "events": done.events, "left": done.left.Orders, "details": q.Details,
	}))
}

// each calls do for batch after batch, until a batch is not full.
func each(do func(behind payment.OrderID) (ErasureStep, error)) error {
	for behind := payment.OrderID(""); ; {
		s, err := do(behind)
		if err != nil || s.Seen < batch {
			return err
		}
		behind = s.Last
	}
}

// keys deletes the keys and returns how many commands keep theirs.
func keys(ctx context.Context, from ErasureStore, user payment.UserID) (waiting int, err error) {
	for {
		s, err := from.Keys(ctx, user, keyBatch)
		if err != nil || s.Seen < keyBatch {
			return s.Waiting, err
		}
	}
}

// fresh returns a new pseudonym.
func fresh() string {
	id := make([]byte, 12)
	_, _ = rand.Read(id) // it never fails
	return authz.ErasedPrefix + hex.EncodeToString(id)
}
