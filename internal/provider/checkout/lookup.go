package checkout

import (
	"context"
	"net/url"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// Lookup implements gateway.Provider. Only its actions contain why a payment was
// declined, and its refunds. A hosted page and a payment link are looked up for their payment.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	switch {
	case page(id) != "":
		return c.lookupPage(ctx, id)
	case strings.HasPrefix(id, sessionPrefix):
		return gateway.Outcome{}, gateway.ErrNotTold
	}
	o, found, err := c.standing(ctx, id)
	if err != nil || o.News != fsm.NewsSucceeded {
		return o, err
	}
	err = c.withMoved(ctx, &o, found)
	return o, err
}

// standing is how a payment stands, without what happened after its capture: all that a command needs.
func (c *Client) standing(ctx context.Context, id string) (gateway.Outcome, paid, error) {
	var found paid
	if err := c.api.Get(ctx, paymentPath(id), nil, &found); err != nil {
		return gateway.Outcome{}, paid{}, err
	}
	if found.Status == declined && found.ResponseCode == "" {
		if all, err := c.actions(ctx, id); err == nil {
			found.ResponseCode = declineCode(all)
		}
	}
	o, err := outcome(found)
	return o, found, err
}

// Find implements gateway.Provider. Only the id is taken from the list. Of several payments the one that has come furthest is
// returned.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	var list struct {
		Data []struct {
			ID        string `json:"id"`
			Reference string `json:"reference"`
		} `json:"data"`
	}
	query := url.Values{"reference": {id.String()}, "limit": {"10"}, "skip": {"0"}}
	if err := c.api.Get(ctx, "/payments?"+query.Encode(), nil, &list); err != nil {
		return gateway.Outcome{}, err
	}
	if list.Data == nil {
		return gateway.Outcome{}, errNameless
	}
	var found gateway.Outcome
	for _, hit := range list.Data {
		if hit.Reference != id.String() {
			continue
		}
		o, err := c.Lookup(ctx, hit.ID)
		if err != nil {
			return gateway.Outcome{}, err
		}
		found = call.Further(found, o)
	}
	if found.ProviderPaymentID == "" {
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return found, nil
}
