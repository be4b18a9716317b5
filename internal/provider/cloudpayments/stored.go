package cloudpayments

import (
	"context"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// TokenKind implements gateway.Provider. Every token except page, an app and a cryptogram is a stored card.
func (c *Client) TokenKind(token string) gateway.TokenKind {
	if token == page || links[token] != "" || isCryptogram(token) {
		return gateway.TokenSingleUse
	}
	return gateway.TokenStored
}

// maxToken is the length of the longest card tokens, which are hexadecimal. A cryptogram comes from the browser's script
// or from a wallet. It contains an encrypted card and has hundreds of characters. CloudPayments would refuse one sent as
// the other.
const maxToken = 100

func isCryptogram(token string) bool { return len(token) > maxToken }

// Unseen implements gateway.Provider. Only the answer contains the address of a page, or the link to an app.
func (c *Client) Unseen(d gateway.Details) (payable time.Duration, ends bool) {
	return 0, d.Token == page || links[d.Token] != ""
}

// CheckOwner implements gateway.Provider. CloudPayments can't look up a token. A charge names the token's AccountId, and
// CloudPayments refuses another customer's token (https://developers.cloudpayments.ru/#oplata-po-tokenu-rekarring).
func (c *Client) CheckOwner(context.Context, string, string) error { return nil }

// saved returns the card that CloudPayments has saved for the customer, or nil. CloudPayments writes the expiry as
// MM/YY.
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
