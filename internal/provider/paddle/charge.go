package paddle

import (
	"context"
	"fmt"
	"strconv"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// The tokens of a pay: the page that the seller has for Paddle's checkout, or Paddle.js on the shop's own page.
const page, script = "redirect", "checkout"

// digits are those of ISO 4217 (https://developer.paddle.com/api-reference/about/data-types, "Money").
var digits = call.Digits{} //nolint:gochecknoglobals // a table

// request is as much of POST /transactions as a charge needs
// (https://developer.paddle.com/api-reference/transactions/create-transaction.md).
type request struct {
	Items      []item            `json:"items"`
	Currency   string            `json:"currency_code"`
	Mode       string            `json:"collection_mode"`
	CustomData map[string]string `json:"custom_data"`
}

// item is one that is in no catalogue.
type item struct {
	Quantity int   `json:"quantity"`
	Price    price `json:"price"`
}

type price struct {
	Description string   `json:"description"`
	TaxMode     string   `json:"tax_mode"`
	UnitPrice   money    `json:"unit_price"`
	Quantity    quantity `json:"quantity"`
	Product     product  `json:"product"`
}

type money struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency_code"`
}

// quantity keeps the customer from buying another number of it.
type quantity struct {
	Minimum int `json:"minimum"`
	Maximum int `json:"maximum"`
}

type product struct {
	Name        string `json:"name"`
	TaxCategory string `json:"tax_category"`
}

// Charge implements gateway.Provider: it makes the transaction, which its customer then pays in Paddle's checkout. The
// price includes the tax, so that the customer pays the order's amount wherever the customer is.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if c.TokenKind(ch.Token) == gateway.TokenStored || ch.Stored || ch.Capture == payment.CaptureManual {
		return gateway.Outcome{}, fmt.Errorf("%w: Paddle charges no stored method, and holds nothing", gateway.ErrUnfit)
	}
	r, err := c.requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body, err := call.Extend(r, ch.Details, providerData())
	if err != nil {
		return gateway.Outcome{}, err
	}
	var made struct {
		Data transaction `json:"data"`
	}
	refused, err := c.api.Post(ctx, "/transactions", nil, ch.Permit, body, &made)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused == nil:
		return made.Data.outcome()
	}
	return gateway.Outcome{News: fsm.NewsFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
}

func (c *Client) requestOf(ch gateway.Charge) (request, error) {
	units, err := digits.Units(ch.Money)
	if err != nil {
		return request{}, err
	}
	r := request{
		Currency: string(ch.Money.Currency), Mode: "automatic",
		CustomData: map[string]string{attemptMember: ch.Attempt.String(), "order_id": string(ch.Order), tokenMember: ch.Token},
	}
	if !itemised(ch) {
		r.Items = []item{c.item(ch, "Order "+string(ch.Order), units)}
		return r, nil
	}
	for i := range ch.Lines {
		r.Items = append(r.Items, c.item(ch, ch.Lines[i].Description, ch.Lines[i].Amount))
	}
	return r, nil
}

// maxItems bounds the lines that become items. It is ours: Paddle has a limit and does not document it.
const maxItems = 50

// itemised reports whether the lines of a pay can be items: each has a price, and they add up to the amount.
func itemised(ch gateway.Charge) bool {
	var sum int64
	for i := range ch.Lines {
		if ch.Lines[i].Amount <= 0 {
			return false
		}
		sum += ch.Lines[i].Amount
	}
	return sum == ch.Money.Minor && len(ch.Lines) <= maxItems
}

const maxName = 200

func (c *Client) item(ch gateway.Charge, name string, units int64) item {
	category := c.TaxCategory
	if category == "" {
		category = "standard"
	}
	return item{Quantity: 1, Price: price{
		Description: string(ch.Order), TaxMode: "internal", UnitPrice: money{strconv.FormatInt(units, 10), string(ch.Money.Currency)},
		Quantity: quantity{1, 1}, Product: product{Name: call.Short(name, maxName), TaxCategory: category},
	}}
}

// providerData are the members of a transaction that provider_data may have: a customer that there is at Paddle, and the
// page of the checkout. custom_data has the marks by which payments are found, and a discount would change the amount.
func providerData() []string { return []string{"address_id", "business_id", "checkout", "customer_id"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n call.Needs
	n.Data(ch.Details, providerData()...)
	n.If(ch.Token != page && ch.Token != script, "payment_method.token", "must be redirect or checkout")
	n.If(ch.Capture == payment.CaptureManual, "capture", "must be automatic: Paddle holds nothing")
	n.If(ch.Save, "save_payment_method", "is not passed on to Paddle, which offers it in its checkout")
	return n.Err()
}

// TokenKind implements gateway.Provider: any other token might be that of a method that Paddle keeps.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page || token == script {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// CheckOwner implements gateway.Provider: no stored method is charged.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }

// Capture implements gateway.Provider.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
