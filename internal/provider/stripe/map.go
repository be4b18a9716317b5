package stripe

import (
	"fmt"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// outcome maps a payment intent by its status
// (https://docs.stripe.com/payments/paymentintents/lifecycle). An unrecognized status
// is processing.
func outcome(pi *stripe.PaymentIntent) (gateway.Outcome, error) {
	if pi.Object != "payment_intent" || pi.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: pi.ID, News: fsm.NewsProcessing}
	if pi.LatestCharge != nil && pi.LatestCharge.ID != "" {
		o.References = []string{pi.LatestCharge.ID}
	}
	var err error
	switch pi.Status {
	case stripe.PaymentIntentStatusRequiresAction:
		o.News, o.NextAction = fsm.NewsActionRequired, payment.Redirect(nextURL(pi.NextAction))
	case stripe.PaymentIntentStatusRequiresCapture:
		o.News = fsm.NewsAuthorized
		o.Money, err = money(pi.AmountCapturable, pi.Currency)
	case stripe.PaymentIntentStatusSucceeded:
		o.News = fsm.NewsSucceeded
		o.Money, err = money(pi.AmountReceived, pi.Currency)
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusRequiresConfirmation:
		o.News, o.Failure = fsm.NewsSoftFailed, failureOf(pi.LastPaymentError)
	case stripe.PaymentIntentStatusCanceled:
		reason := string(pi.CancellationReason)
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure(hooks.CancellationCode(reason), reason)
	case stripe.PaymentIntentStatusProcessing:
	}
	return o, err
}

func refundOutcome(r *stripe.Refund) (gateway.RefundOutcome, error) {
	if r.Object != "refund" || r.ID == "" {
		return gateway.RefundOutcome{}, errNameless
	}
	o := gateway.RefundOutcome{ProviderRefundID: r.ID, News: fsm.NewsProcessing}
	switch r.Status {
	case stripe.RefundStatusSucceeded:
		o.News = fsm.NewsSucceeded
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		o.News, o.Failure = fsm.NewsFailed, payment.NewFailure("provider_rejected", string(r.FailureReason))
	case stripe.RefundStatusPending, stripe.RefundStatusRequiresAction:
	}
	var err error
	o.Money, err = money(r.Amount, r.Currency)
	return o, err
}

// amount is in Stripe's digits. What they can't express is never sent.
func amount(m payment.Money) (int64, error) {
	units, err := hooks.Amount(m.Wire())
	if err != nil {
		return 0, fmt.Errorf("%w: %w", gateway.ErrUnfit, err)
	}
	return units, nil
}

func money(units int64, currency stripe.Currency) (*payment.Money, error) {
	m, err := hooks.Money(units, string(currency))
	if err != nil {
		return nil, err
	}
	return &payment.Money{Minor: m.Minor, Currency: payment.Currency(m.Currency)}, nil
}

func failureOf(e *stripe.Error) *payment.Failure {
	if e == nil {
		return payment.NewFailure("provider_rejected", "")
	}
	return payment.NewFailure(hooks.FailureCode(string(e.Type), string(e.Code), string(e.DeclineCode)))
}

// nextURL returns where the customer must go: the bank's page, or Stripe's page with
// the voucher or the QR code. An action that needs Stripe's own script has none.
func nextURL(n *stripe.PaymentIntentNextAction) string {
	switch {
	case n == nil:
		return ""
	case n.RedirectToURL != nil:
		return n.RedirectToURL.URL
	case n.AlipayHandleRedirect != nil:
		return n.AlipayHandleRedirect.URL
	case n.BoletoDisplayDetails != nil:
		return n.BoletoDisplayDetails.HostedVoucherURL
	case n.KonbiniDisplayDetails != nil:
		return n.KonbiniDisplayDetails.HostedVoucherURL
	case n.MultibancoDisplayDetails != nil:
		return n.MultibancoDisplayDetails.HostedVoucherURL
	case n.OXXODisplayDetails != nil:
		return n.OXXODisplayDetails.HostedVoucherURL
	case n.DisplayBankTransferInstructions != nil:
		return n.DisplayBankTransferInstructions.HostedInstructionsURL
	case n.CashAppHandleRedirectOrDisplayQRCode != nil:
		return n.CashAppHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.PayNowDisplayQRCode != nil:
		return n.PayNowDisplayQRCode.HostedInstructionsURL
	case n.PixDisplayQRCode != nil:
		return n.PixDisplayQRCode.HostedInstructionsURL
	case n.PromptPayDisplayQRCode != nil:
		return n.PromptPayDisplayQRCode.HostedInstructionsURL
	case n.SwishHandleRedirectOrDisplayQRCode != nil:
		return n.SwishHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.UpiHandleRedirectOrDisplayQRCode != nil:
		return n.UpiHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.WeChatPayDisplayQRCode != nil:
		return n.WeChatPayDisplayQRCode.HostedInstructionsURL
	case n.VerifyWithMicrodeposits != nil:
		return n.VerifyWithMicrodeposits.HostedVerificationURL
	}
	return ""
}
