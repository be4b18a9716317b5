package robokassa

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// operationState is the response of OpStateExt (https://docs.robokassa.ru/ru/xml-interfaces).
type operationState struct {
	XMLName xml.Name `xml:"OperationStateResponse"`
	Result  *int     `xml:"Result>Code"`
	State   *int     `xml:"State>Code"`
	Sum     string   `xml:"Info>OutSum"`
	OpKey   string   `xml:"Info>OpKey"`
	Fields  []struct {
		Name  string `xml:"Name"`
		Value string `xml:"Value"`
	} `xml:"UserField>Field"`
}

// These are result codes of OpStateExt.
const resultFound, resultMissing = 0, 3

// number is the form of an InvId.
var number = regexp.MustCompile(`^[0-9]{1,19}$`)

var errUnclear = errors.New("the answer states nothing about an operation")

// state looks up a payment by its invoice number. The first read of a command has the command's permit.
func (c *Client) state(ctx context.Context, invoice string, l *gateway.Permit) (operationState, error) {
	if !number.MatchString(invoice) {
		return operationState{}, gateway.ErrNoSuchPayment
	}
	query := url.Values{
		"MerchantLogin": {c.shop.Login}, "InvoiceID": {invoice}, "Signature": {c.sign(c.shop.Login, invoice, c.shop.Password2)},
	}
	a, err := c.send(ctx, kit.Request{
		Method: http.MethodGet, URL: c.base + "/Merchant/WebService/Service.asmx/OpStateExt?" + query.Encode(), Permit: l,
	}, http.StatusOK)
	if err != nil {
		return operationState{}, err
	}
	var found operationState
	switch err := xml.Unmarshal(a.Body, &found); {
	case err != nil:
		return operationState{}, fmt.Errorf("read the state of an operation: %w", err)
	case found.Result == nil:
		return operationState{}, errUnclear
	case *found.Result == resultMissing:
		return operationState{}, gateway.ErrNoSuchPayment
	case *found.Result != resultFound:
		return operationState{}, fmt.Errorf("robokassa responded with result %d", *found.Result)
	case found.State == nil:
		return operationState{}, errUnclear
	}
	return found, nil
}

// Lookup implements gateway.Provider. A link that was not opened has no operation yet, and waits for its customer.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	return c.standing(ctx, id, nil)
}

func (c *Client) standing(ctx context.Context, id string, l *gateway.Permit) (gateway.Outcome, error) {
	found, err := c.state(ctx, id, l)
	switch {
	case errors.Is(err, gateway.ErrNoSuchPayment) && number.MatchString(id):
		return gateway.Outcome{Event: fsm.EventActionRequired, ProviderPaymentID: id}, nil
	case err != nil:
		return gateway.Outcome{}, err
	}
	return c.outcome(id, found)
}

// Find implements gateway.Provider. It looks up the invoice number, which is calculated from our reference. An operation
// of another attempt under the same number does not count.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	found, err := c.state(ctx, invoice(id), nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := c.outcome(invoice(id), found)
	if err == nil && !slices.Contains(o.References, id.String()) {
		return gateway.Outcome{}, fmt.Errorf("%w: the operation has another mark", gateway.ErrInconclusive)
	}
	return o, err
}
