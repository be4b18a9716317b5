package paypal

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// order is PayPal's view of a payment
// (https://developer.paypal.com/docs/api/orders/v2/#definition-order). Its Status is
// empty for a capture or an authorization without an order.
type order struct {
	ID            string `json:"id"`
	Status        string `json:"status"`
	PurchaseUnits []unit `json:"purchase_units"`
	Links         []link `json:"links"`
	// Source is the method that paid the order.
	Source sources `json:"payment_source"`
}

type link struct {
	Href string `json:"href"`
	Rel  string `json:"rel"`
}

type unit struct {
	ReferenceID string   `json:"reference_id"`
	CustomID    string   `json:"custom_id"`
	Payee       payee    `json:"payee"`
	Payments    payments `json:"payments"`
}

type payments struct {
	Authorizations []movement `json:"authorizations"`
	Captures       []movement `json:"captures"`
	Refunds        []refund   `json:"refunds"`
}

// payee is the merchant that receives the money.
type payee struct {
	MerchantID string `json:"merchant_id"`
	Email      string `json:"email_address"`
}

func (p payee) id() string { return cmp.Or(p.MerchantID, p.Email) }

// movement is an authorization or a capture.
type movement struct {
	ID             string  `json:"id"`
	Status         string  `json:"status"`
	CustomID       string  `json:"custom_id"`
	Amount         *amount `json:"amount"`
	ExpirationTime string  `json:"expiration_time"`
	// Final is false of a capture after which others may follow.
	Final         *bool  `json:"final_capture"`
	UpdateTime    string `json:"update_time"`
	Links         []link `json:"links"`
	Payee         payee  `json:"payee"`
	StatusDetails struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
	ProcessorResponse struct {
		ResponseCode string `json:"response_code"`
	} `json:"processor_response"`
	SupplementaryData struct {
		RelatedIDs struct {
			OrderID         string `json:"order_id"`
			AuthorizationID string `json:"authorization_id"`
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

// made is a payment in an order: an authorization with its captures, or a capture without an authorization. Its id is
// the id of its first part.
type made struct {
	id       string
	held     *movement
	captures []movement
	refunds  []refund
	payee    string
	mark     string
	// order is the status of its order.
	order string
}

// made returns the payments in the order.
func (o order) made() []made {
	var all []made
	for _, u := range o.PurchaseUnits {
		all = append(all, u.made()...)
	}
	return all
}

func (u unit) made() []made {
	var all []made
	add := func(id string, m movement) *made {
		i := slices.IndexFunc(all, func(p made) bool { return p.id == id })
		if i < 0 {
			i = len(all)
			all = append(all, made{id: id, payee: cmp.Or(m.Payee.id(), u.Payee.id()), mark: cmp.Or(m.CustomID, u.CustomID)})
		}
		return &all[i]
	}
	held := u.Payments.Authorizations
	for i := range held {
		add(held[i].ID, held[i]).held = &held[i]
	}
	for _, m := range u.Payments.Captures {
		of := m.authorization()
		if of == "" && len(held) == 1 {
			of = held[0].ID
		}
		p := add(cmp.Or(of, m.ID), m)
		p.captures = append(p.captures, m)
	}
	for _, r := range u.Payments.Refunds {
		for i := range all {
			if all[i].names(r.capture()) || r.capture() == "" && len(all) == 1 {
				all[i].refunds = append(all[i].refunds, r)
			}
		}
	}
	return all
}

// authorization returns the id of the capture's authorization.
func (m movement) authorization() string {
	return cmp.Or(up(m.Links, "authorizations"), m.SupplementaryData.RelatedIDs.AuthorizationID)
}

// up returns the id of the parent object, if the parent is in this collection.
func up(links []link, collection string) string {
	for _, l := range links {
		if parent, id := path.Split(l.Href); l.Rel == "up" && path.Base(parent) == collection {
			return id
		}
	}
	return ""
}

// names reports whether the id is that of the payment or of one of its captures.
func (p made) names(id string) bool {
	return id != "" && (p.id == id || slices.ContainsFunc(p.captures, func(m movement) bool { return m.ID == id }))
}

// named returns the payment of the order that has this id, or that has a capture with this id. The order's own id names
// its only payment.
func (o order) named(id string) (made, bool) {
	all := o.made()
	i := slices.IndexFunc(all, func(p made) bool { return p.names(id) })
	switch {
	case i >= 0:
		return all[i], true
	case len(all) == 1 && id != "" && id == o.ID:
		return all[0], true
	}
	return made{}, false
}

// taken returns the completed and the pending captures, including refunded captures.
func (p made) taken() []movement {
	var all []movement
	for _, m := range p.captures {
		switch m.Status {
		case "COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED", "PENDING":
			all = append(all, m)
		}
	}
	return all
}

// inParts reports whether the authorization is captured in several parts: a capture was not the final one.
func (p made) inParts() bool {
	return slices.ContainsFunc(p.captures, func(m movement) bool { return m.Final != nil && !*m.Final })
}

// declined reports whether the capture took nothing.
func (m movement) declined() bool { return m.Status == "DECLINED" || m.Status == "FAILED" }

// unfinished reports whether the order has no capture and no authorization yet.
func (o order) unfinished() bool {
	switch o.Status {
	case "CREATED", "SAVED", "APPROVED", "PAYER_ACTION_REQUIRED":
		return len(o.made()) == 0
	}
	return false
}

// with returns the payment with this capture added or replaced.
func (p made) with(taken movement) made {
	p.captures = slices.Clone(p.captures)
	for i, m := range p.captures {
		if m.ID == taken.ID {
			p.captures[i] = taken
			return p
		}
	}
	p.captures = append(p.captures, taken)
	return p
}

// less reports whether the amount is lower than the other, or in another currency.
func (m movement) less(than payment.Money) bool {
	sum, err := m.Amount.money()
	return err == nil && (sum.Currency != than.Currency || sum.Minor < than.Minor)
}

// amount is money in major units.
type amount struct {
	CurrencyCode string `json:"currency_code"`
	Value        string `json:"value"`
}

// whole are currencies that PayPal accepts without a fraction, although they have one
// (https://developer.paypal.com/api/rest/reference/currency-codes/).
var whole = map[payment.Currency]bool{"HUF": true, "TWD": true} //nolint:gochecknoglobals // a table

// amountOf formats money for PayPal, or returns an error if PayPal can't express the amount.
func amountOf(m payment.Money) (amount, error) {
	value, err := kit.Decimal(m)
	if err != nil {
		return amount{}, err
	}
	if whole[m.Currency] {
		units, cents, _ := strings.Cut(value, ".")
		if strings.Trim(cents, "0") != "" {
			return amount{}, fmt.Errorf("%w: PayPal takes no fraction of %s", gateway.ErrUnsupportedRequest, m.Currency)
		}
		value = units
	}
	return amount{string(m.Currency), value}, nil
}

func (a *amount) money() (*payment.Money, error) {
	if a == nil {
		return nil, errNameless
	}
	return kit.ReadDecimal(a.Value, a.CurrencyCode)
}
