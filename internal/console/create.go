package console

import (
	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// RequestTitle is the title of the form that requests a refund.
const RequestTitle = "Request a refund"

// RequestPath is the form that requests a refund of a payment.
func RequestPath(id payment.AttemptID) string { return AttemptPath(id) + "/ask-refund" }

// createView is the content of the form.
type createView struct {
	Frame
	Form
	// Left is the refundable amount. Amount is the text that was typed.
	Left   payment.Money
	Amount string
}

// payment reads the payment of the address.
func (v requestsVisit) payment() (support.Attempt, payment.Money, error) {
	id, err := IDOf(v.Visit, support.AskedForRefund, "attempt", payment.ParseAttemptID)
	if err != nil {
		return support.Attempt{}, payment.Money{}, err
	}
	a, err := v.attempt(v.R.Context(), v.Who, id)
	return a, payment.Money{Minor: a.Refundable, Currency: a.Money.Currency}, err
}

func (v requestsVisit) showCreate() error {
	a, left, err := v.payment()
	if err != nil {
		return err
	}
	return v.Show(createPage(createView{v.Frame(RequestTitle), v.Form(AttemptPath(a.ID)), left, Decimal(left)}))
}

func (v requestsVisit) create() error {
	a, left, err := v.payment()
	if err != nil {
		return err
	}
	typed, to := v.R.PostFormValue("amount"), AttemptPath(a.ID)
	f := v.Sent(to)
	again := func(f Form) templ.Component {
		return createPage(createView{v.Frame(RequestTitle), f, left, typed})
	}
	return v.Once(f, to, again, func() (string, error) {
		money, err := ParseMoney(typed, left)
		if err != nil {
			return "", err
		}
		_, _, err = v.Create(v.R.Context(), v.Who, refundrequest.Create{AttemptID: a.ID, Amount: money.Minor, Currency: money.Currency, Reason: f.Reason})
		return "You requested a refund of " + amount.Of(money) + ". An admin will approve or decline the request.", err
	})
}
