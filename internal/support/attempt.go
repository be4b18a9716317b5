package support

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/redact"
)

// Attempt is an attempt as staff sees it.
type Attempt struct {
	payment.View

	Summary  string
	Timeline []Entry
	Events   []ShownEvent
	// Refundable is how much of it can be paid back, in minor units.
	Refundable int64
	// Askable says that a recheck has something to ask.
	Askable bool
}

// ShownEvent is a stored event with what may be shown of its bytes; nil if they
// are gone or too large for a list.
type ShownEvent struct {
	Event

	Payload any
}

func shown(e Event) ShownEvent { return ShownEvent{e, redact.Body(e.Body)} }

// Attempt shows all that happened to an attempt. What this process has noted only
// in memory is written first. It returns payment.ErrForbidden and
// payment.ErrAttemptNotFound.
func (s *Service) Attempt(ctx context.Context, who Staff, id payment.AttemptID) (Attempt, error) {
	if err := who.mayLook(); err != nil {
		return Attempt{}, err
	}
	// What could not be written now is written later; the page is worth showing
	// without it.
	_ = s.flush(ctx)
	c, err := s.store.Case(ctx, id)
	d := who.deed(ViewedAttempt, attemptTarget, id.String())
	if err == nil {
		d = d.about(c.Attempt)
	}
	if err := s.looked(ctx, d, err); err != nil {
		return Attempt{}, err
	}
	return c.page(), nil
}

func (c Case) page() Attempt {
	p := Attempt{
		View: c.view(), Summary: c.Summary(), Timeline: c.Timeline(), Refundable: c.Attempt.Refundable(c.Refunds),
		Askable: !c.Attempt.State.Final() || c.Attempt.NextCheckAt != nil || len(c.pendingRefunds()) > 0,
	}
	for _, e := range c.Events {
		p.Events = append(p.Events, shown(e))
	}
	return p
}

func (c Case) view() payment.View {
	for _, v := range c.Order.Views() {
		if v.ID == c.Attempt.ID {
			return v
		}
	}
	return payment.View{Attempt: c.Attempt}
}

func (c Case) pendingRefunds() []payment.RefundID {
	var ids []payment.RefundID
	for _, r := range c.Refunds {
		if !r.State.Final() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Recheck asks the provider now how an attempt and its refunds stand, as far as they
// are pending, and returns the attempt as it is then. Asked twice it changes nothing
// twice. It returns payment.ErrBusy while another runner asks, payment.ErrForbidden,
// payment.ErrAttemptNotFound and a payment.ValidationError without a reason.
func (s *Service) Recheck(ctx context.Context, who Staff, id payment.AttemptID, reason string) (payment.View, error) {
	if err := who.mayAct(reason); err != nil {
		return payment.View{}, err
	}
	d := who.deed(Rechecked, attemptTarget, id.String())
	d.Reason = reason
	c, err := s.store.Case(ctx, id)
	if err != nil {
		return payment.View{}, errors.Join(err, s.came(ctx, d, err))
	}
	d = d.about(c.Attempt)
	if err := s.write(ctx, d, Begun); err != nil {
		return payment.View{}, err
	}
	cause := payment.Cause{Kind: payment.CauseCheck, ID: "staff:" + who.Subject}
	v, err := s.payments.Recheck(ctx, id, cause)
	refunds := c.pendingRefunds()
	for _, refund := range refunds {
		if err == nil {
			_, err = s.payments.RecheckRefund(ctx, refund, cause)
		}
	}
	// That the person has gone meanwhile does not undo what was done.
	if came := s.came(context.WithoutCancel(ctx), d, err); came != nil && err == nil {
		err = came
	}
	if err != nil || len(refunds) == 0 {
		return v, err
	}
	c, err = s.store.Case(ctx, id) // refunds count in their attempt
	return c.view(), err
}
