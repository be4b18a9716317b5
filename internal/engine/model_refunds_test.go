package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// The outcomes of a call for a refund.
const (
	isBack        = "is paid back"
	backUnheard   = "is paid back, unheard"
	backLater     = "is paid back later"
	refundRefused = "is refused"
)

var anyPayback = rapid.SampledFrom([]string{isBack, backUnheard, backLater, refundRefused, neverArrives})

// aPart is the amount of a partial capture or refund in the dashboard.
const aPart = 500

// back is a refund at the provider.
type back struct {
	of     *deal
	id     string
	refund payment.RefundID
	key    string
	amount int64
	done   bool
	// failed is set where it was refused after all, or undone if it was done.
	failed bool
}

// open reports whether the provider is at work on it.
func (r *back) open() bool { return !r.done && !r.failed }

func (p *scripted) Refund(_ context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	if p.heldBack() {
		return gateway.RefundOutcome{}, errHeldBack
	}
	c.Reason = cmp.Or(c.Reason, p.payback)
	if c.Reason == neverArrives {
		return gateway.RefundOutcome{}, errUnheard
	}
	r := p.refund(func(r *back) bool { return !p.keyless && r.key == c.IdempotencyKey })
	if r == nil {
		d := p.deal(func(d *deal) bool { return d.attempt == c.Attempt })
		if d != nil {
			p.carries(d, c.ProviderPaymentID)
		}
		if d == nil || p.left(d) < c.Money.Minor || c.Reason == refundRefused {
			return gateway.RefusedRefund("no"), nil
		}
		r = &back{of: d, id: "re-" + c.Refund.String(), refund: c.Refund, key: c.IdempotencyKey, amount: c.Money.Minor}
		p.mu.Lock()
		p.backs = append(p.backs, r)
		p.mu.Unlock()
		if c.Reason != backLater {
			p.giveBack(r)
		}
		if c.Reason == backUnheard {
			return gateway.RefundOutcome{}, errUnheard
		}
	}
	return r.outcome(), nil
}

// unnamed reports whether the provider has a refund of this side that has no name here yet.
func (w *world) unnamed(b *back) bool {
	r, err := w.store.Refund(w.ctx, b.refund)
	w.must(err)
	return r.ProviderRefundID == "" && r.State == fsm.RefundPending
}

// settled reports whether a refund is done here, and was reported so.
func (w *world) settled(b *back) bool {
	told := slices.ContainsFunc(w.p.notices, func(n *notice) bool { return n.event.RefundID == b.id && n.verdict != "" && !parked(n.verdict) })
	r, err := w.store.Refund(w.ctx, b.refund)
	w.must(err)
	return told && r.State == fsm.RefundSucceeded
}

// left is how much of a payment was not refunded, nor is being refunded.
func (p *scripted) left(d *deal) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := d.taken + d.twice() - d.back
	for _, r := range p.backs {
		if r.of == d && r.open() {
			left -= r.amount
		}
	}
	return left
}

// leftOfFirst is the amount left without the second payment.
func (p *scripted) leftOfFirst(d *deal) int64 { return max(0, p.left(d)-d.twice()) }

func (p *scripted) refund(is func(*back) bool) *back {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.backs, is); i >= 0 {
		return p.backs[i]
	}
	return nil
}

// refundByHand makes a refund in the dashboard.
func (p *scripted) refundByHand(d *deal, amount int64) {
	d.byHand++
	p.giveBack(&back{of: d, id: fmt.Sprintf("by-hand-%d-%s", d.byHand, d.id), amount: amount})
}

// isByHand reports whether a refund was made in the dashboard.
func isByHand(id string) bool { return strings.HasPrefix(id, "by-hand-") }

func (p *scripted) giveBack(r *back) {
	r.done = true
	r.of.back += r.amount
	r.of.returned += r.amount
	p.noteRefund(r, webhooks.KindRefundSucceeded)
}

// fail refuses a refund that the provider was at work on, or undoes one.
func (p *scripted) fail(r *back) {
	if r.done {
		r.of.back -= r.amount
		r.of.undone = true
	}
	r.failed = true
	p.noteRefund(r, webhooks.KindRefundFailed)
}

func (p *scripted) noteRefund(r *back, kind webhooks.Kind) {
	n := p.note(r.of, kind)
	n.event.RefundID = r.id
	if r.key != "" {
		n.event.RefundReference = r.refund.String()
	}
	n.event.Money = &webhooks.Money{Minor: r.amount, Currency: "EUR"}
}

func (r *back) outcome() gateway.RefundOutcome {
	o := gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: r.id, Money: &payment.Money{Minor: r.amount, Currency: "EUR"}}
	switch {
	case r.failed:
		o.Event = fsm.EventFailed
	case r.done:
		o.Event = fsm.EventSucceeded
	}
	return o
}

func (p *scripted) LookupRefund(_ context.Context, ref gateway.RefundRef) (gateway.RefundOutcome, error) {
	if p.heldBack() {
		return gateway.RefundOutcome{}, errHeldBack
	}
	r := p.refund(func(r *back) bool { return r.refund == ref.Refund })
	switch {
	case p.blind:
		return gateway.RefundOutcome{}, gateway.ErrUnsupported
	case r == nil:
		return gateway.RefundOutcome{}, gateway.ErrNoSuchPayment
	}
	return r.outcome(), nil
}

func (*scripted) Accepts(gateway.Charge) error { return nil }

func (*scripted) TokenKind(string) gateway.TokenKind { return gateway.TokenSingleUse }

func (*scripted) Unseen(gateway.Details) (time.Duration, bool) { return 0, false }

func (*scripted) CheckOwner(context.Context, string, string) error { return nil }
