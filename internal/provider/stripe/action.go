package stripe

import (
	"encoding/json"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/payment"
)

// action returns the customer's next action: the bank's page, a voucher or a code, or Stripe.js. Stripe.js handles all
// other actions with the payment's client secret (https://docs.stripe.com/js/payment_intents/handle_next_action). It needs
// the connected account of a direct charge (https://docs.stripe.com/connect/direct-charges).
func action(pi *stripe.PaymentIntent, connected string) *payment.NextAction {
	if shown := voucher(pi.NextAction); shown != nil {
		return shown
	}
	if to := payment.Redirect(nextURL(pi.NextAction)); to != nil {
		return to
	}
	if pi.NextAction == nil || pi.ClientSecret == "" {
		return nil
	}
	shown := map[string]string{"client_secret": pi.ClientSecret, "payment_intent": pi.ID}
	if connected != "" {
		shown["stripe_account"] = connected
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return nil
	}
	return &payment.NextAction{Type: payment.ActionSDK, Data: data}
}

// voucher returns a voucher that the customer pays elsewhere: its number, and Stripe's page that shows it.
func voucher(n *stripe.PaymentIntentNextAction) *payment.NextAction {
	switch {
	case n == nil:
		return nil
	case n.BoletoDisplayDetails != nil:
		return display(n.BoletoDisplayDetails, n.BoletoDisplayDetails.HostedVoucherURL, n.BoletoDisplayDetails.ExpiresAt)
	case n.KonbiniDisplayDetails != nil:
		return display(n.KonbiniDisplayDetails, n.KonbiniDisplayDetails.HostedVoucherURL, n.KonbiniDisplayDetails.ExpiresAt)
	case n.MultibancoDisplayDetails != nil:
		return display(n.MultibancoDisplayDetails, n.MultibancoDisplayDetails.HostedVoucherURL, n.MultibancoDisplayDetails.ExpiresAt)
	case n.OXXODisplayDetails != nil:
		return display(n.OXXODisplayDetails, n.OXXODisplayDetails.HostedVoucherURL, n.OXXODisplayDetails.ExpiresAfter)
	case n.PixDisplayQRCode != nil:
		return display(n.PixDisplayQRCode, n.PixDisplayQRCode.HostedInstructionsURL, n.PixDisplayQRCode.ExpiresAt)
	case n.PayNowDisplayQRCode != nil:
		return display(n.PayNowDisplayQRCode, n.PayNowDisplayQRCode.HostedInstructionsURL, 0)
	case n.PromptPayDisplayQRCode != nil:
		return display(n.PromptPayDisplayQRCode, n.PromptPayDisplayQRCode.HostedInstructionsURL, 0)
	case n.WeChatPayDisplayQRCode != nil:
		return display(n.WeChatPayDisplayQRCode, n.WeChatPayDisplayQRCode.HostedInstructionsURL, 0)
	case n.DisplayBankTransferInstructions != nil:
		return display(n.DisplayBankTransferInstructions, n.DisplayBankTransferInstructions.HostedInstructionsURL, 0)
	}
	return nil
}

// display returns Stripe's own object with Stripe's member names.
func display(details any, page string, expires int64) *payment.NextAction {
	data, err := json.Marshal(details)
	if err != nil {
		return nil
	}
	shown := &payment.NextAction{Type: payment.ActionDisplay, URL: page, Data: data}
	if expires > 0 {
		shown.ExpiresAt = time.Unix(expires, 0).UTC()
	}
	return shown
}

// nextURL returns the page that the customer must open, or "" for another kind of action.
func nextURL(n *stripe.PaymentIntentNextAction) string {
	switch {
	case n == nil:
		return ""
	case n.RedirectToURL != nil:
		return n.RedirectToURL.URL
	case n.AlipayHandleRedirect != nil:
		return n.AlipayHandleRedirect.URL
	case n.CashAppHandleRedirectOrDisplayQRCode != nil:
		return n.CashAppHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.SwishHandleRedirectOrDisplayQRCode != nil:
		return n.SwishHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.UpiHandleRedirectOrDisplayQRCode != nil:
		return n.UpiHandleRedirectOrDisplayQRCode.HostedInstructionsURL
	case n.VerifyWithMicrodeposits != nil:
		return n.VerifyWithMicrodeposits.HostedVerificationURL
	}
	return ""
}
