package imports

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
)

// order returns the payment's order, as a service would have created it.
func (p *Past) order() payment.Order {
	return payment.Order{
		ID: p.Order, UserID: p.User, CreatedBy: payment.RoleService, RequestID: payment.RequestID("import:" + string(p.Order)),
		RequestHash: p.Hash(), Money: p.Money, CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt,
	}
}

// attempt is the payment under the rules of a cell, with its log and its movements, recorded now. Its names are the changeset's.
func (p *Past) attempt(o payment.Order, rules changeset.Rules, now time.Time) changeset.AttemptWrite {
	a := payment.Attempt{
		ID: p.id(rules.Cell), OrderID: p.Order, UserID: p.User, RequestID: p.Request, RequestHash: p.Hash(),
		Account: p.Account, Merchant: rules.Accounts.Get(p.Account).Merchant,
		Origin: payment.OriginImported, State: fsm.Requested, Money: p.Money, Capture: payment.CaptureAutomatic,
		Version: 1, CreatedAt: p.CreatedAt, UpdatedAt: p.CreatedAt, ReadAt: now, Siblings: len(o.Attempts) > 0,
	}
	if p.Succeeded && p.AmountCaptured < p.Money.Minor {
		a.Capture = payment.CaptureManual
	}
	born := a.InitialTransition()
	ended := past(&a, p.report(), now)
	return changeset.AttemptWrite{
		Attempt: a, Transitions: []payment.Transition{born, ended}, Movements: a.Movements, Names: []string{a.ID.String()},
	}
}

func (p *Past) id(in payment.Cell) payment.AttemptID {
	if p.Attempt != (payment.AttemptID{}) {
		return p.Attempt
	}
	return payment.AttemptID(in.NewIDAt(p.CreatedAt))
}

// report is how the payment ended.
func (p *Past) report() payment.Report {
	r := payment.Report{
		Payment: p.Payment, References: slices.Clone(p.References), Event: fsm.EventFailed, At: p.FinalizedAt,
		Cause: payment.Cause{Kind: payment.CauseImport, ID: string(p.Request)},
	}
	if !p.Succeeded {
		return r
	}
	r.Event = fsm.EventSucceeded
	r.Movements = []payment.MovementReport{{Kind: payment.MovementCapture, Money: payment.Money{Minor: p.AmountCaptured, Currency: p.Money.Currency}}}
	if p.AmountRefunded > 0 {
		r.Movements = append(r.Movements, payment.MovementReport{Kind: payment.MovementRefund, Money: payment.Money{Minor: p.AmountRefunded, Currency: p.Money.Currency}})
	}
	return r
}

// past applies the recorded history of a payment that ended at r.At: a new attempt is final since then. Its movements have this
// date too, and are recorded now.
func past(a *payment.Attempt, r payment.Report, now time.Time) payment.Transition {
	for i := range r.Movements {
		r.Movements[i].At = r.At
	}
	known := len(a.Movements)
	t, _ := payment.Advance(a, r, r.At)
	for i := range a.Movements[known:] {
		a.Movements[known+i].RecordedAt = now
	}
	return t
}
