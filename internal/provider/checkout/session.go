package checkout

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

const (
	// flow is the token of a payment session: the customer pays in Checkout.com's Flow on the shop's page
	// (https://www.checkout.com/docs/payments/accept-payments/accept-a-payment-on-your-website). Each try is a payment.
	flow = "flow"
	// sessionPrefix is the prefix of the ids of payment sessions. No call that shows, changes or closes a session is
	// documented.
	sessionPrefix = "ps_"
	// sessionLife is how long a payment session is open. It is the default time that an attempt waits for its customer.
	sessionLife = time.Hour
)

// expiry returns the end of a payment session that is created now; empty without a clock.
func (c *Client) expiry() string {
	if c.Now == nil {
		return ""
	}
	return c.Now().Add(sessionLife).UTC().Truncate(time.Second).Format(time.RFC3339)
}

// session creates a payment session (https://api-reference.checkout.com/#operation/CreatePaymentSession). The call takes
// no idempotency key. If its response is lost, a second session does no harm: nobody has the secret of the first one, so
// nobody can pay in it. The browser gets the response unchanged, as Flow requires.
func (c *Client) session(ctx context.Context, ch gateway.Charge, expires string, body any) (gateway.Outcome, error) {
	var raw json.RawMessage
	refused, err := c.api.Post(ctx, "/payment-sessions", nil, ch.Permit, body, &raw)
	switch {
	case err != nil:
		return gateway.Outcome{}, err
	case refused != nil:
		return refused.charge(), nil
	}
	var made struct {
		ID     string `json:"id"`
		Token  string `json:"payment_session_token"`
		Secret string `json:"payment_session_secret"`
	}
	if json.Unmarshal(raw, &made) != nil || !strings.HasPrefix(made.ID, sessionPrefix) || made.Token == "" || made.Secret == "" {
		return gateway.Outcome{}, errNameless
	}
	data, err := json.Marshal(map[string]json.RawMessage{"payment_session": raw})
	if err != nil {
		return gateway.Outcome{}, errNameless
	}
	next := &payment.NextAction{Type: payment.ActionSDK, Data: data}
	next.ExpiresAt, _ = time.Parse(time.RFC3339, expires) // the zero time without an end
	return gateway.Outcome{Event: fsm.EventActionRequired, Container: made.ID, References: []string{made.ID}, NextAction: next}, nil
}

// endSession ends the wait for a payment session. Checkout.com has no call that closes a session, so endSession looks for
// its payments. A hold is voided. A session without a payment that holds money or is under way is over once it has
// expired, and the list has had the time to show a payment of its last moment.
func (c *Client) endSession(ctx context.Context, cl gateway.Cancel) (gateway.Outcome, error) {
	now, err := c.Find(ctx, cl.Attempt)
	over := c.Now != nil && cl.Quiet >= sessionLife+findLag
	switch {
	case err != nil && !errors.Is(err, gateway.ErrNoSuchPayment):
		return gateway.Outcome{}, err
	case now.Event == fsm.EventAuthorized:
		cl.ProviderPaymentID = now.ProviderPaymentID
		return c.Cancel(ctx, cl)
	case now.Event == fsm.EventSucceeded:
		now.Refused = true
		return now, nil
	case now.Event == fsm.EventActionRequired, now.Event == fsm.EventProcessing:
		return now, nil
	case over:
		return gateway.Outcome{Event: fsm.EventFailed, Container: cl.Container, References: []string{cl.Container}, Failure: payment.NewFailure("canceled", "")}, nil
	}
	return gateway.Outcome{Event: fsm.EventActionRequired, Container: cl.Container, References: []string{cl.Container}}, nil
}
