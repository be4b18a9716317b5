package providertest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/conformance/account"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// hookSecret signs the webhooks of the recorded payments.
const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" //nolint:gosec // of tests

// clock is the system's: the waits of a run are real, and signatures have times.
func clock() time.Time { return time.Now() } //nolint:forbidigo // as above

// recorder is the adapter before its fake, with webhooks and books of the payments that it has seen. The fakes have neither: a signed
// webhook and an entry of the books are in the standard form.
type recorder struct {
	gateway.Provider
	*rig

	receiver *account.Receiver
	// breaks are the faults; nil if there is none.
	breaks *faults

	mu       sync.Mutex
	captured map[string]int64
	refunds  map[string]payment.Money
	of       map[string]string // the payment of a refund
	held     map[string]bool
	told     map[string]bool
	keys     map[string]error
	charges  int
	// after is called after each charge with their number.
	after func(charges int)
}

// faults change a provider's calls. Each is nil in a provider without that fault.
type faults struct {
	charge  func(p gateway.Provider, ctx context.Context, c gateway.Charge, sent bool, first error) (gateway.Outcome, error)
	lookup  func() error
	capture func(c *gateway.Capture)
	said    func(o *gateway.Outcome)
	cancel  func(c gateway.Cancel) gateway.Outcome
	refund  func(c *gateway.RefundCall)
	// sign changes a delivery before it is sent; it returns false if none is sent. books leaves entries out.
	sign  func(d *http.Request) bool
	books bool
}

func (r *recorder) Charge(ctx context.Context, c gateway.Charge) (o gateway.Outcome, err error) {
	if c.Stored && r.Stored.OwnerOf != nil {
		c.Customer.Reference = r.Stored.OwnerOf(c.Token)
	}
	r.mu.Lock()
	first, sent := r.keys[c.IdempotencyKey]
	r.mu.Unlock()
	if r.breaks.charge != nil {
		o, err = r.breaks.charge(r.Provider, ctx, c, sent, first)
	} else {
		o, err = r.Provider.Charge(ctx, c)
	}
	r.mu.Lock()
	r.keys[c.IdempotencyKey] = err
	r.charges++
	n := r.charges
	r.mu.Unlock()
	if r.after != nil {
		r.after(n)
	}
	return r.seen(o, err)
}

func (r *recorder) Complete(ctx context.Context, c gateway.Completion) (gateway.Outcome, error) {
	return r.seen(r.Provider.Complete(ctx, c))
}

func (r *recorder) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if r.breaks.lookup != nil {
		return gateway.Outcome{}, r.breaks.lookup()
	}
	return r.seen(r.Provider.Lookup(ctx, id))
}

func (r *recorder) Find(ctx context.Context, id payment.AttemptID) (gateway.Outcome, error) {
	if r.breaks.lookup != nil {
		return gateway.Outcome{}, r.breaks.lookup()
	}
	o, err := r.Provider.Find(ctx, id)
	o.Live = nil
	return o, err
}

func (r *recorder) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	if r.breaks.capture != nil {
		r.breaks.capture(&c)
	}
	o, err := r.Provider.Capture(ctx, c)
	if r.breaks.said != nil {
		r.breaks.said(&o)
	}
	return r.seen(o, err)
}

func (r *recorder) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	if r.breaks.cancel != nil {
		return r.breaks.cancel(c), nil
	}
	o, err := r.Provider.Cancel(ctx, c)
	if err == nil && !o.Refused && r.can.Blind() {
		r.mu.Lock()
		delete(r.held, c.ProviderPaymentID)
		r.mu.Unlock()
	}
	return r.seen(o, err)
}

func (r *recorder) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	if r.breaks.refund != nil {
		r.breaks.refund(&c)
	}
	o, err := r.Provider.Refund(ctx, c)
	if err == nil && o.Event != fsm.EventFailed {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refunds[c.Refund.String()], r.of[c.Refund.String()] = *o.Money, c.ProviderPaymentID
	}
	return o, err
}

// seen records what an answer states about a payment, and sends a webhook once it is paid.
func (r *recorder) seen(o gateway.Outcome, err error) (gateway.Outcome, error) {
	o.Live = nil // some fakes answer as in live mode
	if err != nil || o.ProviderPaymentID == "" {
		return o, err
	}
	r.mu.Lock()
	switch o.Event { //nolint:exhaustive // the others have no money
	case fsm.EventSucceeded:
		if o.Money != nil {
			r.captured[o.ProviderPaymentID] = o.Money.Minor
		}
		delete(r.held, o.ProviderPaymentID)
	case fsm.EventAuthorized:
		r.held[o.ProviderPaymentID] = true
	case fsm.EventFailed:
		delete(r.held, o.ProviderPaymentID)
	}
	tell := o.Event == fsm.EventSucceeded && !r.told[o.ProviderPaymentID]
	r.told[o.ProviderPaymentID] = r.told[o.ProviderPaymentID] || tell
	r.mu.Unlock()
	if tell {
		r.tell(o.ProviderPaymentID, o.Container)
	}
	return o, err
}

// tell sends the webhook of a paid payment.
func (r *recorder) tell(id, container string) {
	body, err := json.Marshal(map[string]any{"type": "charge.succeeded", "created": clock().Format(time.RFC3339), "data": map[string]any{
		"charge_id": id, "container_id": container, "reference": container, "amount": price, "currency": "EUR",
	}})
	require.NoError(r, err)
	req := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/webhooks/test", strings.NewReader(string(body)))
	d := webhooks.Delivery{Header: req.Header, Body: body, ReceivedAt: clock()}
	d.Header.Set("Webhook-Id", "evt_"+id)
	v, err := standard.New(webhooks.Config{Secrets: []string{hookSecret}})
	require.NoError(r, err)
	require.NoError(r, v.Sign(&d))
	if r.breaks.sign != nil && !r.breaks.sign(req) {
		return
	}
	r.receiver.ServeHTTP(httptest.NewRecorder(), req)
}

// Entries implements gateway.Books.
func (r *recorder) Entries(_ context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := in.From
	for _, id := range slices.Sorted(maps.Keys(r.captured)) {
		if r.breaks.books {
			continue
		}
		if err := take(gateway.Entry{ID: id, Payment: id, Movement: payment.MovementReport{Kind: payment.MovementCapture, Money: euro(r.captured[id]), At: at}}); err != nil {
			return err
		}
	}
	for id, money := range r.refunds {
		if err := take(gateway.Entry{ID: id, Payment: r.of[id], Movement: payment.MovementReport{Kind: payment.MovementRefund, ID: id, Money: money, At: at}}); err != nil {
			return err
		}
	}
	return nil
}

// accountRun runs the conformance cases of an adopter's account against the fake.
func (r *rig) accountRun(ctx context.Context, breaks *faults, wait time.Duration, after func(charges int)) (account.Report, *recorder) {
	r.Helper()
	if breaks == nil {
		breaks = &faults{}
	}
	verifier, err := standard.New(webhooks.Config{Secrets: []string{hookSecret}})
	require.NoError(r, err)
	rec := &recorder{
		rig: r, breaks: breaks, receiver: account.NewReceiver(verifier, "", "/webhooks/test", clock), after: after, captured: map[string]int64{},
		refunds: map[string]payment.Money{}, of: map[string]string{}, held: map[string]bool{}, told: map[string]bool{}, keys: map[string]error{},
	}
	report, err := account.Run(ctx, account.Options{
		Name: "test", Kind: "test", Version: "test", Money: euro(price), Receiver: rec.receiver, Client: &http.Client{Transport: r.transport},
		Tokens: account.Tokens{Success: r.Tokens.Success, Decline: r.Tokens.Decline, Redirect: r.Step.Token, Page: r.Customer != nil},
		Build: func(c *http.Client) (gateway.Account, error) {
			rec.Provider = r.New(r.T, r.base, c)
			return gateway.Account{Provider: rec, Books: rec}, nil
		},
		Customer: r.Stored.Owner, Open: rec.open, Timeout: patience, Wait: wait, WebhookWait: wait, Pause: time.Millisecond, Now: clock,
	}, func(res account.Result) { r.Log(res.Line()) })
	require.NoError(r, err)
	return report, rec
}

// open acts as the customer.
func (r *recorder) open(_ context.Context, s account.Step) (json.RawMessage, error) {
	if s.Token == r.Step.Token && s.Token != "" {
		details := r.Step.Details
		if r.Step.Customer != nil {
			if returned := r.Step.Customer(r.T, r.fake, s.Payment); returned != nil {
				details = returned
			}
		}
		if details == nil {
			details = json.RawMessage(`{}`)
		}
		return details, nil
	}
	require.NotNil(r, r.Customer, "a step of %s", s.Token)
	if r.Links {
		r.visit(&s.Action)
	}
	r.Customer(r.T, r.fake, s.Payment, s.Token)
	if order := r.ordered(s.Payment); order != s.Payment { // the webhook alone names it
		r.tell(order, s.Payment)
	}
	return nil, nil
}

// clear asserts that no money is left: what was captured was refunded, and nothing is on hold.
func (r *recorder) clear(report account.Report) {
	r.Helper()
	require.Empty(r, report.Left)
	require.Empty(r, r.held)
	if r.can.Refunds == payment.RefundsNone {
		return
	}
	left := maps.Clone(r.captured)
	for id, money := range r.refunds {
		left[r.of[id]] -= money.Minor
	}
	for id, minor := range left {
		require.Zero(r, minor, id)
	}
}

// expected returns the verdicts of the cases by the adapter's capabilities.
func (r *rig) expected() map[string]account.Verdict {
	held := func(offered bool) account.Verdict {
		if offered {
			return account.Held
		}
		return account.NotOffered
	}
	seen := func(v account.Verdict) account.Verdict {
		if v == account.Held && r.can.Blind() {
			return account.Skipped
		}
		return v
	}
	known := func(token bool) account.Verdict {
		if token {
			return account.Held
		}
		return account.Skipped
	}
	holds, page := r.can.Captures > payment.CapturesNone, r.Customer != nil
	all := map[string]account.Verdict{
		"charge": account.Held, "webhook": account.Held, "books": account.Held, "clean-up": account.Held,
		"same key": held(r.can.KeyLife > 0), "lost answer": held((r.can.KeyLife > 0 || r.can.Finds()) && !r.Links),
		"decline": known(r.Tokens.Decline != ""), "second step": known(r.Step.Token != "" || page), "lookup": held(!r.can.Blind() || r.can.Finds()),
		"capture": seen(held(holds)), "captures in parts": seen(held(r.can.Captures >= payment.CapturesSeveral)), "cancel": seen(held(r.can.Cancels > payment.CancelsNone)),
		"refund of a part": seen(held(r.can.Refunds >= payment.RefundsParts)), "refund of the whole": seen(held(r.can.Refunds > payment.RefundsNone)),
	}
	if r.can.Cancels > payment.CancelsNone && !holds && !page || r.can.Cancels > payment.CancelsNone && r.CancelsOnlyHeld && !holds {
		all["cancel"] = account.Skipped // there is no page to wait on, or it can't be cancelled
	}
	return all
}

func accountHolds(r *rig) {
	report, rec := r.accountRun(r.Context(), nil, patience, nil)
	got := map[string]account.Verdict{}
	for _, c := range report.Cases {
		got[c.Case] = c.Verdict
	}
	require.Equal(r, r.expected(), got)
	rec.clear(report)
}

// accountStopped interrupts the run after each of its charges.
func accountStopped(r *rig) {
	for at := 1; ; at++ {
		fresh := newRig(r.T, r.Suite)
		ctx, cancel := context.WithCancel(r.Context())
		report, rec := fresh.accountRun(ctx, nil, patience, func(charges int) {
			if charges == at {
				cancel()
			}
		})
		cancel()
		rec.clear(report)
		if rec.charges < at {
			require.False(r, report.Stopped)
			return
		}
		require.True(r, report.Stopped)
	}
}

// accountFault is a fault of a provider that the conformance of an account finds.
type accountFault struct {
	fault  account.Fault
	breaks faults
	// shown reports whether a run can see the fault at the adapter's provider.
	shown func(r *rig) bool
}

func another(c gateway.Charge) gateway.Charge {
	id := uuid.New()
	c.Attempt, c.IdempotencyKey = payment.AttemptID(id), key(id, "pay")
	return c
}

func always(*rig) bool { return true }

func holds(r *rig) bool { return r.can.Captures > payment.CapturesNone && !r.can.Blind() }

func accountFaults() []accountFault {
	return []accountFault{
		{account.FaultDoubleCharge, faults{charge: func(p gateway.Provider, ctx context.Context, c gateway.Charge, sent bool, _ error) (gateway.Outcome, error) {
			if sent {
				c = another(c)
			}
			return p.Charge(ctx, c)
		}}, func(r *rig) bool { return r.can.KeyLife > 0 }},
		{account.FaultForgotKey, faults{charge: func(p gateway.Provider, ctx context.Context, c gateway.Charge, sent bool, first error) (gateway.Outcome, error) {
			if sent && first != nil {
				c = another(c)
			}
			return p.Charge(ctx, c)
		}}, func(r *rig) bool { return r.can.KeyLife > 0 && r.can.Resend != payment.ResendUnfound && !r.Links }},
		{account.FaultNotFound, faults{lookup: func() error { return gateway.ErrNoSuchPayment }}, func(r *rig) bool { return !r.can.Blind() || r.can.Finds() }},
		{account.FaultDeclineSucceeded, faults{charge: func(p gateway.Provider, ctx context.Context, c gateway.Charge, _ bool, _ error) (gateway.Outcome, error) {
			o, err := p.Charge(ctx, c)
			if o.Event == fsm.EventFailed || o.Event == fsm.EventSoftFailed {
				o.Event, o.Failure, o.Money = fsm.EventSucceeded, nil, &c.Money
				if o.ProviderPaymentID == "" {
					o.ProviderPaymentID = "never_paid"
				}
			}
			return o, err
		}}, func(r *rig) bool { return r.Tokens.Decline != "" }},
		{account.FaultRefundAmount, faults{refund: func(c *gateway.RefundCall) { c.Money.Minor++ }}, func(r *rig) bool { return r.can.Refunds >= payment.RefundsParts }},
		{account.FaultCaptureAmount, faults{
			capture: func(c *gateway.Capture) {
				if !c.Whole {
					c.Money.Minor--
				}
			},
			said: func(o *gateway.Outcome) {
				if o.Money != nil && o.Money.Minor == price {
					o.Money = &payment.Money{Minor: price - 1, Currency: "EUR"}
				}
			},
		}, holds},
		{account.FaultWebhookRefused, faults{sign: func(d *http.Request) bool {
			d.Header.Set("Webhook-Signature", "v1,"+strings.Repeat("A", 43)+"=")
			return true
		}}, func(r *rig) bool { return r.Order == nil }},
		{account.FaultNoWebhook, faults{sign: func(*http.Request) bool { return false }}, func(r *rig) bool { return r.Order == nil }},
		{account.FaultHoldLeft, faults{cancel: func(c gateway.Cancel) gateway.Outcome {
			return gateway.Outcome{Event: fsm.EventFailed, ProviderPaymentID: c.ProviderPaymentID, Failure: payment.NewFailure("canceled", "")}
		}}, func(r *rig) bool { return holds(r) && r.can.Cancels > payment.CancelsNone }},
		{account.FaultMissingInBooks, faults{books: true}, always},
	}
}

// shortly bounds the waits for what a broken provider never shows. Each wait looks once more after its end.
const shortly = 50 * time.Millisecond

// accountFails asserts that a fault fails a case by its name, or that the cases can't see it and none fails.
func accountFails(r *rig, f accountFault) {
	report, _ := r.accountRun(r.Context(), &f.breaks, shortly, nil)
	var found []account.Fault
	for _, c := range report.Cases {
		if c.Verdict == account.Failed {
			found = append(found, c.Fault)
		}
	}
	if f.shown(r) {
		require.Contains(r, found, f.fault)
		return
	}
	require.NotContains(r, found, f.fault)
}
