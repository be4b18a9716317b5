package braintree

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// idForm is the form of a transaction's id. A local payment's id has another form (PAY-…), and it can't be looked up
// before its transaction exists.
var idForm = regexp.MustCompile(`^[a-z0-9]+$`)

// Lookup implements gateway.Provider ("Transaction: Find"). Each refund is a separate transaction and takes another
// call.
func (c *Client) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if !idForm.MatchString(id) {
		return gateway.Outcome{}, fmt.Errorf("%w: not the id of a transaction", gateway.ErrInconclusive)
	}
	found, err := c.transaction(ctx, id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	return c.standing(ctx, found)
}

// standing returns the state of a payment with its refunds and disputes.
func (c *Client) standing(ctx context.Context, t transaction) (gateway.Outcome, error) {
	o, err := t.outcome()
	if err != nil || o.Event != fsm.EventSucceeded {
		return o, err
	}
	refunds, err := c.refunds(ctx, t)
	if err != nil {
		return gateway.Outcome{}, err
	}
	for _, r := range refunds {
		one, err := r.refund()
		if err != nil {
			return gateway.Outcome{}, err
		}
		o.Refunds = append(o.Refunds, one)
	}
	return o, t.withDisputes(&o)
}

var errListed = errors.New("braintree lists a transaction and then does not find it")

// maxFound limits the transactions that Find looks up for one attempt.
const maxFound = 10

// Find implements gateway.Provider ("Transaction: Search" by order_id). It takes only ids from the search, because the
// search may lag. If there are several transactions, the most advanced transaction decides. A transaction that was
// rejected as a duplicate has the same order_id and is not a decline: it shows that another transaction exists. If all
// other transactions are declined, the outcome stays unknown.
func (c *Client) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	ids, err := c.search(ctx, map[string]any{"order_id": map[string]string{"is": id.String()}})
	if err != nil {
		return gateway.Outcome{}, err
	}
	if len(ids) > maxFound {
		return gateway.Outcome{}, fmt.Errorf("%w: more than %d transactions of one order_id", gateway.ErrInconclusive, maxFound)
	}
	var best transaction
	near, rejected := -1, false
	for _, one := range ids {
		t, err := c.transaction(ctx, one, nil)
		switch {
		case errors.Is(err, gateway.ErrNoSuchPayment):
			return gateway.Outcome{}, errListed
		case err != nil:
			return gateway.Outcome{}, err
		case t.OrderID != id.String() || t.Type != sale:
		case t.Rejection == duplicate:
			rejected = true
		case t.rank() > near:
			best, near = t, t.rank()
		}
	}
	switch {
	case rejected && best.news() == fsm.EventFailed, rejected && near < 0:
		return gateway.Outcome{}, errDuplicate
	case near < 0:
		return gateway.Outcome{}, gateway.ErrNoSuchPayment
	}
	return c.standing(ctx, best)
}

// search returns the ids of the transactions that match the criteria (braintree_python,
// braintree/transaction_gateway.py). Braintree answers a search that took too long without a result.
func (c *Client) search(ctx context.Context, criteria map[string]any) ([]string, error) {
	r := kit.Request{Method: http.MethodPost, URL: "/transactions/advanced_search_ids", Question: true, MaxAnswer: maxPage}
	a, err := c.send(ctx, r, map[string]any{"search": criteria})
	if err != nil {
		return nil, err
	}
	var found struct {
		XMLName xml.Name `xml:"search-results"`
		IDs     *struct {
			Items []string `xml:"item"`
		} `xml:"ids"`
	}
	refused, err := read(a, &found)
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refused
	case found.IDs == nil:
		return nil, errNameless
	}
	return found.IDs.Items, nil
}

// rank returns how near a transaction is to captured money.
func (t transaction) rank() int {
	return slices.Index([]fsm.Event{fsm.EventFailed, fsm.EventProcessing, fsm.EventAuthorized, fsm.EventSucceeded}, t.news())
}
