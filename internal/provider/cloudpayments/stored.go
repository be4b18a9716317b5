package cloudpayments

import (
	"context"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider: every token but page and a cryptogram is a stored card.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page || isCryptogram(token) {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// maxToken is the length of the longest tokens of cards, which are hexadecimal; a cryptogram, of the
// browser's script or of a wallet, holds an encrypted card and has hundreds of characters. What were
// taken for the other would be refused.
const maxToken = 100

func isCryptogram(token string) bool { return len(token) > maxToken }

// CheckOwner implements gateway.Provider. CloudPayments has no lookup of a token; a
// charge names its AccountId, and another customer's token is refused
// (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring).
func (c *Client) CheckOwner(context.Context, string, string) error { return nil }

// saved is the card that CloudPayments keeps for the customer; nil for none. Expires is MM/YY there.
func (t transaction) saved() *payment.SavedMethod {
	if t.Token == "" || t.AccountID == "" {
		return nil
	}
	s := &payment.SavedMethod{Token: t.Token, Type: "card", Display: strings.TrimSpace(t.CardType + " **** " + t.CardLastFour)}
	if month, year, ok := strings.Cut(t.CardExpDate, "/"); ok {
		s.Expires = "20" + year + "-" + month
	}
	return s
}
