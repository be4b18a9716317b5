package paypal

import (
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// order is PayPal's view of a payment
// (https://developer.paypal.com/docs/api/orders/v2/#definition-order). Its Status is
// empty for a capture or an authorization without an order.
type order struct {
	ID            string `json:"id"`
	Status        string `json:"status"`
	PurchaseUnits []unit `json:"purchase_units"`
	Links         []link `json:"links"`
	// Source is how it was paid.
	Source sources `json:"payment_source"`
}

type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

type unit struct {
	CustomID string   `json:"custom_id"`
	Payments payments `json:"payments"`
}

type payments struct {
	Authorizations []movement `json:"authorizations"`
	Captures       []movement `json:"captures"`
	Refunds        []refund   `json:"refunds"`
}

// movement is an authorization or a capture.
type movement struct {
	ID             string  `json:"id"`
	Status         string  `json:"status"`
	CustomID       string  `json:"custom_id"`
	Amount         *amount `json:"amount"`
	ExpirationTime string  `json:"expiration_time"`
	UpdateTime     string  `json:"update_time"`
	StatusDetails  struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
	ProcessorResponse struct {
		ResponseCode string `json:"response_code"`
	} `json:"processor_response"`
	SupplementaryData struct {
		RelatedIDs struct {
			OrderID string `json:"order_id"`
		} `json:"related_ids"`
	} `json:"supplementary_data"`
}

type refund struct {
	ID            string  `json:"id"`
	Status        string  `json:"status"`
	CustomID      string  `json:"custom_id"`
	Amount        *amount `json:"amount"`
	Links         []link  `json:"links"`
	StatusDetails struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
}

// authorization returns the last one, or nil.
func (o order) authorization() *movement {
	all := o.authorizations()
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

func (o order) authorizations() []movement {
	var all []movement
	for _, u := range o.PurchaseUnits {
		all = append(all, u.Payments.Authorizations...)
	}
	return all
}

func (o order) captures() []movement {
	var all []movement
	for _, u := range o.PurchaseUnits {
		all = append(all, u.Payments.Captures...)
	}
	return all
}

// taken returns the captures that are completed or pending, refunded ones included.
func (o order) taken() []movement {
	var all []movement
	for _, m := range o.captures() {
		switch m.Status {
		case "COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED", "PENDING":
			all = append(all, m)
		}
	}
	return all
}

// unfinished reports whether money was neither captured nor authorized.
func (o order) unfinished() bool {
	switch o.Status {
	case "CREATED", "SAVED", "APPROVED", "PAYER_ACTION_REQUIRED":
		return len(o.captures()) == 0
	}
	return false
}

// with returns the order after a capture, which it may contain already.
func (o order) with(taken movement) order {
	for i, u := range o.PurchaseUnits {
		for j, m := range u.Payments.Captures {
			if m.ID == taken.ID {
				o.PurchaseUnits[i].Payments.Captures[j] = taken
				return o
			}
		}
	}
	o.PurchaseUnits = append(o.PurchaseUnits, unit{Payments: payments{Captures: []movement{taken}}})
	return o
}

// less reports whether the amount is lower.
func (m movement) less(than payment.Money) bool {
	sum, err := m.Amount.money()
	return err == nil && (sum.Currency != than.Currency || sum.Minor < than.Minor)
}

// amount is money in major units.
type amount struct {
	CurrencyCode string `json:"currency_code"`
	Value        string `json:"value"`
}

// whole are the currencies that PayPal takes without a fraction, though they have one
// (https://developer.paypal.com/api/rest/reference/currency-codes/).
var whole = map[payment.Currency]bool{"HUF": true, "TWD": true} //nolint:gochecknoglobals // a table

// amountOf formats money for PayPal. Money that it can't format is not sent.
func amountOf(m payment.Money) (amount, error) {
	value, err := call.Decimal(m)
	if err != nil {
		return amount{}, err
	}
	if whole[m.Currency] {
		units, cents, _ := strings.Cut(value, ".")
		if strings.Trim(cents, "0") != "" {
			return amount{}, fmt.Errorf("%w: PayPal takes no fraction of %s", gateway.ErrUnfit, m.Currency)
		}
		value = units
	}
	return amount{string(m.Currency), value}, nil
}

func (a *amount) money() (*payment.Money, error) {
	if a == nil {
		return nil, errNameless
	}
	return call.ReadDecimal(a.Value, a.CurrencyCode)
}
