package changeset

import (
	"cmp"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// notOurs returns the finding of a report that must not be counted: its payment was made to another account, in the
// other mode, or is tied to the attempt by nothing but a mark that a browser could have written. It returns nil for all others.
//
// A mark is a claim. A payment that is found by it counts once the provider has shown that it was paid to this account, in
// this mode, with the full amount in the attempt's currency, and has no name of another attempt.
func (s *Changeset) notOurs(c *Change, r payment.Report) *payment.Finding {
	if r.Cause.Kind != payment.CauseWebhook && r.Cause.Kind != payment.CauseCheck {
		return nil
	}
	account := s.Accounts.Get(c.Attempt.Account)
	f := &payment.Finding{Kind: payment.NeedsReview, AboutID: cmp.Or(r.Payment, r.Container, r.Cause.ID)}
	for i := range r.Movements {
		if m := &r.Movements[i]; m.Money.Currency != "" {
			f.Money = &m.Money
		}
	}
	other := r.Payee != "" && !slices.Contains(account.Payees, r.Payee)
	switch {
	case r.Live != nil && account.Live != nil && *r.Live != *account.Live:
		f.AboutID = cmp.Or(r.Payment, r.Container, c.Attempt.ID.String()) // once for each payment, however often it is reported
		f.About, f.Text = payment.AboutOtherMode, "The provider reports a payment in test mode at an account in live mode, or the other way round. The payment is not counted. Check in the provider's dashboard how it was made."
	case other && len(account.Payees) > 0:
		f.About, f.Text = payment.AboutOtherPayee, "This payment was made to another account, "+r.Payee+", and not to this one. The payment is not counted, because the shop has not received the money."
	case claimed(c, r) && moves(r) && (other && s.capabilities(c.Attempt).Identity.PaysOthers() || !full(c.Attempt, r)):
		f.About, f.Text = payment.AboutClaim, "A payment has this attempt's id, but the customer's browser could have written the id, and "+
			"the provider does not show that the whole amount goes to this account. The payment is not counted. Look it up in "+
			"the provider's dashboard, and report its id here if it belongs to the order."
	case moves(r) && s.anothers(c, r):
		f.About, f.Text = payment.AboutClaim, "A payment has this attempt's id, but the customer's browser could have written the id, and "+
			"the payment also has an id of another attempt. The payment is not counted here. Look it up in the provider's dashboard, "+
			"and report its id for the order that it pays."
	default:
		return nil
	}
	return f
}

// strangers reports whether a report without money is of a payment that only a mark from a browser ties to the attempt, and that
// may pay another account or another attempt, or is reported by a webhook before the attempt's charge has been answered. The attempt must not get the
// payment's name by that: its money would no longer be a claim, and its failure would end the attempt beside the charge. What
// became of the charge is in its response, in a lookup, or in the money.
func (s *Changeset) strangers(c *Change, r payment.Report) bool {
	if !claimed(c, r) || moves(r) {
		return false
	}
	if s.anothers(c, r) {
		return true
	}
	other := r.Payee != "" && s.capabilities(c.Attempt).Identity.PaysOthers() && !slices.Contains(s.Accounts.Get(c.Attempt.Account).Payees, r.Payee)
	return other || r.Cause.Kind == payment.CauseWebhook && unanswered(&c.Attempt)
}

// unanswered reports whether the attempt's charge is open and no report has named its payment.
func unanswered(a *payment.Attempt) bool {
	take := a.OpenTake()
	return take != nil && take.Kind == payment.OperationCharge && a.Unreported()
}

// anothers reports whether a payment has a name that belongs to another attempt. It is about payments that only a mark from a browser
// ties to the attempt. The name is the payment's id, its container's id, or the other attempt's own id. Other references do not count,
// because a shop may give two attempts of one order the same number.
func (s *Changeset) anothers(c *Change, r payment.Report) bool {
	return claimed(c, r) && slices.ContainsFunc(r.Names(), func(name string) bool {
		owner, known := s.names.owners[payment.Reference{Account: c.Attempt.Account, Name: name}]
		_, own := payment.OwnAttemptID(name)
		return known && owner != c.Attempt.ID && (own || name == r.Payment || name == r.Container)
	})
}

// claimed reports whether nothing but a mark from a browser ties the payment of a report to the attempt.
func claimed(c *Change, r payment.Report) bool {
	return r.BrowserMark && !c.Attempt.Knows(r.Payment) && !c.Attempt.Knows(r.Container)
}

func moves(r payment.Report) bool { return r.Refund != nil || len(r.Movements) > 0 }

// full reports whether a report states that the whole amount of an attempt was captured, or is held.
func full(a payment.Attempt, r payment.Report) bool {
	return (r.Event == fsm.EventAuthorized || r.Event == fsm.EventSucceeded) &&
		slices.ContainsFunc(r.Movements, func(m payment.MovementReport) bool { return m.Pays() && m.Money == a.Money })
}
