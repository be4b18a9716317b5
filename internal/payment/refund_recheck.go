package payment

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/fsm"
)

// DueRefunds lists refunds of an account that its provider should be asked about now.
func (s *Service) DueRefunds(ctx context.Context, account string, limit int) ([]RefundID, error) {
	return s.store.DueRefunds(ctx, account, limit)
}

// RecheckRefund asks the provider what became of a refund, or sends it again
// while it is young, and applies the answer. It returns ErrBusy while another
// runner does. A final refund is returned as it is.
func (s *Service) RecheckRefund(ctx context.Context, id RefundID, cause Cause) (Refund, error) {
	ctx = context.WithoutCancel(ctx)
	licence := s.licence()
	a, r, err := s.takeOverRefund(ctx, id)
	if err != nil || r.State.Final() {
		return r, err
	}
	news := s.askRefund(ctx, a, r, licence)
	if news.Cause.Kind == "" {
		news.Cause = cause
	}
	return s.settleRefund(ctx, r, news)
}

func (s *Service) takeOverRefund(ctx context.Context, id RefundID) (a Attempt, r Refund, err error) {
	found, err := s.store.Refund(ctx, id)
	if err != nil {
		return a, r, err
	}
	err = s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		b := s.newBatch(tx)
		change, locked, err := b.lockRefund(ctx, found)
		if err != nil {
			return err
		}
		a, r = change.Attempt, *locked
		if r.State.Final() {
			return nil
		}
		if locked.leased(b.now()) {
			return ErrBusy
		}
		end := b.now().Add(s.opts.Lease)
		locked.Fence++
		locked.LeaseUntil, locked.NextCheckAt = &end, &end
		if locked.unsent() {
			// From here on it may be with the provider, however old it is.
			locked.UpdatedAt = b.now()
		}
		r = *locked
		b.touchRefund(locked, locked.Version)
		return b.saveRefunds(ctx)
	})
	return a, r, err
}

// lockRefund locks a refund, its attempt first.
func (b *batch) lockRefund(ctx context.Context, r Refund) (*Change, *Refund, error) {
	a, err := b.lock(ctx, r.OrderID, r.AttemptID)
	if err != nil {
		return nil, nil, err
	}
	if err := b.loadRefunds(ctx, a.ID); err != nil {
		return nil, nil, err
	}
	for _, locked := range b.refunds[a.ID] {
		if locked.ID == r.ID {
			return b.change(a), locked, nil
		}
	}
	return nil, nil, ErrRefundNotFound
}

func (s *Service) askRefund(ctx context.Context, a Attempt, r Refund, l Licence) RefundNews {
	account, ok := s.account(a.Account)
	if !ok || account.Provider == nil {
		return RefundNews{News: fsm.NewsUnknown}
	}
	can := account.Provider.Capabilities()
	if r.ProviderRefundID == "" && (r.resendable(can) || r.unsent()) {
		return s.sendRefund(ctx, a, r, l)
	}
	age := r.ReadAt.Sub(r.UpdatedAt) // its row may be older than its sending, see takeOverRefund
	ctx, cancel := s.calling(ctx, l)
	defer cancel()
	out, err := account.Provider.LookupRefund(ctx, RefundRef{
		Refund: r.ID, ProviderRefundID: r.ProviderRefundID, ProviderPaymentID: a.ProviderPaymentID, Age: age,
		Money: r.Money, Taken: Money{a.Captured, a.Money.Currency},
	})
	switch {
	case err == nil:
		return refundNewsOf(out, Cause{})
	case errors.Is(err, ErrNoSuchPayment) && can.RefundsConsistent && r.ProviderRefundID == "" && age > can.sendable()+giveUpLeases*s.opts.Lease:
		return RefundNews{News: fsm.NewsFailed, Inferred: true, Failure: refundNotStarted()}
	}
	return RefundNews{News: fsm.NewsUnknown, Unasked: errors.Is(err, ErrHeldBack)}
}

// settleRefund is commit 2 of a refund; see settle.
func (s *Service) settleRefund(ctx context.Context, before Refund, n RefundNews) (Refund, error) {
	var r Refund
	odd := false
	settle := func(ctx context.Context, b *batch) error {
		change, now, err := b.lockRefund(ctx, before)
		if err != nil {
			return err
		}
		if odd {
			b.open(change, NeedsReview, oddAnswer)
			b.latest().About = aboutRefund + now.ID.String() + " odd answer"
		}
		if n.Unnamed && !b.only(change.Attempt, now) {
			n = RefundNews{News: fsm.NewsUnknown, Cause: n.Cause}
		}
		ours := now.Fence == before.Fence
		if ours || !n.Inferred {
			b.advanceRefund(change, now, n)
		}
		if ours {
			s.releaseRefund(b, change, now, n)
		}
		r = *now
		return b.save(ctx)
	}
	err := s.patiently(ctx, settle)
	if thrown := (*PanicError)(nil); errors.As(err, &thrown) { // see settleAlone
		n, odd = RefundNews{News: fsm.NewsUnknown}, true
		err = errors.Join(err, s.patiently(ctx, settle))
	}
	return r, err
}

// only reports whether a refund is the one that a provider must mean which tells of one
// and not of which: it has taken this one, and no other may have been paid back.
func (b *batch) only(a Attempt, r *Refund) bool {
	return r.ProviderRefundID != "" && a.Refunded == 0 && b.findRefund(a.ID, func(other *Refund) bool { return other.ID != r.ID && other.counts() }) == nil
}

// releaseRefund gives the lease back and sets the next check.
func (s *Service) releaseRefund(b *batch, c *Change, r *Refund, n RefundNews) {
	r.LeaseUntil = nil
	if r.State.Final() {
		return
	}
	at := b.now().Add(s.delay(r.Checks))
	r.NextCheckAt = &at
	if !n.Unasked {
		r.Checks++
	}
	switch {
	case n.News == fsm.NewsProcessing:
		// The provider knows of it: that it does not answer once, later on, is no matter.
		r.Checks = min(r.Checks, len(schedule)-1)
		if b.now().Sub(r.CreatedAt) > s.opts.Accounts[r.Account].Lives.slow() {
			b.open(c, NeedsReview, "The provider has been at work on a refund for long: ask its support what holds it up.")
			b.latest().About = aboutRefund + r.ID.String() + aboutSlow
		}
	case s.ended(r.Checks, n.Unasked, b.now().Sub(r.CreatedAt)):
		b.open(c, NeedsReview, "Nobody can tell what became of a refund: look it up in the provider's dashboard, then resolve it as paid or not paid.")
		b.latest().About = aboutRefund + r.ID.String()
	}
}
