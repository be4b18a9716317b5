package sandbox

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

const (
	captureAutomatic = "automatic"
	captureManual    = "manual"

	maxAmount    = 1_000_000_000_000
	maxReference = 200
)

// request is the well-formed body of a command.
type request[T any] interface {
	// checked returns the request with its defaults, or its validation error.
	checked() (T, *apiError)
}

type chargeRequest struct {
	Reference string `json:"reference"`
	// OrderID is the merchant's order, which webhooks and books repeat.
	OrderID   string `json:"order_id,omitempty"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Token     string `json:"token"`
	Capture   string `json:"capture"`
	ReturnURL string `json:"return_url"`
	// Customer is the owner of the payment methods that are stored and charged.
	Customer string `json:"customer"`
	// Save stores the payment method for the customer.
	Save bool `json:"save_payment_method"`
	// Initiator is customer or merchant. As the members below it is taken and changes nothing.
	Initiator  string          `json:"initiator"`
	Email      string          `json:"email"`
	Billing    json.RawMessage `json:"billing_address,omitempty"`
	Lines      json.RawMessage `json:"lines,omitempty"`
	Descriptor string          `json:"statement_descriptor"`
}

// token is the payment method: of a wallet's payload, which is JSON, the one in it.
func (in chargeRequest) token() string {
	var wallet struct {
		Token string `json:"token"`
	}
	if strings.HasPrefix(in.Token, "{") && json.Unmarshal([]byte(in.Token), &wallet) == nil {
		return wallet.Token
	}
	return in.Token
}

func (in chargeRequest) checked() (chargeRequest, *apiError) {
	if string(in.Billing) == "null" {
		in.Billing = nil
	}
	if in.Capture == "" {
		in.Capture = captureAutomatic
	}
	switch {
	case in.Reference == "" || len(in.Reference) > maxReference:
		return in, invalid("reference must have 1 to 200 bytes.")
	case len(in.OrderID) > maxReference:
		return in, invalid("order_id must have at most 200 bytes.")
	case len(in.Customer) > maxReference*2:
		return in, invalid("customer must have at most 400 bytes.")
	case in.Amount < 1 || in.Amount > maxAmount:
		return in, invalid("amount must be 1 to 10^12, in minor units.")
	case !isCurrency(in.Currency):
		return in, invalid("currency must be three upper-case letters.")
	case in.Capture != captureAutomatic && in.Capture != captureManual:
		return in, invalid("capture must be automatic or manual.")
	case in.ReturnURL != "" && !isAddress(in.ReturnURL):
		return in, invalid("return_url must be an absolute http or https address, or an app's.")
	}
	return in, nil
}

type captureRequest struct {
	Amount *int64 `json:"amount"`
	// Final is false if another capture of the hold may follow.
	Final *bool `json:"final,omitempty"`
}

func (in captureRequest) checked() (captureRequest, *apiError) {
	return in, checkOptional(in.Amount)
}

type cancelRequest struct{}

func (in cancelRequest) checked() (cancelRequest, *apiError) { return in, nil }

type refundRequest struct {
	Amount    *int64 `json:"amount"`
	Reference string `json:"reference"`
}

func (in refundRequest) checked() (refundRequest, *apiError) {
	if len(in.Reference) > maxReference {
		return in, invalid("reference must have at most 200 bytes.")
	}
	return in, checkOptional(in.Amount)
}

func checkOptional(amount *int64) *apiError {
	if amount != nil && (*amount < 1 || *amount > maxAmount) {
		return invalid("amount must be 1 to 10^12, in minor units, or absent.")
	}
	return nil
}

func isCurrency(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// isAddress reports whether an address is a web page's or an app's.
func isAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && ((u.Scheme == "http" || u.Scheme == "https") && u.Host != "" || payment.IsAppScheme(u.Scheme))
}
