package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A hold is captured in parts while responses are lost, calls do not arrive, processes freeze and thaw, and webhooks are
// repeated in any order. Each part that the shop was not refused is taken once, and no other money: the sandbox's ledger
// has one entry with the key and the amount of each capture, and their sum is the attempt's.
//
// Providers report captures in three dialects: as the total of the payment, by a name each, or by webhooks alone.
func TestAnyCourseOfCaptures(t *testing.T) {
	t.Parallel()
	for _, d := range []dialect{inTotals, byName, byWebhook} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			anyCourseOfCaptures(t, d)
		})
	}
}

func anyCourseOfCaptures(t *testing.T, d dialect) {
	t.Helper()
	p := &fateful{dialect: d}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.Provider = of
		return p
	}})
	processes, world := []*service{r.service, r.another(t, nil), r.another(t, nil), r.another(t, nil)}, 0
	rapid.Check(t, func(rt *rapid.T) {
		world++
		w := newParts(t, r, p, payment.OrderID(fmt.Sprint("parts-", world)))
		w.processes = processes
		rt.Repeat(map[string]func(*rapid.T){
			"":               func(*rapid.T) {},
			"capture":        w.capture,
			"the same again": w.again,
			"look":           func(*rapid.T) { w.look() },
			"a webhook":      w.hear,
			"release":        w.release,
		})
		w.end(rt)
	})
}

// The outcomes of a call.
const (
	callHeard   = "is heard"
	callUnheard = "is carried out, unheard"
	callLost    = "does not arrive"
	callRefused = "is refused"
	callFrozen  = "is carried out by a process that freezes"
	callFrozen2 = "is of a process that freezes before it"
)

// dialect is how a provider reports captures.
type dialect string

const (
	inTotals  dialect = "totals"
	byName    dialect = "names"
	byWebhook dialect = "webhooks alone"
)

// fateful is a provider whose next call has the chosen outcome.
type fateful struct {
	gateway.Provider

	dialect dialect
	// made returns the captures of the present hold. cancelled is set once the hold was released by a call.
	made      func() []movement
	cancelled bool

	mu   sync.Mutex
	next string
	// refuses is set if the provider refuses the capture of the present call.
	refuses bool
	// frozen is called by a process that freezes, and returns when it thaws.
	frozen func()
}

func (p *fateful) fate() (string, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.next
	p.next, p.refuses = callHeard, next == callRefused
	return next, p.frozen
}

func (p *fateful) call(send func() (gateway.Outcome, error)) (gateway.Outcome, error) {
	fate, freeze := p.fate()
	switch fate {
	case callLost:
		return gateway.Outcome{}, errNoAnswer
	case callFrozen2:
		freeze()
		return gateway.Outcome{}, errNoAnswer
	}
	o, err := send()
	switch fate {
	case callUnheard:
		return gateway.Outcome{}, errNoAnswer
	case callFrozen:
		freeze()
	}
	return o, err
}

func (p *fateful) Capabilities() payment.Capabilities {
	can := p.Provider.Capabilities()
	if p.dialect == byWebhook {
		can.Lookup, can.RefundLookup, can.Captures = payment.LookupNone, payment.RefundLookupNone, payment.CapturesOpen
	}
	return can
}

// captureName is the provider's id of a capture.
func captureName(key string) string { return "cap_" + key }

func (p *fateful) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	return p.call(func() (gateway.Outcome, error) {
		if p.dialect == byWebhook {
			c.Final = false
		}
		o, err := p.capture(ctx, c)
		if err != nil || p.dialect == inTotals {
			return o, err
		}
		o.ProviderRef = captureName(c.IdempotencyKey)
		return p.shown(c.ProviderPaymentID, o), nil
	})
}

// capture refuses the capture if that is its outcome, and the provider has not made it yet.
func (p *fateful) capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	p.mu.Lock()
	refuses := p.refuses
	p.mu.Unlock()
	made := func(m movement) bool { return m.Key == c.IdempotencyKey }
	if !refuses || slices.ContainsFunc(p.made(), made) {
		return p.Provider.Capture(ctx, c)
	}
	o, err := p.Provider.Lookup(ctx, c.ProviderPaymentID)
	o.Refused = true
	return o, err
}

func (p *fateful) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return p.call(func() (gateway.Outcome, error) {
		o, err := p.Provider.Cancel(ctx, c)
		if err == nil && !o.Refused {
			p.mu.Lock()
			p.cancelled = true
			p.mu.Unlock()
		}
		return p.shown(c.ProviderPaymentID, o), err
	})
}

func (p *fateful) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	if p.dialect == byWebhook {
		return gateway.Outcome{}, gateway.ErrUnsupported
	}
	o, err := p.Provider.Lookup(ctx, id)
	return p.shown(id, o), err
}

// shown is an outcome in the provider's dialect.
func (p *fateful) shown(id string, o gateway.Outcome) gateway.Outcome {
	switch p.dialect {
	case byWebhook:
		return gateway.Outcome{Event: fsm.EventProcessing, ProviderPaymentID: id, ProviderRef: o.ProviderRef, Refused: o.Refused}
	case byName:
		for _, m := range p.made() {
			o.Movements = append(o.Movements, payment.MovementReport{
				Kind: payment.MovementCapture, ID: captureName(m.Key), Money: payment.Money{Minor: m.Amount, Currency: "EUR"}, Reference: m.Key,
			})
		}
	case inTotals:
	}
	return o
}

// parts is one hold with its captures.
type parts struct {
	t *testing.T
	r *env
	// processes run the service. After a process has frozen, the next process answers the repeated request.
	processes []*service
	p         *fateful
	id        payment.AttemptID
	// presses are the commands so far. taken are the keys of those that were not refused.
	presses []press2
	taken   map[string]bool
	freezes int
	thaw    chan struct{}
	running sync.WaitGroup
	heard   int
}

// press2 is a confirm, or a cancel.
type press2 struct {
	key    string
	amount int64
	final  bool
	cancel bool
}

func newParts(t *testing.T, r *env, p *fateful, order payment.OrderID) *parts {
	t.Helper()
	p.next = callHeard
	r.order(t, order)
	made, err := r.Pay(t.Context(), shop, request("pay "+string(order), "first-key", "parts"), commands.Pay{
		OrderID: order, Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureSeveral,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &parts{t: t, r: r, p: p, id: made.ID, taken: map[string]bool{}, thaw: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled, p.made = false, func() []movement {
		all, _ := w.charged()
		return all
	}
	return w
}

// do carries a press out with an outcome of its call. A frozen process is left alone until the end, after its lease.
func (w *parts) do(b press2, fate string) {
	by := w.processes[min(w.freezes, len(w.processes)-1)]
	if fate == callFrozen || fate == callFrozen2 {
		if w.freezes++; w.freezes > 3 {
			fate = callUnheard
		}
	}
	asleep, done := make(chan struct{}, 1), make(chan error, 1)
	w.p.mu.Lock()
	w.p.next = fate
	w.p.frozen = func() {
		asleep <- struct{}{}
		<-w.thaw
	}
	w.p.mu.Unlock()
	w.running.Go(func() { done <- w.send(by, b) })
	select {
	case err := <-done:
		w.p.mu.Lock()
		w.p.next = callHeard // no call was made
		w.p.mu.Unlock()
		if err == nil && !b.cancel {
			w.taken[b.key] = true
		}
		for _, expected := range []error{payment.ErrBusy, payment.ErrCaptureExceeds, payment.ErrNotCapturable, payment.ErrAttemptFinal} {
			if errors.Is(err, expected) {
				err = nil
			}
		}
		if replayed := new(*idempotency.ReplayError); err != nil && !errors.As(err, replayed) {
			w.t.Fatalf("%+v: %s", b, err)
		}
	case <-asleep:
		w.r.age(w.t, w.id, lease)
		w.r.exec(w.t, "UPDATE idempotency_keys SET lease_until = lease_until - $1::interval WHERE key = $2", lease, b.key)
	}
}

func (w *parts) send(by *service, b press2) error {
	if b.cancel {
		_, err := by.Cancel(w.t.Context(), shop, request("cancel "+w.id.String(), b.key, ""), w.id)
		return err
	}
	cmd := commands.Confirm{AttemptID: w.id}
	if b.amount > 0 {
		cmd.Amount = &b.amount
	}
	if b.final {
		cmd.Final = &b.final
	}
	_, err := by.Confirm(w.t.Context(), shop, request("confirm "+w.id.String(), b.key, fmt.Sprint(b.amount, b.final)), cmd)
	return err
}

var anyCallFate = rapid.SampledFrom([]string{callHeard, callHeard, callUnheard, callLost, callRefused, callRefused, callFrozen, callFrozen2})

func (w *parts) capture(rt *rapid.T) {
	b := press2{
		key: fmt.Sprint("capture-", len(w.presses)), amount: rapid.SampledFrom([]int64{0, 1, 100, 100, 500, 700}).Draw(rt, "amount"),
		final: rapid.SampledFrom([]bool{false, false, false, true}).Draw(rt, "the last one"),
	}
	w.presses = append(w.presses, b)
	w.do(b, anyCallFate.Draw(rt, "its call"))
}

func (w *parts) release(rt *rapid.T) {
	if len(w.presses) < 3 {
		rt.Skip("not yet")
	}
	b := press2{key: fmt.Sprint("release-", len(w.presses)), cancel: true}
	w.presses = append(w.presses, b)
	w.do(b, anyCallFate.Draw(rt, "its call"))
}

func (w *parts) again(rt *rapid.T) {
	if len(w.presses) == 0 {
		rt.Skip("nothing was pressed")
	}
	w.do(rapid.SampledFrom(w.presses).Draw(rt, "the press"), anyCallFate.Draw(rt, "its call"))
}

// look is a round of the reconciler.
func (w *parts) look() {
	if _, err := w.r.Recheck(w.t.Context(), w.id, byTest); err != nil && !errors.Is(err, payment.ErrBusy) {
		w.t.Fatal(err)
	}
}

// charged is what the ledger has of this hold, by key.
func (w *parts) charged() (entries []movement, sum int64) {
	for _, e := range w.r.ledger(w.t) {
		if e.Kind == "charge" && e.Reference == w.id.String() {
			entries, sum = append(entries, e), sum+e.Amount
		}
	}
	return entries, sum
}

// hear delivers the webhook of one of the captures.
func (w *parts) hear(rt *rapid.T) {
	entries, _ := w.charged()
	if len(entries) == 0 {
		rt.Skip("nothing was captured")
	}
	w.captured(entries, rapid.IntRange(1, len(entries)).Draw(rt, "of the capture"), rapid.Bool().Draw(rt, "bears our name"))
}

// captured delivers the webhook of a capture: with its name and its amount, or with the sum until then.
func (w *parts) captured(entries []movement, until int, ours bool) {
	e := event(webhooks.KindSucceeded, w.id.String())
	of := entries[until-1]
	e.Money.Minor = of.Amount
	if w.p.dialect == inTotals {
		for _, m := range entries[:until-1] {
			e.Money.Minor += m.Amount
		}
	} else if e.MovementID = captureName(of.Key); ours {
		e.CaptureReference = of.Key
	}
	w.heard++
	e.ID = fmt.Sprint("captured-", w.id, "-", w.heard)
	w.r.tell(w.t, e)
}

// hearAll delivers all webhooks of a provider without lookups, the last first.
func (w *parts) hearAll() {
	if w.p.dialect != byWebhook {
		return
	}
	entries, _ := w.charged()
	for until := len(entries); until > 0; until-- {
		w.captured(entries, until, false)
	}
	w.p.mu.Lock()
	cancelled := w.p.cancelled
	w.p.mu.Unlock()
	if cancelled {
		w.heard++
		e := event(webhooks.KindFailed, w.id.String())
		e.ID, e.FailureCode, e.OccurredAt = fmt.Sprint("cancelled-", w.id, "-", w.heard), webhooks.CodeCanceled, time.Now().Add(time.Hour)
		w.r.tell(w.t, e)
	}
}

// end wakes the frozen processes, and compares the attempt with the ledger.
func (w *parts) end(rt *rapid.T) {
	for range 4 {
		w.look()
		w.hearAll()
	}
	close(w.thaw)
	w.running.Wait()
	for range 4 {
		w.look()
		w.hearAll()
	}
	entries, sum := w.charged()
	a := w.r.attempt(w.t, w.id)
	if a.Captured != sum || sum > price {
		rt.Fatalf("the ledger has %d, the attempt %d of %d", sum, a.Captured, price)
	}
	amounts := map[string]int64{}
	for _, e := range entries {
		if _, twice := amounts[e.Key]; twice {
			rt.Fatalf("%s was taken twice", e.Key)
		}
		amounts[e.Key] = e.Amount
	}
	locked, done := w.r.lockedAttempt(w.t, w.id), map[string]bool{}
	for i := range locked.Operations {
		o := &locked.Operations[i]
		if _, made := amounts[o.Key()]; o.Kind != payment.OperationCapture || o.State == fsm.OperationRefused && !made {
			continue
		}
		if done[o.OriginID] {
			rt.Fatalf("the captures of the key %s have taken money twice", o.OriginID)
		}
		done[o.OriginID] = true
		if o.Open() || amounts[o.Key()] != o.Amount {
			rt.Fatalf("%s of %d is %s, and the ledger has %d", o.Key(), o.Amount, o.State, amounts[o.Key()])
		}
		if w.p.dialect != inTotals && o.ProviderRef != captureName(o.Key()) && o.ProviderRef != "" {
			rt.Fatalf("%s has the name of another: %s", o.Key(), o.ProviderRef)
		}
		delete(amounts, o.Key())
		delete(w.taken, o.OriginID)
	}
	if len(amounts) > 0 || len(w.taken) > 0 {
		rt.Fatalf("taken without a capture: %v; captures without an operation: %v", amounts, w.taken)
	}
	if locked.Succeeded() && w.final(&locked) && locked.Rest() > 0 {
		rt.Fatalf("%d are on hold after the last capture", locked.Rest())
	}
	if open := w.findings(); len(open) > 0 {
		rt.Fatalf("a person is told %q", open)
	}
	for _, d := range w.r.verify(w.t) {
		if d.Check != "times_follow_log" {
			rt.Fatalf("%+v", d)
		}
	}
}

// findings are the discrepancies of the hold. A provider without lookups may be asked in vain until a person is told, about the payment
// or about a further capture. A loop that does not run here closes such a case once the webhooks have told the outcome.
func (w *parts) findings() []string {
	texts := "SELECT text FROM discrepancies WHERE attempt_id = $1"
	if w.p.dialect == byWebhook {
		texts += fmt.Sprintf(" AND about NOT IN ('%s', '%s')", payment.AboutUnknownOutcome, payment.AboutCaptureNotMade)
	}
	return rows[string](w.t, w.r, texts, w.id.String())
}

// final reports whether a capture was the last one.
func (w *parts) final(a *payment.Attempt) bool {
	return slices.ContainsFunc(a.Operations, func(o payment.Operation) bool { return o.Final && o.State == fsm.OperationDone })
}
