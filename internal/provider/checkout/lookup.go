package checkout

import (
	"context"
	"net/url"

	"github.com/paylatch/paylatch/internal/payment"
)

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// Lookup implements payment.Provider. Why a payment was declined is told by its
// actions only.
func (c *Client) Lookup(ctx context.Context, id string) (payment.Outcome, error) {
	var found paid
	if err := c.get(ctx, paymentPath(id), &found); err != nil {
		return payment.Outcome{}, err
	}
	if found.Status == declined && found.ResponseCode == "" {
		if all, err := c.actions(ctx, id); err == nil {
			found.ResponseCode = declineCode(all)
		}
	}
	return outcome(found)
}

// Find implements payment.Provider. The list is asked only for the id.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (payment.Outcome, error) {
	var list struct {
		Data []struct {
			ID        string `json:"id"`
			Reference string `json:"reference"`
		} `json:"data"`
	}
	query := url.Values{"reference": {id.String()}, "limit": {"10"}, "skip": {"0"}}
	if err := c.get(ctx, "/payments?"+query.Encode(), &list); err != nil {
		return payment.Outcome{}, err
	}
	if list.Data == nil {
		return payment.Outcome{}, errNameless
	}
	for _, hit := range list.Data {
		if hit.Reference == id.String() {
			return c.Lookup(ctx, hit.ID)
		}
	}
	return payment.Outcome{}, payment.ErrNoSuchPayment
}
