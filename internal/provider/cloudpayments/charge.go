package cloudpayments

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// page is the token of a payment on CloudPayments' page.
const page = "redirect"

// chargeRequest charges a token (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring) or a cryptogram
// (https://developers.cloudpayments.ru/#oplata-po-kriptogramme). With its last members it creates an order
// (https://developers.cloudpayments.ru/#sozdanie-scheta-dlya-otpravki-po-pochte).
type chargeRequest struct {
	Amount           json.Number     `json:"Amount"`
	Currency         string          `json:"Currency"`
	InvoiceID        string          `json:"InvoiceId"`
	AccountID        string          `json:"AccountId,omitempty"`
	Email            string          `json:"Email,omitempty"`
	IP               string          `json:"IpAddress,omitempty"`
	Description      json.RawMessage `json:"Description,omitempty"`
	Data             data            `json:"JsonData"`
	Token            string          `json:"Token,omitempty"`
	TrInitiatorCode  *int            `json:"TrInitiatorCode,omitempty"`
	PaymentScheduled json.RawMessage `json:"PaymentScheduled,omitempty"`

	Cryptogram  string `json:"CardCryptogramPacket,omitempty"`
	Name        string `json:"Name,omitempty"`
	CultureName string `json:"CultureName,omitempty"`
	Payer       *payer `json:"Payer,omitempty"`
	SaveCard    bool   `json:"SaveCard,omitempty"`

	Phone               string `json:"Phone,omitempty"`
	RequireConfirmation bool   `json:"RequireConfirmation,omitempty"`
	SuccessRedirectURL  string `json:"SuccessRedirectUrl,omitempty"`
	FailRedirectURL     string `json:"FailRedirectUrl,omitempty"`
}

// payer is the part of an address that CloudPayments accepts.
type payer struct {
	Address  string `json:"Address,omitempty"`
	City     string `json:"City,omitempty"`
	Country  string `json:"Country,omitempty"`
	Phone    string `json:"Phone,omitempty"`
	Postcode string `json:"Postcode,omitempty"`
}

// These are the initiators of a payment by a token: the shop without its customer, or the customer.
const byShop, byCustomer = 0, 1

// Charge implements gateway.Provider. A card's token belongs to an AccountId, which is the customer's reference. The
// payment of a cryptogram may have a second step; see Complete.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if err := ch.Fits(c.TokenKind(ch.Token)); err != nil {
		return gateway.Outcome{}, err
	}
	r, err := c.requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	var path string
	switch {
	case ch.Token == page:
		return c.order(ctx, ch, r)
	case links[ch.Token] != "":
		return c.link(ctx, ch, r)
	case isCryptogram(ch.Token):
		path = "/payments/cards/"
		r.cryptogram(ch)
	default:
		path = "/payments/tokens/"
		r.token(ch)
	}
	verb := "charge"
	if ch.Capture == payment.CaptureManual {
		verb = "auth"
	}
	a, err := c.command(ctx, path+verb, ch.IdempotencyKey, ch.Permit, r)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success && a.Model == nil:
		return refused(a), nil
	}
	return begun(a, ch.ReturnURL)
}

func (c *Client) requestOf(ch gateway.Charge) (chargeRequest, error) {
	amount, err := kit.Decimal(ch.Money)
	if err != nil {
		return chargeRequest{}, err
	}
	// The webhook reader uses this data.
	marks := map[string]string{"payment_attempt_id": ch.Attempt.String(), "order_id": string(ch.Order)}
	if links[ch.Token] != "" {
		marks[linkMark] = ch.Token
	}
	d, err := c.dataOf(marks, gateway.ReceiptOf(ch.Details), ch.Money)
	return chargeRequest{
		Amount: json.Number(amount), Currency: string(ch.Money.Currency), InvoiceID: ch.Attempt.String(), AccountID: ch.Customer.Reference,
		Email: ch.Customer.Email, Description: ch.ProviderData["Description"], Data: d,
	}, err
}

// token charges a saved card. A payment without the customer is marked as scheduled or unscheduled.
func (r *chargeRequest) token(ch gateway.Charge) {
	r.Token, r.IP, r.TrInitiatorCode = ch.Token, ch.Customer.IP, new(byCustomer)
	if ch.Unattended {
		r.TrInitiatorCode, r.PaymentScheduled = new(byShop), json.RawMessage("0")
		if scheduled := ch.ProviderData["PaymentScheduled"]; scheduled != nil {
			r.PaymentScheduled = scheduled
		}
	}
}

// cryptogram charges a card that the browser has encrypted.
func (r *chargeRequest) cryptogram(ch gateway.Charge) {
	r.Cryptogram, r.IP, r.Name, r.SaveCard = ch.Token, ch.Customer.IP, ch.Customer.Name, ch.Save
	r.CultureName = culture(ch.Customer.Locale)
	if at := ch.Customer.Billing; at != nil {
		r.Payer = &payer{
			Address: strings.TrimSpace(at.Line1 + " " + at.Line2), City: at.City, Country: at.Country, Phone: ch.Customer.Phone, Postcode: at.PostalCode,
		}
	}
}

// culture returns one of CloudPayments' languages, or "".
func culture(tag string) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return map[string]string{"ru": "ru-RU", "en": "en-US"}[language]
}

// order creates a page. The page is the container of the payments that the customer makes on it.
func (c *Client) order(ctx context.Context, ch gateway.Charge, r chargeRequest) (gateway.Outcome, error) {
	if r.Description == nil {
		r.Description, _ = json.Marshal(string(ch.Order)) //nolint:errchkjson // a text always marshals
	}
	r.RequireConfirmation, r.Phone, r.CultureName = ch.Capture == payment.CaptureManual, ch.Customer.Phone, culture(ch.Customer.Locale)
	r.SuccessRedirectURL, r.FailRedirectURL = ch.ReturnURL, ch.ReturnURL
	a, err := c.command(ctx, "/orders/create", ch.IdempotencyKey, ch.Permit, r)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case !a.Success:
		return refused(a), nil
	}
	var made struct {
		ID  string `json:"Id"`
		URL string `json:"Url"`
	}
	if err := json.Unmarshal(a.Model, &made); err != nil {
		return gateway.Outcome{}, fmt.Errorf("read an order: %w", err)
	}
	if made.ID == "" || made.URL == "" {
		return gateway.Outcome{}, errNameless
	}
	o := container{order: made.ID, invoice: ch.Attempt.String()}.unpaid()
	o.NextAction = payment.Redirect(made.URL)
	return o, nil
}

func refused(a answer) gateway.Outcome {
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", a.code())}
}
