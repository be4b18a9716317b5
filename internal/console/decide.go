package console

import (
	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// decideView is the content of the forms that decide a request.
type decideView struct {
	Frame
	Form
	refundrequest.Request
	// Left is the amount that can be refunded now.
	Left payment.Money
}

// read returns the request of the address, with the refundable amount of its payment.
func (v requestsVisit) read(action support.Action, title string) (decideView, error) {
	id, err := IDOf(v.Visit, action, "refund_request", refundrequest.ParseID)
	if err != nil {
		return decideView{}, err
	}
	r, err := v.Request(v.R.Context(), v.Who, id)
	if err != nil {
		return decideView{}, err
	}
	a, err := v.attempt(v.R.Context(), v.Who, r.AttemptID)
	view := decideView{Frame: v.Frame(title), Form: v.Form(listPath), Request: r, Left: payment.Money{Minor: a.Refundable, Currency: r.Money.Currency}}
	return view, err
}

const approveTitle = "Approve the refund"

func (v requestsVisit) askApprove() error {
	if err := v.Who.Require(payment.RoleAdmin); err != nil {
		return v.AuditLog.Refuse(v.R.Context(), v.Who, support.ApprovedRefund, "refund_request", v.R.PathValue("id"), err)
	}
	view, err := v.read(support.ApprovedRefund, approveTitle)
	if err != nil {
		return err
	}
	return v.Show(approvePage(view))
}

func (v requestsVisit) approve() error {
	view, err := v.read(support.ApprovedRefund, approveTitle)
	if err != nil {
		return err
	}
	again := func(f Form) templ.Component {
		view.Form = f
		return approvePage(view)
	}
	f, to := v.Sent(listPath), AttemptPath(view.AttemptID)
	return v.Once(f, to, again, func() (string, error) {
		r, err := v.Approve(v.R.Context(), v.Who, view.ID, f.Reason)
		return "The refund of " + amount.Of(r.Money) + " is approved by " + r.DecidedBy + ", and has been started.", err
	})
}

func (v requestsVisit) askDecline() error {
	view, err := v.read(support.DeclinedRefund, "")
	if err != nil {
		return err
	}
	view.Title = declineTitle(view.Request, v.Who) + " the request"
	return v.Show(declinePage(view))
}

func (v requestsVisit) decline() error {
	view, err := v.read(support.DeclinedRefund, "")
	if err != nil {
		return err
	}
	view.Title = declineTitle(view.Request, v.Who) + " the request"
	again := func(f Form) templ.Component {
		view.Form = f
		return declinePage(view)
	}
	f := v.Sent(listPath)
	return v.Once(f, listPath, again, func() (string, error) {
		r, err := v.Decline(v.R.Context(), v.Who, view.ID, f.Reason)
		return "The request for " + amount.Of(r.Money) + " is " + requestsStateWords(r) + ". No money moves.", err
	})
}
