package paddle

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// page and script are the tokens of a charge. page is the seller's own page for Paddle's checkout; script is Paddle.js
// on the shop's page.
const page, script = "redirect", "checkout"

// digits are the decimals of ISO 4217 (https://developer.paddle.com/api-reference/about/data-types, "Money").
var digits = kit.Digits{} //nolint:gochecknoglobals // a table

// request is the part of POST /transactions that a charge needs
// (https://developer.paddle.com/api-reference/transactions/create-transaction.md).
type request struct {
	Items      []item            `json:"items"`
	Currency   string            `json:"currency_code"`
	Mode       string            `json:"collection_mode"`
	CustomData map[string]string `json:"custom_data"`
}

// item is an item that is in no catalogue.
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

// quantity fixes the number of pieces, so that the customer can't change it.
type quantity struct {
	Minimum int `json:"minimum"`
	Maximum int `json:"maximum"`
}

type product struct {
	Name        string `json:"name"`
	TaxCategory string `json:"tax_category"`
}

// Charge implements gateway.Provider. It creates the transaction, and the customer pays it in Paddle's checkout. The
// price includes the tax, so a customer in any country pays the order's amount.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if c.TokenKind(ch.Token) == gateway.TokenStored || ch.Stored || ch.Capture == payment.CaptureManual {
		return gateway.Outcome{}, fmt.Errorf("%w: Paddle charges no stored method, and holds nothing", gateway.ErrUnsupportedRequest)
	}
	r, err := c.requestOf(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	body, err := kit.Extend(r, ch.ProviderData, providerData())
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
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", refused.Code)}, nil
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

// maxItems is our limit for the lines that become items. Paddle has a limit, but does not document it.
const maxItems = 50

// itemised reports whether the lines can become items: each line has a price, and the prices add up to the amount.
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
		Quantity: quantity{1, 1}, Product: product{Name: kit.Short(name, maxName), TaxCategory: category},
	}}
}

// providerData returns the members of a transaction that provider_data may contain: an existing customer at Paddle, and
// the page of the checkout. custom_data is not allowed, because its marks identify the payment. A discount is not
// allowed, because it would change the amount.
func providerData() []string { return []string{"address_id", "business_id", "checkout", "customer_id"} }

// Accepts implements gateway.Provider.
func (c *Client) Accepts(ch gateway.Charge) error {
	var n kit.Needs
	n.Data(ch.Details, providerData()...)
	n.If(ch.Token != page && ch.Token != script, "payment_method.token", "must be redirect or checkout")
	n.If(ch.Capture == payment.CaptureManual, "capture", "must be automatic: Paddle holds nothing")
	n.If(ch.Save, "save_payment_method", "is not passed on to Paddle, which offers it in its checkout")
	return n.Err()
}

// TokenKind implements gateway.Provider. Any other token may belong to a method that Paddle stores.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page || token == script {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// Unseen implements gateway.Provider. Only the answer contains the address of the page or the transaction's id.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, d.Token == page || d.Token == script
}

// CheckOwner implements gateway.Provider. The adapter charges no stored payment methods.
func (c *Client) CheckOwner(context.Context, string, string) error { return gateway.ErrUnsupported }

// Capture implements gateway.Provider.
func (c *Client) Capture(context.Context, gateway.Capture) (gateway.Outcome, error) {
	return gateway.Outcome{}, gateway.ErrUnsupported
}
