package checkout

import (
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// customerPrefix is the prefix of the ids of Checkout.com's customers.
const customerPrefix = "cus_"

type customer struct {
	ID    string `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	Name  string `json:"name,omitempty"`
}

type shipping struct {
	Address *address `json:"address"`
}

type address struct {
	Line1   string `json:"address_line1,omitempty"`
	Line2   string `json:"address_line2,omitempty"`
	City    string `json:"city,omitempty"`
	State   string `json:"state,omitempty"`
	Zip     string `json:"zip,omitempty"`
	Country string `json:"country,omitempty"`
}

func sourceOf(ch gateway.Charge) *source {
	switch d := ch.Details; {
	case d.Stored:
		return &source{Type: "id", ID: d.Token}
	case isLocal(d.Token):
		return localSource(ch)
	}
	return &source{Type: "token", Token: ch.Token, Store: &ch.Save, Billing: addressOf(ch.Customer.Billing)}
}

// customerOf returns the owner of an instrument that is stored or is to be stored. Any other customer has no id at
// Checkout.com.
func customerOf(d gateway.Details) *customer {
	switch {
	case d.Stored:
		return &customer{ID: d.Customer.Reference}
	case d.Save && strings.HasPrefix(d.Customer.Reference, customerPrefix):
		return &customer{ID: d.Customer.Reference, Email: d.Customer.Email, Name: d.Customer.Name}
	case d.Customer.Email != "":
		return &customer{Email: d.Customer.Email, Name: d.Customer.Name}
	}
	return nil
}

func shippingOf(c gateway.Customer) *shipping {
	if a := addressOf(c.Shipping); a != nil {
		return &shipping{a}
	}
	return nil
}

func addressOf(a *gateway.Address) *address {
	if a == nil {
		return nil
	}
	return &address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, Zip: a.PostalCode, Country: a.Country}
}
