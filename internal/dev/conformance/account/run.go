package account

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// run is one run of the cases.
type run struct {
	Options

	account gateway.Account
	can     payment.Capabilities
	tap     *tap
	hide    *hider
	started time.Time
	results []Result
	// name is the case that runs.
	name  string
	made  []*made
	first *made // the payment of the charge case, once it is paid
	left  []string
}

// made is a payment that was begun.
type made struct {
	name   string
	charge gateway.Charge
	// first is the answer to the charge, out the latest answer about the payment. Both are nil before an answer.
	first, out *gateway.Outcome
	captured   int64
	refunded   int64
	refunds    []gateway.RefundCall
	// parts are the captures of a hold that was captured in parts, where the provider refunds captures.
	parts []part
	// sent is set once a call may have reached the provider, over once there is nothing to clean up.
	sent, over bool
}

// failure is an answer that a case does not expect.
type failure struct {
	fault      Fault
	text, todo string
}

// Error implements error.
func (f failure) Error() string { return f.text }

// notOfferedError is a feature that the adapter lacks.
type notOfferedError string

// Error implements error.
func (n notOfferedError) Error() string { return string(n) }

var errStopped = SkipError("the run was stopped")

func fail(fault Fault, todo, format string, args ...any) error {
	return failure{fault: fault, text: fmt.Sprintf(format, args...), todo: todo}
}

func newRun(o Options) (*run, error) {
	r := &run{Options: o, hide: newHider(o.Secrets), started: o.Now()}
	r.tap = &tap{next: o.Client.Transport, hide: r.hide, versions: map[string]bool{}}
	client := *o.Client
	client.Transport = r.tap
	var err error
	if r.account, err = o.Build(&client); err != nil {
		return nil, CantRunError{err.Error()}
	}
	if r.account.Provider == nil {
		return nil, CantRunError{"the account can't call its provider: it lacks keys, or its kind has no adapter"}
	}
	r.can = r.account.Provider.Capabilities()
	if r.Receiver != nil {
		r.Receiver.hides(r.hide)
	}
	return r, nil
}

// absent is a payment that no provider has.
const absent = "no-such-payment"

// preflight looks a payment up that does not exist, and reads the books of the last hour. It moves no money.
func (r *run) preflight(ctx context.Context) error {
	if r.account.Live != nil && *r.account.Live {
		return LiveError{"the form of the account's key"}
	}
	_, _ = call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) {
		return r.account.Provider.Lookup(ctx, cmp.Or(r.Absent, absent))
	})
	status, broken := r.tap.last()
	live := false
	if r.account.Books != nil {
		in := gateway.Span{From: r.started.Add(-time.Hour), To: r.started}
		ctx, cancel := context.WithTimeout(ctx, r.Timeout)
		defer cancel()
		_ = r.account.Books.Entries(ctx, in, func(e gateway.Entry) error { // the case of the books reports its errors
			live = live || e.Live != nil && *e.Live
			return nil
		})
	}
	switch evidence := r.tap.liveEvidence(); {
	case live:
		return LiveError{"an entry of its books"}
	case evidence != "":
		return LiveError{evidence}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return CantRunError{fmt.Sprintf("the provider refused the credentials (%d): correct the account's keys; `paylatch doctor` checks them", status)}
	case status == 0 && broken != nil:
		return CantRunError{"the provider can't be reached: " + r.hide.text(broken.Error())}
	}
	return nil
}

// one runs a case. The error is nil unless the run must end.
func (r *run) one(ctx context.Context, c aCase) (Result, error) {
	r.name = c.name
	r.tap.ids() // of earlier cases
	begun, before := r.Now(), len(r.made)
	res := Result{Case: c.name, Verdict: Held}
	var err error
	if ctx.Err() != nil {
		err = errStopped
	} else {
		res.Text, err = c.do(ctx, r)
	}
	res.Milliseconds, res.RequestIDs = r.Now().Sub(begun).Milliseconds(), r.tap.ids()
	for _, m := range r.made[before:] {
		if m.out != nil {
			res.Payments = append(res.Payments, cmp.Or(m.out.ProviderPaymentID, m.out.Container))
		}
	}
	var skipped SkipError
	var lacking notOfferedError
	var failed failure
	switch {
	case err == nil:
	case errors.As(err, new(LiveError)), errors.As(err, new(CantRunError)):
		return res, err
	case errors.As(err, &skipped):
		res.Verdict, res.Text = Skipped, string(skipped)
	case errors.As(err, &lacking):
		res.Verdict, res.Text = NotOffered, string(lacking)
	case errors.As(err, &failed):
		res.Verdict, res.Fault, res.Text, res.ToDo = Failed, failed.fault, failed.text, failed.todo
	default:
		res.Verdict, res.Fault, res.Text, res.ToDo = Failed, FaultUnexpected, err.Error(), toLook
	}
	return res, nil
}

const toLook = "look the request up in the provider's dashboard by its id, and send this report with it"

// call makes a call of the adapter. An interrupt does not cut it, since its result is needed for the clean-up.
func call[T interface{ Readable() (T, error) }](ctx context.Context, r *run, do func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.Timeout)
	defer cancel()
	out, err := do(ctx)
	if err == nil {
		out, err = out.Readable()
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// permit allows one call.
func (r *run) permit() gateway.Permit { return gateway.NewPermit(r.Now(), r.Timeout, r.Now) }

// key is an idempotency key in the form that the service uses.
func key(id uuid.UUID, verb string) string { return hex.EncodeToString(id[:]) + "-" + verb }

const (
	// returnURL is where the customer comes to after a page.
	returnURL = "https://shop.example/paid"
	// customerIP is an address for documentation (RFC 5737).
	customerIP = "203.0.113.7"
)

// prepare records a payment before its call.
func (r *run) prepare(token string, mode payment.CaptureMode) (*made, error) {
	id := payment.OnlyCell.NewID()
	p := r.account.Provider
	c := gateway.Charge{
		Details: gateway.Details{Token: token, ReturnURL: returnURL, Customer: gateway.Customer{Reference: "test-customer"}},
		Attempt: payment.AttemptID(id), Order: payment.OrderID("conformance-" + id.String()[24:]), Money: r.Money, Capture: mode.AtProvider(), Several: mode == payment.CaptureSeveral,
		IdempotencyKey: key(id, "pay"),
	}
	if c.Stored = p.TokenKind(token) == gateway.TokenStored; !c.Stored {
		c.Customer.Email, c.Customer.Name = "customer@shop.example", "Test Customer"
	}
	if c.Stored && r.Customer == "" {
		return nil, CantRunError{"a stored payment method is charged with its customer: give --customer"}
	}
	c.Customer.Reference = cmp.Or(r.Customer, c.Customer.Reference)
	if p.Accepts(c) != nil { // some providers need the customer's address
		c.Customer.IP = customerIP
	}
	if err := p.Accepts(c); err != nil {
		return nil, err
	}
	m := &made{name: r.name, charge: c}
	r.made = append(r.made, m)
	return m, nil
}

// send sends the charge, or the same charge again.
func (r *run) send(ctx context.Context, m *made) (gateway.Outcome, error) {
	if ctx.Err() != nil {
		return gateway.Outcome{}, errStopped
	}
	c := m.charge
	c.Permit, c.Again = r.permit(), m.sent
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Charge(ctx, c) })
	m.sent = m.sent || !errors.Is(err, gateway.ErrNotSent)
	return o, r.mode(o, err)
}

// begin begins a payment.
func (r *run) begin(ctx context.Context, token string, mode payment.CaptureMode) (*made, error) {
	m, err := r.prepare(token, mode)
	if err != nil {
		return nil, err
	}
	o, err := r.send(ctx, m)
	if err == nil || o.Event != "" { // also a payment of real money, because the clean-up needs its id
		m.take(o)
	}
	return m, err
}

// mode returns a LiveError if an answer states that the payment is of real money.
func (r *run) mode(o gateway.Outcome, err error) error {
	switch evidence := r.tap.liveEvidence(); {
	case o.Live != nil && *o.Live:
		return LiveError{"the answer about a payment"}
	case evidence != "":
		return LiveError{evidence}
	}
	return err
}

// take keeps an answer about the payment.
func (m *made) take(o gateway.Outcome) {
	if m.first == nil {
		m.first = &o
	}
	if m.out != nil {
		o.ProviderPaymentID, o.Container = cmp.Or(o.ProviderPaymentID, m.out.ProviderPaymentID), cmp.Or(o.Container, m.out.Container)
		o.References = append(slices.Clone(o.References), m.out.References...)
	}
	if o.Event == fsm.EventSucceeded && o.Money != nil {
		m.captured = o.Money.Minor
	}
	m.out = &o
}

// id is the id to look up.
func (m *made) id() string { return cmp.Or(m.out.ProviderPaymentID, m.out.Container) }

// is reports whether an answer is about this payment. An answer about a container is about the payment in it.
func (m *made) is(o gateway.Outcome) bool {
	for _, known := range []*gateway.Outcome{m.out, m.first} {
		if known.ProviderPaymentID != "" && o.ProviderPaymentID != "" {
			return known.ProviderPaymentID == o.ProviderPaymentID
		}
	}
	names := []string{m.out.ProviderPaymentID, m.out.Container, m.first.ProviderPaymentID, m.first.Container}
	return slices.ContainsFunc([]string{o.ProviderPaymentID, o.Container}, func(name string) bool { return name != "" && slices.Contains(names, name) })
}

// named reports whether an event names the payment.
func (m *made) named(e webhooks.Event) bool {
	names := []string{m.charge.Attempt.String()}
	if m.out != nil {
		names = append(names, m.out.ProviderPaymentID, m.out.Container, m.first.ProviderPaymentID, m.first.Container)
	}
	return slices.ContainsFunc(append([]string{e.ProviderPaymentID, e.Container}, e.References...), func(name string) bool {
		return name != "" && slices.Contains(names, name)
	})
}

// look looks the payment up.
func (r *run) look(ctx context.Context, m *made) (gateway.Outcome, error) {
	if r.Receiver != nil && m.out.ProviderPaymentID == "" {
		if e, ok := r.Receiver.find(m.named); ok { // some providers name the payment in the webhook alone
			m.out.ProviderPaymentID = e.ProviderPaymentID
		}
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Lookup(ctx, m.id()) })
	if err = r.mode(o, err); err == nil {
		m.take(o)
	}
	return o, err
}

// settle waits until a payment has one of the events, or has failed. It has a person do the customer's steps.
func (r *run) settle(ctx context.Context, m *made, wanted ...fsm.Event) error {
	opened, late := "", false
	for end := r.Now().Add(r.Wait); !m.ended(wanted); {
		moved, err := r.act(ctx, m, &opened)
		switch {
		case err != nil:
			return err
		case moved:
			continue
		case r.can.Blind():
			return errByWebhook
		case late:
			return fail(FaultStillWaiting, "pay within --wait, or give a longer one", "after %s the payment is still %s", r.Wait, state(*m.out))
		}
		late = r.Now().After(end) // before the last lookup
		if _, err := r.look(ctx, m); err != nil && (late || !errors.Is(err, gateway.ErrNoSuchPayment)) {
			return unseen(err)
		}
		if m.ended(wanted) {
			return nil
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// errByWebhook is the reason where no lookup can show a result.
const errByWebhook = SkipError("the provider has accepted the request and reports its result only by webhook, so this run can't check it")

// ended reports whether a payment has one of the events, or can't have it any more.
func (m *made) ended(wanted []fsm.Event) bool {
	o := m.out
	return slices.Contains(wanted, o.Event) || o.Event == fsm.EventFailed || o.Refused || o.Event == fsm.EventSoftFailed && o.NextAction == nil
}

// act does the next step of a payment, once each. It reports whether the payment has moved.
func (r *run) act(ctx context.Context, m *made, opened *string) (moved bool, err error) {
	var details json.RawMessage
	switch o := m.out; {
	case o.Approved && r.can.Complete:
	case o.NextAction == nil, o.NextAction.Text() == *opened:
		return false, nil
	case ctx.Err() != nil:
		return false, errStopped
	default:
		*opened = o.NextAction.Text()
		details, err = r.Open(ctx, Step{Case: r.name, Payment: m.id(), Token: m.charge.Token, Action: *o.NextAction})
		if err != nil || details == nil || !r.can.Complete {
			return false, err
		}
	}
	return true, r.complete(ctx, m, details)
}

// unseen is the failure of a lookup of a payment that exists.
func unseen(err error) error {
	if errors.Is(err, gateway.ErrNoSuchPayment) {
		return fail(FaultNotFound, "the provider must show a payment by the id that it gave it", "the lookup of a new payment returned: %s", err)
	}
	return err
}

func (r *run) complete(ctx context.Context, m *made, details json.RawMessage) error {
	c := gateway.Completion{
		Attempt: m.charge.Attempt, Order: m.charge.Order, ProviderPaymentID: m.out.ProviderPaymentID, Container: m.out.Container, Money: m.charge.Money,
		Capture: m.charge.Capture, Details: details, IdempotencyKey: key(uuid.UUID(m.charge.Attempt), "complete-0"), Permit: r.permit(),
	}
	o, err := call(ctx, r, func(ctx context.Context) (gateway.Outcome, error) { return r.account.Provider.Complete(ctx, c) })
	if err = r.mode(o, err); err == nil {
		m.take(o)
	}
	return err
}

// pause waits between two lookups.
func (r *run) pause(ctx context.Context) error {
	timer := time.NewTimer(r.Pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errStopped
	}
}

// notYetError is an answer that may still change.
type notYetError struct{ error }

// Unwrap returns the failure that the answer is if it stays.
func (n notYetError) Unwrap() error { return n.error }

// until repeats a lookup while its answer may still change, at least once, and for Wait at most. It returns the last error.
func (r *run) until(ctx context.Context, look func() error) error {
	for end := r.Now().Add(r.Wait); ; {
		late := r.Now().After(end) // before the last lookup
		err := look()
		var open notYetError
		pending := errors.As(err, &open) || errors.Is(err, gateway.ErrNoSuchPayment) || errors.Is(err, gateway.ErrInconclusive)
		if !pending || late {
			return err
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// state describes an answer.
func state(o gateway.Outcome) string {
	text := string(o.Event)
	if o.Refused {
		text += ", the command refused"
	}
	if o.Failure != nil {
		text += ", " + o.Failure.Code
		if o.Failure.ProviderCode != "" {
			text += " (" + o.Failure.ProviderCode + ")"
		}
	}
	if o.Money != nil {
		text += ", " + o.Money.String()
	}
	return text
}
