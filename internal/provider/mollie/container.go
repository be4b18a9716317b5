package mollie

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
)

// linkPrefix and orderPrefix are the prefixes of the ids of containers. A charge creates no container: a shop's own call
// or its dashboard does.
const linkPrefix, orderPrefix = "pl_", "ord_"

func isContainer(id string) bool {
	return strings.HasPrefix(id, linkPrefix) || strings.HasPrefix(id, orderPrefix)
}

// lookupContainer looks up the most advanced payment of a payment link or an order. A container without a payment waits
// for its customer.
func (c *Client) lookupContainer(ctx context.Context, id string) (gateway.Outcome, error) {
	made, err := c.contained(ctx, id)
	if err != nil {
		return gateway.Outcome{}, err
	}
	if len(made) == 0 {
		return gateway.Outcome{Event: fsm.EventActionRequired, Container: id, References: []string{id}}, nil
	}
	furthest := slices.MaxFunc(made, func(a, b object) int { return progress(a.Status) - progress(b.Status) })
	found, err := c.find(ctx, furthest.ID, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	o, err := outcome(found)
	if o.Container == "" {
		o.Container, o.References = id, append(o.References, id)
	}
	return o, err
}

// contained returns the payments of a payment link (https://docs.mollie.com/reference/get-payment-link-payments) or of
// an order (https://docs.mollie.com/reference/get-order, "embed"), the newest first.
func (c *Client) contained(ctx context.Context, id string) (made []object, err error) {
	if strings.HasPrefix(id, linkPrefix) {
		err = each(ctx, c, "/payment-links/"+url.PathEscape(id)+"/payments", "payments", pageSize, func(p object) (bool, error) {
			made = append(made, p)
			return true, nil
		})
		return made, err
	}
	var order struct {
		Embedded struct {
			Payments []object `json:"payments"`
		} `json:"_embedded"`
	}
	err = c.api.Get(ctx, "/orders/"+url.PathEscape(id)+"?embed=payments", nil, &order)
	return order.Embedded.Payments, err
}

// progress returns the rank of a payment's status.
func progress(status string) int {
	return slices.Index([]string{"open", "pending", "authorized", "paid"}, status)
}
