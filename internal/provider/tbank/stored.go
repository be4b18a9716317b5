package tbank

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider: every token but page is the RebillId of a
// saved card.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// card is a card that the bank has saved for a customer.
type card struct {
	RebillID text   `json:"RebillId"`
	Status   string `json:"Status"`
}

// CheckOwner implements gateway.Provider
// (https://www.tbank.ru/kassa/dev/payments/#tag/Metody-raboty-s-kartami): the customer
// is the CustomerKey of the list of cards.
func (c *Client) CheckOwner(ctx context.Context, token, customer string) error {
	got, err := c.answered(ctx, "GetCardList", request{CustomerKey: customer}, questioning())
	if err != nil {
		return err
	}
	var cards []card
	if json.Unmarshal(got.Body, &cards) != nil {
		// An error comes as an object. 7 means that there is no such customer.
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
