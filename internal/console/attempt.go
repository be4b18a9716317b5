package console

import (
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// attemptView is the content of the page of a payment.
type attemptView struct {
	Frame
	support.Attempt
	// AtProvider is the payment's address in the provider's dashboard; empty if there is none.
	AtProvider string
	// Clocks has the shop's time zone; Now is the time of the page.
	Clocks support.Clocks
	Now    time.Time
	// Doubt is a sentence about another payment that looks alike; empty if there is none.
	Doubt string
}

// CanRefund reports whether the person may refund money that is left.
func (a attemptView) CanRefund() bool { return a.Admin && a.Refundable > 0 }

// CanAskForRefund reports whether the person may ask an admin for a refund of money that is left.
func (a attemptView) CanAskForRefund() bool { return !a.Admin && a.Refundable > 0 }

func (v *visit) showAttempt() error {
	id, err := IDOf(v.Visit, support.ViewedAttempt, "attempt", payment.ParseAttemptID)
	if err != nil {
		return err
	}
	a, err := v.Support.Attempt(v.R.Context(), v.Who, id)
	if err != nil {
		return err
	}
	doubt, err := Doubt(v.R.Context(), v.Customers, v.Who.Actor, a.Attempt)
	if err != nil {
		return err
	}
	return v.Show(attemptPage(attemptView{
		Frame: v.Frame("Payment for order " + string(a.OrderID)), Attempt: a, AtProvider: v.atProvider(a), Clocks: v.Clocks, Now: v.Now(), Doubt: doubt,
	}))
}

// newestRefunds returns the refunds, the newest first.
func (a attemptView) newestRefunds() []support.ShownRefund {
	list := slices.Clone(a.Refunds)
	slices.Reverse(list)
	return list
}

// refundDay is the time of a refund's end, or else of its request.
func refundDay(r payment.Refund) time.Time {
	if r.FinalizedAt != nil {
		return *r.FinalizedAt
	}
	return r.CreatedAt
}

// refundWords is the state of a refund in words.
func refundWords(r payment.Refund, a payment.Attempt) string {
	if r.Reversed(&a) {
		return "undone"
	}
	return string(r.State)
}

// atProvider returns the payment's address in the provider's dashboard.
func (v *visit) atProvider(a support.Attempt) string {
	capture := ""
	for _, m := range a.Movements {
		if m.Kind == payment.MovementCapture && m.Source == payment.MovementNamed && capture == "" {
			capture = m.ProviderID
		}
	}
	return v.Dashboard(a.Account, a.ProviderPaymentID, capture)
}

const recheckTitle = "Re-check status"

func (v *visit) askRecheck() error {
	id, err := IDOf(v.Visit, support.Rechecked, "attempt", payment.ParseAttemptID)
	if err != nil {
		return err
	}
	return v.Show(recheckPage(v.Frame(recheckTitle), v.Form(AttemptPath(id))))
}

func (v *visit) recheck() error {
	id, err := IDOf(v.Visit, support.Rechecked, "attempt", payment.ParseAttemptID)
	if err != nil {
		return err
	}
	to := AttemptPath(id)
	again := func(f Form) templ.Component { return recheckPage(v.Frame(recheckTitle), f) }
	return v.Once(v.Sent(to), to, again, func() (string, error) {
		now, err := v.Support.Recheck(v.R.Context(), v.Who, id, v.R.PostFormValue("reason"))
		if err != nil {
			return "", err
		}
		return "The status was re-checked. The payment is now " + stateWords(now.State) + ".", nil
	})
}

// stateWords is a state in words.
func stateWords(s fsm.State) string {
	switch s {
	case fsm.OutcomeUnknown:
		return "unknown outcome"
	case fsm.AwaitingCustomer:
		return "waiting for the customer"
	case fsm.Requested, fsm.Processing, fsm.Authorized, fsm.Succeeded, fsm.Failed:
	}
	return string(s)
}

// Payment is the attempt alone.
func (a attemptView) Payment() payment.Attempt { return a.View.Attempt }

func money(a payment.Attempt, minor int64) string {
	return amount.In(a.Money.Currency, minor)
}
