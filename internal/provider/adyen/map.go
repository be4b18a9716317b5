package adyen

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// digits are those of
// https://docs.adyen.com/development-resources/currency-codes: CLP and ISK have
// two there, CVE and IDR none.
var digits = call.Digits{"CLP": 2, "CVE": -2, "IDR": -2, "ISK": 2} //nolint:gochecknoglobals // a table

// paymentResponse is the answer to POST /payments. Where the customer must act,
// the payment's pspReference is the one of the AUTHORISATION that follows; one
// that comes before is another name at most.
type paymentResponse struct {
	PSPReference  string  `json:"pspReference"`
	ResultCode    string  `json:"resultCode"`
	RefusalReason string  `json:"refusalReason"`
	Amount        *amount `json:"amount"`
	Action        *struct {
		Type   string `json:"type"`
		URL    string `json:"url"`
		Method string `json:"method"`
	} `json:"action"`
}

// outcome reads a payment by its result code
// (https://docs.adyen.com/online-payments/build-your-integration/payment-result-codes).
// One that this version does not know is under way.
func (c *Client) outcome(p paymentResponse) (payment.Outcome, error) {
	o := payment.Outcome{ProviderPaymentID: p.PSPReference, News: fsm.NewsProcessing}
	var err error
	switch p.ResultCode {
	case "RedirectShopper", "IdentifyShopper", "ChallengeShopper", "PresentToShopper":
		return p.waiting(), nil
	case "Authorised":
		o.News = fsm.NewsAuthorized
		if c.captures {
			o.News = fsm.NewsSucceeded
		}
		if p.Amount != nil {
			o.Money, err = digits.Money(p.Amount.Value, p.Amount.Currency)
		}
	case "Refused", "Error", "Cancelled":
		o.News, o.Failure = fsm.NewsFailed, failure(p.RefusalReason)
	}
	if p.ResultCode == "" || p.PSPReference == "" {
		return payment.Outcome{}, errNameless
	}
	return o, err
}

// waiting names the page that the customer must open. What is to be posted, or
// shown by Adyen's own component, has none.
func (p paymentResponse) waiting() payment.Outcome {
	o := payment.Outcome{News: fsm.NewsActionRequired}
	if p.PSPReference != "" {
		o.References = []string{p.PSPReference}
	}
	if p.Action != nil && p.Action.Type == "redirect" && p.Action.Method == http.MethodGet {
		o.NextActionURL = p.Action.URL
	}
	return o
}

// reasons translates the refusal reasons
// (https://docs.adyen.com/development-resources/refusal-reasons), in lower case;
// any other is provider_rejected.
var reasons = map[string]string{ //nolint:gochecknoglobals // a table
	"refused":                    "card_declined",
	"blocked card":               "card_declined",
	"expired card":               "card_declined",
	"invalid card number":        "card_declined",
	"cvc declined":               "card_declined",
	"restricted card":            "card_declined",
	"transaction not permitted":  "card_declined",
	"declined non generic":       "card_declined",
	"not enough balance":         "insufficient_funds",
	"withdrawal amount exceeded": "insufficient_funds",
	"3d not authenticated":       "authentication_failed",
	"authentication required":    "authentication_failed",
	"fraud":                      "fraud_suspected",
	"fraud-cancelled":            "fraud_suspected",
	"acquirer fraud":             "fraud_suspected",
	"issuer suspected fraud":     "fraud_suspected",
	"cancelled":                  "canceled",
	"shopper cancelled":          "canceled",
}

// failure keeps the reason, a short text, as AUTHORISATION does.
func failure(reason string) *payment.Failure {
	return payment.NewFailure(cmp.Or(reasons[strings.ToLower(reason)], "provider_rejected"), reason)
}
