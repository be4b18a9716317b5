package providertest

import (
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// patience bounds waits that end only if the code is wrong. No correct call takes that long.
const patience = 2 * time.Minute

// rig is the fixture of one test: an adapter, and the line to its fake.
type rig struct {
	*testing.T
	gateway.Provider
	*line
	Suite

	transport *http.Transport
	can       payment.Capabilities
	base      string
}

func newRig(t *testing.T, s Suite) *rig {
	t.Helper()
	l := newLine(t, s.Fake(t), s.Aside)
	server := httptest.NewServer(l)
	// This client follows redirects; the adapter must not.
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
	})
	p := s.New(t, server.URL, client)
	return &rig{T: t, Provider: p, line: l, Suite: s, transport: transport, can: p.Capabilities(), base: server.URL}
}

// now is a clock that stands still.
func now() time.Time { return time.Time{} }

func permit() gateway.Permit { return gateway.NewPermit(now(), time.Hour, now) }

func ended() gateway.Permit { return gateway.NewPermit(now(), 0, now) }

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

// price has digits that occur nowhere else in an answer.
const price = 1999

func charge(token string) gateway.Charge {
	id := payment.AttemptID(uuid.New())
	return gateway.Charge{
		Details: gateway.Details{Customer: gateway.Customer{Reference: "u-1"}, Token: token, ReturnURL: "https://shop.example/back"},
		Attempt: id, Order: "A-1", Money: euro(price), Capture: payment.CaptureAutomatic, IdempotencyKey: key(uuid.UUID(id), "pay"), Permit: permit(),
	}
}

// key returns an idempotency key with the form and the length of a real key.
func key(id uuid.UUID, verb string) string { return hex.EncodeToString(id[:]) + "-" + verb }

// commanded returns the requests that are not GET requests.
func (r *rig) commanded() []Request {
	return slices.DeleteFunc(r.requests(), func(q Request) bool { return q.Method == http.MethodGet })
}

// command reports whether a request is a command. A read has no key. Some providers take both by POST.
func (r *rig) command(q Request) bool {
	return r.Key(q) != "" || q.Method != http.MethodGet && r.Keyless != nil && r.Keyless(q)
}

// charged makes a charge and confirms it as the customer. It does not confirm a charge with the Redirect token.
func (r *rig) charged(c gateway.Charge) gateway.Outcome {
	r.Helper()
	o, err := r.Charge(r.Context(), c)
	require.NoError(r, err)
	require.NotEmpty(r, lookedUp(o))
	if r.Customer != nil && c.Token != r.Tokens.Redirect && o.Event == fsm.EventActionRequired {
		r.Customer(r.T, r.fake, lookedUp(o), c.Token)
		o, err = r.Lookup(r.Context(), r.ordered(lookedUp(o)))
		require.NoError(r, err)
	}
	return r.settled(c, o)
}

// ordered returns the id by which the provider shows a payment after the customer has paid.
func (r *rig) ordered(id string) string {
	if r.Order == nil {
		return id
	}
	return r.Order(r.T, r.fake, id)
}

// settled returns the payment's outcome after its money was taken.
func (r *rig) settled(c gateway.Charge, o gateway.Outcome) gateway.Outcome {
	r.Helper()
	if !r.Settles || c.Capture == payment.CaptureManual || o.Event != fsm.EventAuthorized {
		return o
	}
	o, err := r.Lookup(r.Context(), lookedUp(o))
	require.NoError(r, err)
	return o
}

// held returns a payment that waits for its capture, or a paid payment if the adapter has no captures.
func (r *rig) held() gateway.Outcome {
	r.Helper()
	c := charge(r.Tokens.Success)
	if r.can.Captures > payment.CapturesNone {
		c.Capture = payment.CaptureManual
	}
	return r.charged(c)
}

func captureOf(id string, minor int64) gateway.Capture {
	return gateway.Capture{
		Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: id, Money: euro(minor), Whole: minor == price,
		IdempotencyKey: key(uuid.New(), "capture-0"), Permit: permit(),
	}
}

func cancelOf(id string) gateway.Cancel {
	return gateway.Cancel{
		Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: id,
		IdempotencyKey: key(uuid.New(), "cancel-0"), Permit: permit(),
	}
}

func refundOf(id string, minor int64) gateway.RefundCall {
	refund := uuid.New()
	return gateway.RefundCall{
		Refund: payment.RefundID(refund), Attempt: payment.AttemptID(uuid.New()), ProviderPaymentID: id, Money: euro(minor),
		Reason: "The customer sent it back.", IdempotencyKey: key(refund, "refund"), Permit: permit(),
	}
}

// call is a call of the port.
type call struct {
	name string
	do   func(ctx context.Context) error
}

// charges returns the call that begins a payment. It returns no call for an adapter whose charge sends nothing.
func (r *rig) charges(l gateway.Permit) []call {
	if r.Links {
		return nil
	}
	return []call{{"charge", func(ctx context.Context) error {
		c := charge(r.Tokens.Success)
		c.Permit = l
		_, err := r.Charge(ctx, c)
		return err
	}}}
}

// commands returns the calls that move money, each with this permit.
func (r *rig) commands(id string, l gateway.Permit) []call {
	all := r.charges(l)
	if r.can.Captures > payment.CapturesNone {
		all = append(all, call{"capture", func(ctx context.Context) error {
			c := captureOf(id, price)
			c.Permit = l
			_, err := r.Capture(ctx, c)
			return err
		}})
	}
	if r.can.Cancels > payment.CancelsNone {
		all = append(all, call{"cancel", func(ctx context.Context) error {
			c := cancelOf(id)
			c.Permit = l
			_, err := r.Cancel(ctx, c)
			return err
		}})
	}
	if r.can.Refunds > payment.RefundsNone {
		all = append(all, call{"refund", func(ctx context.Context) error {
			c := refundOf(id, price)
			c.Permit = l
			_, err := r.Refund(ctx, c)
			return err
		}})
	}
	return all
}

// questions returns the calls that move no money.
func (r *rig) questions(id string) []call { return append(r.lookups(id), r.searches(id)...) }

// lookups returns the calls that look up a payment by the provider's id.
func (r *rig) lookups(id string) []call {
	if r.can.Blind() {
		return nil
	}
	return []call{{"lookup", func(ctx context.Context) error {
		_, err := r.Lookup(ctx, id)
		return err
	}}}
}

// searches returns the calls that search for an attempt or a refund that does not exist.
func (r *rig) searches(id string) []call {
	var all []call
	if r.can.Finds() {
		all = append(all, call{"find", func(ctx context.Context) error {
			_, err := r.Find(ctx, payment.AttemptID(uuid.New()))
			return err
		}})
	}
	if r.can.RefundLookup > payment.RefundLookupNone {
		all = append(all, call{"lookup refund", func(ctx context.Context) error {
			_, err := r.LookupRefund(ctx, gateway.RefundRef{ProviderRefundID: r.NoRefund, ProviderPaymentID: id})
			return err
		}})
	}
	if r.can.RefundLookup > payment.RefundLookupNone && !r.Unmarked {
		all = append(all, call{"find refund", func(ctx context.Context) error {
			_, err := r.LookupRefund(ctx, gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: id})
			return err
		}})
	}
	return all
}

// bore asserts that the last request with an idempotency key had this key. It asserts nothing if the provider has no
// keys or takes none for this command. A read after the command has no key.
func (r *rig) bore(key string) {
	r.Helper()
	commands := r.commanded()
	if r.can.KeyLife == 0 || r.Keyless != nil && r.Keyless(commands[len(commands)-1]) {
		return
	}
	last := ""
	for _, sent := range r.requests() {
		last = cmp.Or(r.Key(sent), last)
	}
	require.Equal(r, key, last)
}

// open makes a call without a readable answer, and asserts that its error leaves the outcome unknown.
func (r *rig) open(ctx context.Context, c call, why string) {
	r.Helper()
	before := len(r.requests())
	if err := c.do(ctx); c.name != "refund" || !r.unsent(err, before) {
		r.unknown(err, c.name+": "+why)
	}
}

// unsent reports whether a refund or a second step sent only reads. It then asserts gateway.ErrNotSent. With any other
// error, the money could not be refunded again.
func (r *rig) unsent(err error, before int) bool {
	r.Helper()
	if slices.ContainsFunc(r.requests()[before:], func(q Request) bool { return q.Method != http.MethodGet }) {
		return false
	}
	require.ErrorIs(r, err, gateway.ErrNotSent)
	return true
}

// unknown asserts that an error leaves the outcome unknown.
func (r *rig) unknown(err error, name string) {
	r.Helper()
	require.Error(r, err, name)
	require.NotErrorIs(r, err, gateway.ErrNotSent, name)
	require.NotErrorIs(r, err, gateway.ErrNoSuchPayment, name)
}
