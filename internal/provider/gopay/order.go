package gopay

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// order is a request for a payment. Its members up to Params are a request for a recurrence (https://doc.gopay.com,
// "Payment creation").
type order struct {
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	Number      string  `json:"order_number"`
	Description string  `json:"order_description"`
	Items       []item  `json:"items"`
	Params      []param `json:"additional_params"`

	Payer      *payer      `json:"payer,omitempty"`
	Target     *target     `json:"target,omitempty"`
	Preauth    bool        `json:"preauthorization,omitempty"`
	Recurrence *recurrence `json:"recurrence,omitempty"`
	Callback   *callback   `json:"callback,omitempty"`
	Language   string      `json:"lang,omitempty"`
}

// item is a line. Its amount is the amount of all pieces.
type item struct {
	Type   string `json:"type"`
	Name   string `json:"name"`
	Amount int64  `json:"amount"`
	Count  int64  `json:"count"`
}

type param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type payer struct {
	Default string   `json:"default_payment_instrument,omitempty"`
	Allowed []string `json:"allowed_payment_instruments,omitempty"`
	Contact contact  `json:"contact"`
}

type contact struct {
	FirstName  string `json:"first_name,omitempty"`
	LastName   string `json:"last_name,omitempty"`
	Email      string `json:"email,omitempty"`
	Phone      string `json:"phone_number,omitempty"`
	City       string `json:"city,omitempty"`
	Street     string `json:"street,omitempty"`
	PostalCode string `json:"postal_code,omitempty"`
}

type target struct {
	Type string `json:"type"`
	GoID string `json:"goid"`
}

type recurrence struct {
	Cycle string `json:"recurrence_cycle,omitempty"`
	Until string `json:"recurrence_date_to,omitempty"`
	State string `json:"recurrence_state,omitempty"`
}

type callback struct {
	ReturnURL string `json:"return_url"`
	Notify    string `json:"notification_url,omitempty"`
}

const (
	// attemptParam, orderParam and customerParam are the names of our parameters of a payment.
	attemptParam, orderParam, customerParam = "payment_attempt_id", "order_id", "customer_reference"
	// card is the code of cards. Only cards can be saved.
	card = "PAYMENT_CARD"
	// bankAccount is the code of bank transfers.
	bankAccount = "BANK_ACCOUNT"
	// forever is the last day on which a saved card may be charged.
	forever = "2099-12-30"
	// maxNumber and maxDescription are numbers of characters.
	maxNumber, maxDescription = 128, 256
)

// orderOf returns the members that a payment and a recurrence have in common.
func orderOf(ch gateway.Charge) order {
	return order{
		Amount: ch.Money.Minor, Currency: string(ch.Money.Currency),
		Number: numberOf(ch.Order), Description: kit.Short(cmp.Or(ch.StatementDescriptor, string(ch.Order)), maxDescription),
		Items: itemsOf(ch), Params: []param{{attemptParam, ch.Attempt.String()}, {orderParam, string(ch.Order)}},
	}
}

// begins adds the further members of a payment on GoPay's page.
func (c *Client) begins(o *order, ch gateway.Charge) {
	o.Payer = &payer{Contact: contactOf(ch.Customer)}
	o.Target = &target{Type: "ACCOUNT", GoID: c.goid}
	o.Callback = &callback{ReturnURL: ch.ReturnURL, Notify: c.Notify}
	o.Language = language(ch.Customer.Locale)
	o.Preauth = ch.Capture == payment.CaptureManual
	instrument := ch.Token
	if ch.Save {
		instrument = card
		o.Recurrence = &recurrence{Cycle: "ON_DEMAND", Until: forever}
		o.Params = append(o.Params, param{customerParam, ch.Customer.Reference})
	}
	if instrument != page {
		o.Payer.Default, o.Payer.Allowed = instrument, []string{instrument}
	}
}

// numberOf returns our order's id in GoPay's format, with letters and digits only. The parameters contain the complete
// id.
func numberOf(id payment.OrderID) string {
	kept := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, string(id))
	return kit.Short(cmp.Or(kept, "0"), maxNumber)
}

// itemsOf returns the lines, or the order as one line.
func itemsOf(ch gateway.Charge) []item {
	if len(ch.Lines) == 0 {
		return []item{{"ITEM", kit.Short(string(ch.Order), maxDescription), ch.Money.Minor, 1}}
	}
	all := make([]item, len(ch.Lines))
	for i := range ch.Lines {
		l := &ch.Lines[i]
		count, err := strconv.ParseInt(l.Quantity, 10, 64)
		if err != nil {
			count = 1 // GoPay has only whole pieces
		}
		all[i] = item{itemType(l), kit.Short(l.Description, maxDescription), l.Amount, count}
	}
	return all
}

func itemType(l *gateway.Line) string {
	switch {
	case l.Amount < 0:
		return "DISCOUNT"
	case l.Type == gateway.LineShipping:
		return "DELIVERY"
	}
	return "ITEM"
}

// contactOf returns the customer's data. It omits the country, because GoPay uses other country codes.
func contactOf(c gateway.Customer) contact {
	to := contact{LastName: c.Name, Email: c.Email, Phone: c.Phone}
	if i := strings.LastIndex(c.Name, " "); i > 0 {
		to.FirstName, to.LastName = c.Name[:i], c.Name[i+1:]
	}
	if a := c.Billing; a != nil {
		to.City, to.PostalCode, to.Street = a.City, a.PostalCode, strings.TrimSpace(a.Line1+" "+a.Line2)
	}
	return to
}

// languages are the languages of GoPay's page (https://doc.gopay.com, "Language").
//
//nolint:gochecknoglobals // a table
var languages = map[string]bool{
	"CS": true, "EN": true, "SK": true, "DE": true, "RU": true, "PL": true, "HU": true, "FR": true, "RO": true, "BG": true, "HR": true, "IT": true,
	"ES": true, "UK": true, "ET": true, "LT": true, "LV": true, "SL": true, "PT": true,
}

// language returns a language of GoPay's page, or "".
func language(tag string) string {
	first, _, _ := strings.Cut(strings.ToUpper(tag), "-")
	if languages[first] {
		return first
	}
	return ""
}
