package checkout

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/checkout"
)

// digits are the decimals in https://www.checkout.com/docs/resources/calculating-the-amount. CLP is divided by 100, like
// all currencies that the page does not list.
var digits = kit.Digits{"CLP": 2} //nolint:gochecknoglobals // a table

var errThirdDecimal = errors.New("checkout.com takes no third decimal but 0")

// units returns the amount in Checkout.com's units. The last of three decimals must be 0
// (https://www.checkout.com/docs/resources/calculating-the-amount).
func units(m payment.Money) (int64, error) {
	n, err := digits.Units(m)
	if text, known := (payment.Money{Minor: 1, Currency: m.Currency}).Wire().Decimal(); err == nil && known && text == "0.001" && n%10 != 0 {
		err = fmt.Errorf("%w: %w", gateway.ErrUnsupportedRequest, errThirdDecimal)
	}
	return n, err
}

// paid is a payment in the response to its request or in its details.
type paid struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	Amount       int64  `json:"amount"`
	Currency     string `json:"currency"`
	ResponseCode string `json:"response_code"`
	Balances     *struct {
		Authorized int64 `json:"total_authorized"`
		Captured   int64 `json:"total_captured"`
		Refunded   int64 `json:"total_refunded"`
		// Capturable is absent where it is not stated.
		Capturable *int64 `json:"available_to_capture"`
	} `json:"balances"`
	Source   instrument      `json:"source"`
	Metadata json.RawMessage `json:"metadata"`
	ThreeDS  *struct {
		Downgraded bool `json:"downgraded"`
	} `json:"3ds"`
	Channel string `json:"processing_channel_id"`
	Links   struct {
		Self struct {
			Href string `json:"href"`
		} `json:"self"`
		Redirect struct {
			Href string `json:"href"`
		} `json:"redirect"`
	} `json:"_links"`
}

// session returns the payment session that contains the payment. Checkout.com names it in the metadata.
func (p paid) session() string {
	var said struct {
		ID string `json:"cko_payment_session_id"`
	}
	_ = json.Unmarshal(p.Metadata, &said) // metadata of another form contain no session
	return said.ID
}

// live reports whether the payment belongs to the live API, judged by the payment's own address. It returns nil if the
// address is not Checkout.com's.
func (p paid) live() *bool {
	to, err := url.Parse(p.Links.Self.Href)
	if err != nil || !strings.HasSuffix("."+to.Hostname(), ".checkout.com") {
		return nil
	}
	return new(!strings.HasSuffix("."+to.Hostname(), ".sandbox.checkout.com"))
}

// instrument is the payment method of a payment. ID is empty if it is not stored.
type instrument struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Scheme string `json:"scheme"`
	Last4  string `json:"last4"`
	Month  any    `json:"expiry_month"`
	Year   any    `json:"expiry_year"`
}

const declined = "Declined"

// outcome maps a payment by its status (https://www.checkout.com/docs/payments/manage-payments/get-payment-details). An
// unrecognized status is processing. In a payment session the customer may try again after a payment that failed.
func outcome(p paid) (gateway.Outcome, error) {
	if p.ID == "" || p.Status == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: p.ID, Container: p.session(), Payee: p.Channel, Live: p.live(), Event: fsm.EventProcessing}
	if o.Container != "" {
		o.References = []string{o.Container}
	}
	var err error
	switch p.Status {
	case "Pending":
		if p.waits() {
			o.Event, o.NextAction = fsm.EventActionRequired, payment.Redirect(p.Links.Redirect.Href)
		}
	case "Authorized":
		o.Event, o.Saved = fsm.EventAuthorized, p.saved()
		o.Money, err = p.authorized()
	case "Captured", "Partially Captured", "Refunded", "Partially Refunded", "Paid":
		o.Event, o.Saved = fsm.EventSucceeded, p.saved()
		o.Money, err = p.captured()
	case declined:
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure(hooks.FailureCode(p.ResponseCode))
	case "Voided", "Canceled":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("canceled", "")
	case "Expired":
		o.Event, o.Failure = fsm.EventFailed, payment.NewFailure("expired", "")
	}
	o.PageOpen = strings.HasPrefix(o.Container, sessionPrefix) && o.Event == fsm.EventFailed && p.Status != "Voided"
	return o, err
}

// refunded reports whether the payment was refunded, fully or partially.
func (p paid) refunded() bool {
	return p.Status == "Refunded" || p.Status == "Partially Refunded" || p.Balances != nil && p.Balances.Refunded > 0
}

// waits reports whether a pending payment waits for its customer. The payment's details do not repeat the page's
// address. But Checkout.com authorizes a card at once, so a pending card payment is in 3-D Secure, unless 3-D Secure was
// downgraded. A pending payment of a local method is on its page.
func (p paid) waits() bool {
	switch {
	case p.Links.Redirect.Href != "":
		return true
	case p.ThreeDS != nil:
		return !p.ThreeDS.Downgraded
	}
	return p.Source.Type == "card" || isLocal(p.Source.Type)
}

func (p paid) authorized() (*payment.Money, error) {
	if p.Balances != nil {
		return digits.Money(p.Balances.Authorized, p.Currency)
	}
	return digits.Money(p.Amount, p.Currency)
}

// captured returns the captured amount. It returns nil if the payment may be captured in part and does not show the
// amount.
func (p paid) captured() (*payment.Money, error) {
	switch {
	case p.Balances != nil:
		return digits.Money(p.Balances.Captured, p.Currency)
	case p.Status == "Captured":
		return digits.Money(p.Amount, p.Currency)
	}
	return nil, nil
}
