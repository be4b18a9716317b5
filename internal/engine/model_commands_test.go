package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// those lists the names of the attempts for which is returns true.
func (w *world) those(is func(known) bool) []string {
	return slices.DeleteFunc(w.names(), func(name string) bool { return !is(w.attempts[name]) })
}

// watched reports whether an attempt will be looked up.
func watched(a known) bool { return a.NextCheckAt != nil }

func (w *world) recheck(rt *rapid.T) {
	name := pick(rt, "attempt", w.those(watched))
	rt.Logf("ASK about %s", name)
	w.ask(rt, name)
}

// takeOver lets the lease of a call end and rechecks its payment.
func (w *world) takeOver(rt *rapid.T) {
	name := pick(rt, "held call", w.heldCalls())[:2]
	rt.Logf("TAKE OVER %s, whose lease ends", name)
	w.pass(lease)
	w.ask(rt, name)
}

func (w *world) ask(rt *rapid.T, name string) {
	busy, was, spared := w.underWay(name), w.attempts[name], w.p.sparing
	w.command(rt, name, w.question(w.service(rt), name), func(p *press) {
		if busy && !errors.Is(p.err, payment.ErrBusy) {
			w.Fatalf("the call of %s is under way, and somebody else may ask: %v", name, p.err)
		} else if !busy && (!errors.Is(p.err, payment.ErrBusy) || !w.attempts[name].MayHold()) { // a call may still release the hold
			w.must(p.err)
		}
		if w.p.sparing == 0 || w.p.sparing == spared || p.waited {
			return
		}
		// A new cancel takes over the tries of the refused one.
		if now := w.standing(p.paid.Attempt); now.Tries > was.Tries && now.Intent == was.Intent {
			w.Fatalf("a question about %s that was held back counts", name)
		}
	})
}

func (w *world) question(s *service, name string) func() (commands.Reply, error) {
	id := w.attempts[name].ID
	return func() (commands.Reply, error) {
		v, err := s.Recheck(w.ctx, id, byTest)
		return commands.Reply{View: v}, err
	}
}

// atOnce lets the reconciler, a client's retry and a webhook work on one attempt.
func (w *world) atOnce(rt *rapid.T) {
	name := pick(rt, "attempt", w.those(watched))
	id := w.attempts[name].ID
	var asked, told error
	var verdicts []fsm.Verdict
	p, again := w.press(w.services[0], name[:1], name[1:], isPaid, w.attempts[name].Capture)
	all := []func(){again, func() { _, asked = w.services[1].Recheck(w.ctx, id, byTest) }}
	of := slices.DeleteFunc(w.notices(false), func(n string) bool { return !strings.HasPrefix(n, name) })
	if len(of) > 0 {
		n := w.notice(of[0])
		all = append(all, func() { verdicts, told = w.services[0].Intake(w.ctx, w.received(n.event)) })
	}
	rt.Logf("AT ONCE ask about %s, pay with its request again, webhook %q", name, of[:min(1, len(of))])
	w.start(all...)
	if !errors.Is(asked, payment.ErrBusy) {
		w.must(asked)
	}
	w.must(told)
	if len(of) > 0 {
		w.acked(w.notice(of[0]), verdicts[0])
		w.notice(of[0]).beside = true
	}
	w.ended(p, anAttempt)
}

func (w *world) retryParked(rt *rapid.T) {
	if !slices.ContainsFunc(w.p.notices, func(n *notice) bool { return parked(n.verdict) }) {
		rt.Skip("nothing is parked")
	}
	rt.Logf("RETRY what is parked")
	_, err := retryParked(w.ctx, w.service(rt), 100)
	w.must(err)
}

func (w *world) cancel(rt *rapid.T) {
	name := pick(rt, "attempt", w.those(func(a known) bool { return !a.Failed() }))
	if rapid.IntRange(0, 5).Draw(rt, "the attempt, or (5) the whole order") == 5 {
		w.cancelOrder(rt, name[:1])
		return
	}
	was, busy := w.attempts[name], w.underWay(name) || captureOpen(w.attempts[name])
	rt.Logf("CANCEL %s, whose call %s", name, w.script(rt, name))
	w.command(rt, name, w.cancelling(w.service(rt), name), func(p *press) {
		switch {
		case was.State.Final() && !errors.Is(p.err, payment.ErrAttemptFinal):
			w.Fatalf("a final attempt is cancelled: %v", p.err)
		case errors.Is(p.err, payment.ErrBusy) && busy, errors.Is(p.err, payment.ErrAttemptFinal):
		default:
			w.must(p.err)
		}
	})
}

// captureOpen reports whether a capture of the attempt is open. A sent capture stays open beside late money, and a
// cancel waits for it.
func captureOpen(a known) bool {
	isCapture := func(o payment.OperationName) bool { return o.Kind == payment.OperationCapture }
	return a.Intent.Kind == payment.OperationCapture || slices.ContainsFunc(a.Open, isCapture)
}

// cancelling makes a cancellation that is not begun yet.
func (w *world) cancelling(s *service, name string) func() (commands.Reply, error) {
	req, id := w.fresh("cancel "+name), w.attempts[name].ID
	return func() (commands.Reply, error) { return s.Cancel(w.ctx, w.actor(), req, id) }
}

func (w *world) cancelOrder(rt *rapid.T, letter string) {
	rt.Logf("CANCEL order %s", letter)
	_, _, err := w.service(rt).CancelOrder(w.ctx, w.actor(), w.fresh("cancel order "+letter), w.order(letter))
	busy := slices.ContainsFunc(w.of(letter), captureOpen)
	if !errors.Is(err, payment.ErrOrderPaid) && (!busy || !errors.Is(err, payment.ErrBusy)) {
		w.must(err)
	}
	read, err := w.store.Order(w.ctx, w.order(letter))
	w.must(err)
	w.cancelled[w.order(letter)] = read.CancelRequestedAt != nil
	if errors.Is(err, payment.ErrOrderPaid) && read.Status() == payment.OrderCancelled {
		w.Fatalf("order %s is cancelled, and its cancellation is refused: it is paid", letter)
	}
}

func (w *world) refund(rt *rapid.T) {
	name := pick(rt, "attempt", w.those(func(a known) bool { return a.gross() > 0 }))
	a := w.attempts[name]
	what := anyPayback.Draw(rt, "the call")
	amount := rapid.SampledFrom([]int64{price, 1500, 500, 0}).Draw(rt, "amount, 0 for all that is left")
	of, left := "", a.Held()
	for _, r := range w.pendingRefunds(name) {
		left -= r.Money.Minor
	}
	if holders := a.Holders(); len(holders) > 1 && rapid.Bool().Draw(rt, "of one payment") {
		p := rapid.SampledFrom(holders).Draw(rt, "of which")
		of, left = p.ID, payment.RefundLeftOf(a.Attempt, p, w.pendingRefunds(name))
	}
	by := rapid.SampledFrom([]payment.UserID{w.user, "provider", "paylatch"}).Draw(rt, "user")
	rt.Logf("REFUND %d of %s %s by %s, whose call %s", amount, name, of, by, what)
	cmd := commands.CreateRefund{AttemptID: a.ID, Amount: &amount, Reason: what, AcknowledgeDispute: true, ProviderPaymentID: of}
	if amount == 0 {
		cmd.Amount, amount = nil, max(left, 1)
	}
	req := w.fresh("refund " + name)
	req.User, req.Key = string(by), idempotency.Key(w.user)+req.Key // the other names are of every world
	made, err := w.service(rt).Refund(w.ctx, authz.Actor{Subject: string(by), Roles: []payment.Role{payment.RoleAdmin}}, req, cmd)
	switch {
	case of == "" && len(a.Holders()) > 1:
		if !errors.Is(err, payment.ErrPaymentAmbiguous) {
			rt.Fatalf("%d payments of %s hold money, and a refund of none by name is answered %v", len(a.Holders()), name, err)
		}
	case a.Held() == 0 && !errors.Is(err, payment.ErrNotRefundable),
		a.Held() > 0 && amount > left && !errors.Is(err, payment.ErrRefundExceeds),
		amount <= left && err != nil, err == nil && made.Money.Minor != amount:
		rt.Fatalf("of %s %d are left to refund, and a refund of %d is answered %v", name, left, amount, err)
	}
	if err == nil {
		w.refunds = append(w.refunds, &asked{id: made.ID, of: name})
		if made.Origin != payment.RefundByRequest {
			rt.Fatalf("the origin of a refund that %s asked for is %q", by, made.Origin)
		}
	}
}

// pendingRefunds are the pending refunds of an attempt.
func (w *world) pendingRefunds(name string) []payment.Refund {
	var all []payment.Refund
	for _, one := range w.refunds {
		r, err := w.store.Refund(w.ctx, one.id)
		w.must(err)
		if one.of == name && r.State == fsm.RefundPending {
			all = append(all, r)
		}
	}
	return all
}

func (w *world) timePasses(rt *rapid.T) {
	by := rapid.SampledFrom([]time.Duration{time.Minute, time.Hour}).Draw(rt, "how long")
	rt.Logf("TIME passes: %s", by)
	w.pass(by)
}

// pass moves all clocks on.
func (w *world) pass(by time.Duration) {
	w.p.mu.Lock()
	w.p.ahead += by
	for _, n := range w.p.notices {
		if !n.event.OccurredAt.IsZero() && n.event.Dispute == nil {
			n.event.OccurredAt = n.event.OccurredAt.Add(-by)
		}
	}
	w.p.mu.Unlock()
	for _, p := range w.heldCommands {
		p.alone = p.alone && by < lease
	}
	w.must(moveTimes(w.ctx, w.db, by, w.orders(), w.user, w.ids()))
}

// moveTimes moves the times of orders, of a user's keys and of events back, as if the clocks had moved on.
func moveTimes(ctx context.Context, db *pgxpool.Pool, by time.Duration, orders []payment.OrderID, user payment.UserID, events []string) error {
	var all pgx.Batch
	// The log, too, which is otherwise never changed.
	all.Queue("SET LOCAL session_replication_role = replica")
	for table, times := range map[string]string{
		"payment_attempts":    "created_at updated_at finalized_at",
		"attempt_transitions": "at",
		"refunds":             "created_at updated_at finalized_at",
		"operations":          "created_at lease_until next_at first_sent_at",
		"money_movements":     "at recorded_at",
	} {
		var set []string
		for name := range strings.FieldsSeq(times) {
			set = append(set, name+" = "+name+" - $2::interval")
		}
		all.Queue("UPDATE "+table+" SET "+strings.Join(set, ", ")+" WHERE order_id = ANY($1)", orders, by)
	}
	all.Queue("UPDATE idempotency_keys SET lease_until = lease_until - $2::interval WHERE user_id = $1", user, by)
	all.Queue("UPDATE provider_events SET next_try_at = next_try_at - $1::interval WHERE next_try_at IS NOT NULL", by)
	all.Queue(`UPDATE provider_events SET news = jsonb_set(news::jsonb, '{occurred_at}', to_jsonb((news->>'occurred_at')::timestamptz - $1::interval))::json
		WHERE provider_event_id = ANY($2) AND news->>'occurred_at' IS NOT NULL AND news->'dispute' IS NULL`, by, events)
	all.Queue(`UPDATE payment_attempts SET payments = jsonb_set(payments::jsonb, '{p}', (
			SELECT jsonb_agg(p || jsonb_strip_nulls(jsonb_build_object('t', (p->>'t')::bigint - $2, 'r', (p->>'r')::bigint - $2)) ORDER BY n)
			FROM jsonb_array_elements(payments::jsonb->'p') WITH ORDINALITY AS e(p, n)))::json
		WHERE order_id = ANY($1) AND payments::jsonb ? 'p'`, orders, by.Microseconds())
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return tx.SendBatch(ctx, &all).Close() })
}
