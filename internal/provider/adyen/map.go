package adyen

import (
	"encoding/json"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

// digits are the decimals in https://docs.adyen.com/development-resources/currency-codes. CLP and ISK have two decimals
// there, CVE and IDR none.
var digits = kit.Digits{"CLP": 2, "CVE": -2, "IDR": -2, "ISK": 2} //nolint:gochecknoglobals // a table

// paymentResponse is the response to POST /payments and to POST /payments/details. If the customer must act, the
// payment's pspReference is that of the AUTHORISATION that follows. The pspReference in this response then belongs to
// the offer.
type paymentResponse struct {
	PSPReference      string                     `json:"pspReference"`
	MerchantReference string                     `json:"merchantReference"`
	ResultCode        string                     `json:"resultCode"`
	RefusalReason     string                     `json:"refusalReason"`
	Amount            *amount                    `json:"amount"`
	AdditionalData    map[string]json.RawMessage `json:"additionalData"`
	PaymentMethod     struct {
		Type  string `json:"type"`
		Brand string `json:"brand"`
	} `json:"paymentMethod"`
	Action json.RawMessage `json:"action"`
}

// outcome maps a payment by its result code
// (https://docs.adyen.com/online-payments/build-your-integration/payment-result-codes). An unrecognized code is
// processing.
func (c *Client) outcome(p paymentResponse) (gateway.Outcome, error) {
	o := gateway.Outcome{ProviderPaymentID: p.PSPReference, Event: fsm.EventProcessing}
	var err error
	if p.waits() {
		return p.waiting(), nil
	}
	switch p.ResultCode {
	case "Authorised":
		o.Event, o.Saved = fsm.EventAuthorized, p.saved()
		if hooks.ManualReview(p.additional("fraudManualReview")) {
			o.Review = &payment.ReviewReport{Status: payment.ReviewOpen}
		}
		if c.captures {
			o.Event = fsm.EventSucceeded
		}
		if p.Amount != nil {
			o.Money, err = digits.Money(p.Amount.Value, p.Amount.Currency)
		}
	case "Refused", "Error", "Cancelled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure(hooks.FailureCode(p.RefusalReason))
	}
	if p.ResultCode == "" || p.PSPReference == "" {
		return gateway.Outcome{}, errNameless
	}
	return o, err
}
