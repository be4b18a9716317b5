package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// A hold is captured in parts while responses are lost, calls do not arrive, processes freeze and thaw, and webhooks are
// repeated in any order. Each part that the shop was not refused is taken once, and no other money: the sandbox's ledger
// has one entry with the key and the amount of each capture, and their sum is the attempt's.
func TestAnyCourseOfCaptures(t *testing.T) {
	t.Parallel()
	p := &fateful{}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider {
		p.Provider = of
		return p
	}})
	other, world := r.another(t, nil), 0
	rapid.Check(t, func(rt *rapid.T) {
		world++
		w := newParts(t, r, p, payment.OrderID(fmt.Sprint("parts-", world)))
		w.other = other
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
	callFrozen  = "is carried out by a process that freezes"
	callFrozen2 = "is of a process that freezes before it"
)

// fateful is a provider whose next call has the chosen outcome.
type fateful struct {
	gateway.Provider

	mu   sync.Mutex
	next string
	// frozen is called by a process that freezes, and returns when it thaws.
	frozen func()
}

func (p *fateful) fate() (string, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.next
	p.next = callHeard
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

func (p *fateful) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	return p.call(func() (gateway.Outcome, error) { return p.Provider.Capture(ctx, c) })
}

func (p *fateful) Cancel(ctx context.Context, c gateway.Cancel) (gateway.Outcome, error) {
	return p.call(func() (gateway.Outcome, error) { return p.Provider.Cancel(ctx, c) })
}

// parts is one hold with its captures.
type parts struct {
	t *testing.T
	r *env
	// other is another process: a frozen one does not answer the same request again.
	other *service
	p     *fateful
	id    payment.AttemptID
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
	return &parts{t: t, r: r, p: p, id: made.ID, taken: map[string]bool{}, thaw: make(chan struct{})}
}

// do carries a press out with an outcome of its call. A frozen process is left alone until the end, after its lease.
func (w *parts) do(by *service, b press2, fate string) {
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

var anyCallFate = rapid.SampledFrom([]string{callHeard, callHeard, callUnheard, callLost, callFrozen, callFrozen2})

func (w *parts) capture(rt *rapid.T) {
	b := press2{
		key: fmt.Sprint("capture-", len(w.presses)), amount: rapid.SampledFrom([]int64{0, 1, 100, 100, 500, 700}).Draw(rt, "amount"),
		final: rapid.SampledFrom([]bool{false, false, false, true}).Draw(rt, "the last one"),
	}
	w.presses = append(w.presses, b)
	w.do(w.r.service, b, anyCallFate.Draw(rt, "its call"))
}

func (w *parts) release(rt *rapid.T) {
	if len(w.presses) < 3 {
		rt.Skip("not yet")
	}
	b := press2{key: fmt.Sprint("release-", len(w.presses)), cancel: true}
	w.presses = append(w.presses, b)
	w.do(w.r.service, b, anyCallFate.Draw(rt, "its call"))
}

func (w *parts) again(rt *rapid.T) {
	if len(w.presses) == 0 {
		rt.Skip("nothing was pressed")
	}
	w.do(w.other, rapid.SampledFrom(w.presses).Draw(rt, "the press"), rapid.SampledFrom([]string{callHeard, callUnheard, callLost}).Draw(rt, "its call"))
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

// hear delivers the webhook of one of the captures, which has the sum until then.
func (w *parts) hear(rt *rapid.T) {
	entries, _ := w.charged()
	if len(entries) == 0 {
		rt.Skip("nothing was captured")
	}
	until := rapid.IntRange(1, len(entries)).Draw(rt, "of the capture")
	e := event(webhooks.KindSucceeded, w.id.String())
	e.Money.Minor = 0
	for _, m := range entries[:until] {
		e.Money.Minor += m.Amount
	}
	w.heard++
	e.ID = fmt.Sprint("captured-", w.id, "-", w.heard)
	w.r.tell(w.t, e)
}

// end wakes the frozen processes, and compares the attempt with the ledger.
func (w *parts) end(rt *rapid.T) {
	for range 4 {
		w.look()
	}
	close(w.thaw)
	w.running.Wait()
	for range 4 {
		w.look()
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
	locked := w.r.lockedAttempt(w.t, w.id)
	for i := range locked.Operations {
		o := &locked.Operations[i]
		if o.Kind != payment.OperationCapture {
			continue
		}
		if o.Open() || amounts[o.Key()] != o.Amount {
			rt.Fatalf("%s of %d is %s, and the ledger has %d", o.Key(), o.Amount, o.State, amounts[o.Key()])
		}
		delete(amounts, o.Key())
		delete(w.taken, o.OriginID)
	}
	if len(amounts) > 0 || len(w.taken) > 0 {
		rt.Fatalf("taken without a capture: %v; captures without an operation: %v", amounts, w.taken)
	}
	if open := w.r.discrepancies(w.t, w.id); len(open) > 0 {
		rt.Fatalf("a person is told %q", open)
	}
	for _, d := range w.r.verify(w.t) {
		if d.Check != "times_follow_log" {
			rt.Fatalf("%+v", d)
		}
	}
}

// lockedAttempt is an attempt with its operations.
func (r *env) lockedAttempt(t *testing.T, id payment.AttemptID) (a payment.Attempt) {
	t.Helper()
	err := r.store.InCommandTx(t.Context(), func(ctx context.Context, tx commands.Tx) (err error) {
		a, _, err = tx.AttemptLock(ctx, id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
