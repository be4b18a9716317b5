package tbank

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. Every token except page and apps is the RebillId of a saved card.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page || apps[token] {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// card is a card that the bank has saved for a customer.
type card struct {
	RebillID text   `json:"RebillId"`
	Status   string `json:"Status"`
}

// Unseen implements gateway.Provider. Only the answer contains the address of the bank's page, or the link.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, d.Token == page || apps[d.Token]
}

// CheckOwner implements gateway.Provider (https://www.tbank.ru/kassa/dev/payments/#tag/Metody-raboty-s-kartami). The
// customer is the CustomerKey in the request for the list of cards.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	got, err := c.answered(ctx, "GetCardList", request{CustomerKey: customer}, questioning())
	if err != nil {
		return err
	}
	var cards []card
	if json.Unmarshal(got.Body, &cards) != nil {
		// An error is an object. Error 7 means that the customer does not exist.
		var a answer
		if err := got.Read(&a); err != nil {
			return err
		}
		if a.ErrorCode == "7" {
			return payment.ErrMethodNotYours
		}
		return a.said()
	}
	if !slices.ContainsFunc(cards, func(saved card) bool { return string(saved.RebillID) == token && saved.Status != "D" }) {
		return payment.ErrMethodNotYours
	}
	return nil
}
