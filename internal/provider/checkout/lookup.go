package checkout

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func paymentPath(id string) string { return "/payments/" + url.PathEscape(id) }

// Lookup implements gateway.Provider. Only the payment's actions contain the reason of a decline and the refunds. For a
// hosted page or a payment link, it looks up the payment in it. The payments of a payment session have our reference.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	switch {
	case page(id) != "":
		return c.lookupPage(ctx, id)
	case strings.HasPrefix(id, sessionPrefix):
		return gateway.Outcome{}, gateway.ErrByReference
	}
	o, found, err := c.standing(ctx, id)
	if err != nil || o.Event != fsm.EventSucceeded {
		return o, err
	}
	err = c.withMoved(ctx, &o, found)
	return o, err
}

// standing returns the state of a payment without refunds and disputes. A command needs no more.
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
	if err == nil && found.inParts() {
		err = c.withParts(ctx, &o, found)
	}
	return o, found, err
}

// Find implements gateway.Provider. It takes only ids from the list. If there are several payments, it returns the most
// advanced payment. An attempt has one of the two forms of a reference, see referenceOf.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	for _, reference := range []string{id.String(), short(id)} {
		var found gateway.Outcome
		all, err := c.listed(ctx, reference)
		if err != nil {
			return gateway.Outcome{}, err
		}
		for _, hit := range all {
			o, err := c.Lookup(ctx, hit)
			if err != nil {
				return gateway.Outcome{}, err
			}
			found = kit.Further(found, o)
		}
		if len(all) > 0 {
			return found, nil
		}
	}
	return gateway.Outcome{}, gateway.ErrNoSuchPayment
}

// listed returns the ids of the payments with a reference, of all pages
// (https://www.checkout.com/docs/payments/manage-payments/get-a-list-of-payments).
func (c *Client) listed(ctx context.Context, reference string) (ids []string, err error) {
	query := url.Values{"reference": {reference}, "limit": {strconv.Itoa(listPage)}}
	for skip := 0; ; {
		query.Set("skip", strconv.Itoa(skip))
		var list struct {
			Data []struct {
				ID        string `json:"id"`
				Reference string `json:"reference"`
			} `json:"data"`
			Total int `json:"total_count"`
		}
		if err := c.api.Get(ctx, "/payments?"+query.Encode(), nil, &list); err != nil {
			return nil, err
		}
		for _, hit := range list.Data {
			if hit.Reference == reference {
				ids = append(ids, hit.ID)
			}
		}
		switch skip += len(list.Data); {
		case list.Data == nil, len(list.Data) == 0 && skip < list.Total:
			return nil, errNameless
		case len(list.Data) < listPage && skip >= list.Total:
			return ids, nil
		}
	}
}

// listPage is the requested page size of the list by reference.
const listPage = 50
