package console

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// refundView is the content of the two steps of a refund: without Money the first one.
type refundView struct {
	Frame
	Form
	// Left is the refundable amount.
	Left payment.Money
	// Amount is the typed text; Money is the amount parsed from it.
	Amount string
	Money  *payment.Money
	// Disputed is set while a dispute of the payment is open.
	Disputed bool
}

const refundTitle = "Refund"

// refundable reads the payment that is to be refunded; only admin may.
func (v *visit) refundable() (support.Attempt, payment.Money, error) {
	if !v.Who.Has(payment.RoleAdmin) {
		return support.Attempt{}, payment.Money{}, v.AuditLog.Refuse(v.R.Context(), v.Who, support.Refunded, "attempt", v.R.PathValue("id"), payment.ErrForbidden)
	}
	id, err := IDOf(v.Visit, support.Refunded, "attempt", payment.ParseAttemptID)
	if err != nil {
		return support.Attempt{}, payment.Money{}, err
	}
	a, err := v.Support.Attempt(v.R.Context(), v.Who, id)
	return a, payment.Money{Minor: a.Refundable, Currency: a.Money.Currency}, err
}

func (v *visit) askRefund() error {
	a, left, err := v.refundable()
	if err != nil {
		return err
	}
	return v.Show(refundPage(refundView{Frame: v.Frame(refundTitle), Form: v.Form(AttemptPath(a.ID)), Left: left, Amount: Decimal(left)}))
}

// refund shows the amount once more before money moves. The refundable amount must not change before the
// confirmation: another person may have made the same refund.
func (v *visit) refund() error {
	a, left, err := v.refundable()
	if err != nil {
		return err
	}
	typed, to := v.R.PostFormValue("amount"), AttemptPath(a.ID)
	f := v.Sent(to)
	view := func(f Form, asked *payment.Money) templ.Component {
		return refundPage(refundView{v.Frame(refundTitle), f, left, typed, asked, openDispute(a)})
	}
	again := func(f Form) templ.Component { return view(f, nil) }
	seen, sure := v.seen(left)
	money, err := ParseMoney(typed, seen)
	if err == nil && strings.TrimSpace(f.Reason) != "" && !sure {
		return v.Show(view(f, &money))
	}
	return v.Once(f, to, again, func() (string, error) {
		if err != nil {
			return "", err
		}
		refunded, err := v.createRefund(a, f, money, seen)
		if err != nil {
			return "", err
		}
		return "The refund of " + amount.Of(money) + " is " + string(refunded.State) + ".", nil
	})
}

// seen returns the refundable amount that the confirmed page showed, and true. Without such a page it returns the
// present amount and false.
func (v *visit) seen(left payment.Money) (payment.Money, bool) {
	expected, err := strconv.ParseInt(v.R.PostFormValue("expected"), 10, 64)
	if err != nil || v.R.PostFormValue("sure") != "yes" {
		return left, false
	}
	return payment.Money{Minor: expected, Currency: left.Currency}, true
}

// openDispute reports whether a dispute of the payment is open.
func openDispute(a support.Attempt) bool {
	return slices.ContainsFunc(a.Disputes, func(d payment.Dispute) bool { return !d.State.Closed() })
}

// createRefund is the API's call, with the form's key.
func (v *visit) createRefund(a support.Attempt, f Form, money, seen payment.Money) (refunded commands.RefundReply, err error) {
	body, err := json.Marshal(map[string]int64{"amount": money.Minor, "expected_refundable": seen.Minor})
	if err != nil {
		return refunded, err //nolint:wrapcheck // a number
	}
	const route = "/support/attempts/:id/refund"
	req := idempotency.Request{
		User: v.Who.Subject, Endpoint: "POST " + AttemptPath(a.ID) + "/refund", Key: idempotency.Key(f.Key),
		Hash: idempotency.HashRequest(http.MethodPost, route, []string{a.ID.String()}, nil, body),
		Refusal: func(err error) idempotency.Response {
			status, text := RefusalText(err)
			return idempotency.Response{Status: status, Body: []byte(text)}
		},
	}
	err = v.AuditLog.Act(v.R.Context(), v.Who, support.Refunded, "attempt", a.ID.String(), f.Reason, func() (err error) {
		// The reason stays in the audit log: a provider would show it to others.
		refunded, err = v.Payments.Refund(v.R.Context(), v.Who.Actor, req, commands.CreateRefund{
			AttemptID: a.ID, Amount: &money.Minor, Expected: &seen.Minor, AcknowledgeDispute: v.R.PostFormValue("acknowledge_dispute") == "yes",
		})
		return err
	})
	return refunded, err
}
