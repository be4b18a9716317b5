package support

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

// Attempt is the page of an attempt.
type Attempt struct {
	payment.View

	Summary string
	// Bought is the order's description; empty if there is none.
	Bought   string
	Timeline []Entry
	Events   []ShownEvent
	// OfOrder are all attempts of the order, with their movements.
	OfOrder []payment.Attempt
	// Refundable is in minor units.
	Refundable int64
	// Askable is true while a re-check can change something.
	Askable bool
	// Refunds are the attempt's refunds, oldest first, without dashboard refunds that are in fact refunds of ours. Provider has facts about its provider.
	Refunds  []ShownRefund
	Provider Provider
}

// ShownEvent is a stored event with its redacted bytes; nil if they are deleted or too
// large for a list.
type ShownEvent struct {
	Event

	Payload any
}

func shown(e Event) ShownEvent { return ShownEvent{e, redact.Body(e.Body)} }

// Attempt returns the history of an attempt. The activity that this process holds in
// memory is written first. It returns payment.ErrForbidden and
// payment.ErrAttemptNotFound.
func (s *Service) Attempt(ctx context.Context, who Staff, id payment.AttemptID) (Attempt, error) {
	if err := who.mayLook(); err != nil {
		return Attempt{}, err
	}
	// After an error the activity is written later; the page is useful without.
	_ = s.flush(ctx)
	h, err := s.store.AttemptHistory(ctx, id)
	d := who.entry(ViewedAttempt, attemptTarget, id.String())
	if err == nil {
		d = d.about(h.Attempt)
	}
	if err := s.audited(ctx, d, err); err != nil {
		return Attempt{}, err
	}
	for i, n := range h.Messages {
		h.Messages[i].Deliveries = s.expected(n)
	}
	h.Provider, h.Clocks = s.provider(h.Attempt.Account), s.clocks
	p := h.Page()
	p.Askable = p.Askable || s.payments.Askable(h.Attempt)
	return p, nil
}

// Page is the page of the attempt, as it is written without an entry in the audit log.
func (h AttemptHistory) Page() Attempt {
	p := Attempt{
		View: h.view(), Bought: h.Order.Description, OfOrder: h.Order.Attempts, Summary: h.Summary(), Timeline: h.Timeline(), Refundable: payment.RefundLeft(h.Attempt, h.Refunds),
		Refunds: h.shownRefunds(), Provider: h.Provider,
		Askable: !h.Attempt.State.Final() || h.nextAt() != nil || len(h.pendingRefunds()) > 0,
	}
	for _, e := range h.Events {
		p.Events = append(p.Events, shown(e))
	}
	return p
}

func (h AttemptHistory) view() payment.View {
	for _, v := range h.Order.Views() {
		if v.ID == h.Attempt.ID {
			v.Disputes, v.Movements = h.Attempt.Disputes, h.Attempt.Movements
			return v
		}
	}
	return payment.View{Attempt: h.Attempt}
}

func (h AttemptHistory) pendingRefunds() []payment.RefundID {
	var ids []payment.RefundID
	for _, r := range h.Refunds {
		if !r.State.Final() {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Recheck applies the provider's present state of an attempt and its refunds, final ones
// too, and returns the attempt as it is then. A second call changes nothing twice. It returns payment.ErrBusy while another runner works on it,
// payment.ErrForbidden, payment.ErrAttemptNotFound and a payment.ValidationError without
// a reason.
func (s *Service) Recheck(ctx context.Context, who Staff, id payment.AttemptID, reason string) (payment.View, error) {
	if err := who.mayAct(reason); err != nil {
		return payment.View{}, err
	}
	e := who.entry(Rechecked, attemptTarget, id.String())
	e.Reason = reason
	h, err := s.store.AttemptHistory(ctx, id)
	if err != nil {
		return payment.View{}, s.audited(ctx, e, err)
	}
	cause := payment.Cause{Kind: payment.CauseCheck, ID: "staff:" + who.Subject}
	refunds := h.pendingRefunds()
	var v payment.View
	err = s.around(ctx, e.about(h.Attempt), func() (err error) {
		v, err = s.payments.AskOnce(ctx, id, cause, 0)
		for _, pending := range refunds {
			if err == nil {
				_, err = s.payments.RecheckRefund(ctx, pending, cause)
			}
		}
		return err
	})
	if err != nil || len(refunds) == 0 {
		return v, err
	}
	h, err = s.store.AttemptHistory(ctx, id) // refunds count in their attempt
	return h.view(), err
}
