package braintree

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// saleRequest is the part of "Transaction: Sale" that a charge needs
// (https://developer.paypal.com/braintree/docs/reference/request/transaction/sale).
type saleRequest struct {
	Type            string     `json:"type"`
	Amount          string     `json:"amount"`
	OrderID         string     `json:"order_id"`
	Key             string     `json:"api_request_key,omitempty"`
	MerchantAccount string     `json:"merchant_account_id,omitempty"`
	Nonce           string     `json:"payment_method_nonce,omitempty"`
	Token           string     `json:"payment_method_token,omitempty"`
	CustomerID      string     `json:"customer_id,omitempty"`
	Source          string     `json:"transaction_source,omitempty"`
	Customer        *customer  `json:"customer,omitempty"`
	Billing         *postal    `json:"billing,omitempty"`
	Shipping        *postal    `json:"shipping,omitempty"`
	Risk            *risk      `json:"risk_data,omitempty"`
	Descriptor      *statement `json:"descriptor,omitempty"`
	Options         options    `json:"options"`
}

type options struct {
	Submit bool `json:"submit_for_settlement"`
	Vault  bool `json:"store_in_vault_on_success,omitempty"`
}

// body is the body of a request about a transaction.
type body struct {
	Transaction any `json:"transaction"`
}

var (
	errDuplicate = errors.New("braintree rejects a duplicate of another transaction")
	errCurrency  = errors.New("not the currency of the merchant account")
	errVaulted   = fmt.Errorf("%w: a charge of a vaulted payment method is sent once", gateway.ErrNotSent)
)

// Charge implements gateway.Provider. A token is a nonce, or the token of a vaulted payment method, which is sent
// together with its customer. A decline is final. If the method is to be vaulted, Charge first creates the customer,
// under the same permit.
//
// A vaulted method is charged by one request. Only the key would prevent a second request from charging it again.
func (c *Client) Charge(ctx context.Context, ch gateway.Charge) (gateway.Outcome, error) {
	if ch.Stored && ch.Again {
		return gateway.Outcome{}, errVaulted
	}
	request, err := c.sale(ch)
	if err != nil {
		return gateway.Outcome{}, err
	}
	members, err := extend(request, ch.Details)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if ch.Save {
		if refused, err := c.vaultCustomer(ctx, ch); refused != nil || err != nil {
			return refusedCharge(refused), kit.NotSent(err)
		}
	}
	made, refused, err := c.command(ctx, http.MethodPost, "/transactions", ch.Permit, body{members})
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused.open():
		return gateway.Outcome{}, refused
	case refused != nil && refused.transaction == nil:
		return refusedCharge(refused), nil
	case refused != nil:
		made = *refused.transaction
	}
	if made.Rejection == duplicate {
		return gateway.Outcome{}, errDuplicate // the earlier charge has the same order_id, the attempt's id
	}
	o, err := made.outcome()
	if ch.Save && (o.Event == fsm.EventAuthorized || o.Event == fsm.EventSucceeded) {
		o.Saved = made.saved()
	}
	return o, err
}

func refusedCharge(r *refusal) gateway.Outcome {
	if r == nil {
		return gateway.Outcome{}
	}
	return gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", r.code())}
}

func (c *Client) sale(ch gateway.Charge) (saleRequest, error) {
	amount, err := c.amount(ch.Money)
	if err != nil {
		return saleRequest{}, err
	}
	s := saleRequest{
		Type: sale, Amount: amount, OrderID: ch.Attempt.String(), Key: c.key(ch.IdempotencyKey), MerchantAccount: c.MerchantAccount,
		Billing: postalOf(ch.Customer.Billing), Shipping: postalOf(ch.Customer.Shipping), Risk: riskOf(ch.Details),
		Options: options{Submit: ch.Capture != payment.CaptureManual, Vault: ch.Save},
	}
	if ch.Stored {
		s.Token = ch.Token
	} else {
		s.Nonce = ch.Token
	}
	if ch.Stored || ch.Save {
		s.CustomerID = ch.Customer.Reference
	} else {
		s.Customer = customerOf(ch.Customer)
	}
	if ch.Unattended {
		s.Source = "unscheduled"
	}
	if ch.StatementDescriptor != "" {
		s.Descriptor = &statement{Name: ch.StatementDescriptor}
	}
	return s, nil
}

// amount formats money for a request. Requests name no currency, so it returns an error if the currency is not the
// merchant account's.
func (c *Client) amount(m payment.Money) (string, error) {
	if m.Currency != c.Currency {
		return "", fmt.Errorf("%w: %s: %w", gateway.ErrUnsupportedRequest, m.Currency, errCurrency)
	}
	return kit.Decimal(m)
}
