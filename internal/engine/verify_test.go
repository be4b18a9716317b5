package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	t.Run("busy_database", verifyBusyDatabase)
	t.Run("conflicting_amounts_in_any_order", verifyConflictingAmountsInAnyOrder)
	t.Run("corrupt_attempts", verifyCorruptAttempts)
	t.Run("corrupt_operations", verifyCorruptOperations)
	t.Run("corrupt_events", verifyCorruptEvents)
	t.Run("corrupt_refunds", verifyCorruptRefunds)
	t.Run("corrupt_movements", verifyCorruptMovements)
	t.Run("corrupt_payments", verifyCorruptPayments)
	t.Run("chargebacks_and_refunds", verifyChargebacksAndRefunds)
	t.Run("one_at_a_time", verifyOneAtATime)
}

// busy is much that can happen to many orders, for race.
func (r *env) busy(t *testing.T, s, second *service) []func() {
	t.Helper()
	var run []func()
	one := func(order payment.OrderID, token string, do func(s *service, id payment.AttemptID)) {
		p, err := s.Pay(t.Context(), customer, request("pay "+string(order), "first-key", token), commands.Pay{
			OrderID: order, Details: gateway.Details{Token: token}, Capture: captureOf(do),
		})
		if err != nil {
			t.Error(err)
			return
		}
		if do != nil {
			do(second, p.ID)
		}
		for range 3 {
			if _, err := second.Recheck(t.Context(), p.ID, byTest); err != nil && !errors.Is(err, payment.ErrBusy) {
				t.Error(err)
			}
		}
	}
	for token := range courses {
		r.order(t, payment.OrderID("plain-"+token))
		run = append(run, func() { one(payment.OrderID("plain-"+token), token, nil) })
	}
	for name, do := range map[string]func(s *service, id payment.AttemptID){
		"part": func(s *service, id payment.AttemptID) {
			half := int64(price / 2)
			_, _ = s.Confirm(t.Context(), customer, request("confirm", "confirm-"+id.String(), ""), commands.Confirm{AttemptID: id, Amount: &half})
			_, _ = s.Refund(t.Context(), shop, request("refund", "refund-"+id.String(), ""), commands.CreateRefund{AttemptID: id, Amount: &[]int64{1}[0]})
			_, _ = s.Refund(t.Context(), shop, request("refund", "rest-"+id.String(), ""), commands.CreateRefund{AttemptID: id})
		},
		"given up": func(s *service, id payment.AttemptID) {
			_, _ = s.Cancel(t.Context(), customer, request("cancel", "cancel-"+id.String(), ""), id)
			_, _ = s.Intake(t.Context(), received(nil, event(webhooks.KindAuthorized, id.String()), event(webhooks.KindSucceeded, id.String())))
		},
		"taken back": func(s *service, id payment.AttemptID) {
			_, _ = s.Confirm(t.Context(), customer, request("confirm", "confirm-"+id.String(), ""), commands.Confirm{AttemptID: id})
			back, dollars := event(webhooks.KindReversed, id.String()), event(webhooks.KindSucceeded, id.String())
			back.Money, dollars.Money = &webhooks.Money{Minor: 5, Currency: "EUR"}, &webhooks.Money{Minor: price, Currency: "USD"}
			dashboard, undone := event(webhooks.KindRefundSucceeded, id.String()), event(webhooks.KindRefundFailed, id.String())
			dashboard.RefundID, dashboard.Money = "re_"+id.String(), back.Money
			undone.RefundID, undone.Money = dashboard.RefundID, back.Money
			_, _ = s.Intake(t.Context(), received(nil, dollars, back, dashboard, event(webhooks.KindDisputed, id.String()), undone))
		},
		"other money first": func(s *service, id payment.AttemptID) {
			odd, dollars := event(webhooks.KindSucceeded, id.String(), "other-"+id.String()), event(webhooks.KindAuthorized, id.String())
			odd.Money.Minor, odd.ProviderPaymentID = 7, "other-"+id.String()
			dollars.Money = &webhooks.Money{Minor: price, Currency: "USD"}
			_, _ = s.Intake(t.Context(), received(nil, odd, dollars))
		},
	} {
		for i := range 3 {
			order := payment.OrderID(fmt.Sprintf("%s-%d", name, i))
			r.order(t, order)
			run = append(run, func() { one(order, "tok_success", do) })
		}
	}
	return run
}

func captureOf(do func(*service, payment.AttemptID)) payment.CaptureMode {
	if do == nil {
		return payment.CaptureAutomatic
	}
	return payment.CaptureManual
}

// A database that was written by us holds nothing that does not follow, at any
// moment of a busy run.
func verifyBusyDatabase(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{
		delays: sandbox.Delays{Async: 50 * time.Millisecond, Late: 100 * time.Millisecond, Webhook: time.Second, RetryMin: 20 * time.Millisecond},
	})
	second := r.another(t, nil)
	const least = 3 // laps, however slow they are
	enough, done := make(chan struct{}), make(chan struct{})
	run := append(r.busy(t, r.service, second), func() { <-enough })
	go func() {
		defer close(done)
		race(run...)
	}()
	laps := 0
	for running := true; running; laps++ {
		select {
		case <-done:
			running = false
		default:
		}
		require.Empty(t, r.verify(t))
		if laps == least-1 {
			close(enough)
		}
	}
	require.Eventually(t, func() bool { return len(rows[string](t, r, "SELECT DISTINCT kind FROM discrepancies")) >= 5 }, waitFor, tick, "much of what can happen has happened")
}

// Conflicting amounts lead to the same state in any order, and the state follows from the log.
func verifyConflictingAmountsInAnyOrder(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for i, c := range []struct {
		capture payment.CaptureMode
		amounts []int64
		most    int64
	}{
		{payment.CaptureAutomatic, []int64{price, 2500}, 2500},
		{payment.CaptureAutomatic, []int64{2500, price}, 2500},
		{payment.CaptureManual, []int64{700, price}, price},
		{payment.CaptureManual, []int64{price, 700}, price},
		{payment.CaptureManual, []int64{2500, 700}, 2500},
	} {
		order := payment.OrderID(fmt.Sprintf("A-%d", i))
		r.order(t, order)
		p, err := r.Pay(t.Context(), customer, request("pay "+string(order), "first-key", ""), commands.Pay{OrderID: order, Details: gateway.Details{Token: "tok_never"}, Capture: c.capture})
		require.NoError(t, err)
		for _, amount := range c.amounts {
			e := event(webhooks.KindSucceeded, p.ID.String())
			e.Money.Minor = amount
			r.tell(t, e)
		}
		a := r.attempt(t, p.ID)
		require.Equal(t, c.most, a.Captured, order)
		require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, p.ID), order)

		unsaid := event(webhooks.KindSucceeded, p.ID.String())
		unsaid.Money = nil
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, unsaid), order)
		require.Equal(t, a.Version, r.attempt(t, p.ID).Version, order)
	}
	require.Empty(t, r.verify(t))
}

// corruption is a forbidden write, the write that undoes it, and the check that must find it.
type corruption struct{ do, undo, check string }

// eachIsReported writes corruptions, one at a time.
func (r *env) eachIsReported(t *testing.T, corruptions map[string]corruption) {
	t.Helper()
	require.Empty(t, r.verify(t))
	for name, c := range corruptions {
		r.corrupt(t, c.do)
		var checks []string
		for _, d := range r.verify(t) {
			checks = append(checks, d.Check)
			require.NotEmpty(t, d.Text)
			require.NotEmpty(t, d.OrderID)
		}
		require.Contains(t, checks, c.check, name)
		r.corrupt(t, c.undo)
		require.Empty(t, r.verify(t), "%s: undone", name)
	}
}

// set changes the rows of an order.
func set(table, order, set string) string {
	return "UPDATE " + table + " SET " + set + " WHERE order_id = '" + order + "'"
}

// Every way in which an attempt and its log can part is seen.
func verifyCorruptAttempts(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	made := map[string]string{}
	for order, token := range map[payment.OrderID]string{"paid": "tok_success", "failed": "tok_decline", "pending": "tok_never"} {
		made[string(order)] = r.paid(t, order, token).ID.String()
	}
	attempt := func(order, to string) string { return set("payment_attempts", order, to) }
	log := func(to string) string { return set("attempt_transitions", "paid", to) + " AND version = 2" }
	capture := func(to string) string { return set("money_movements", "paid", to) + " AND number = 1" }
	r.eachIsReported(t, map[string]corruption{
		"a status":            {attempt("pending", "status = 'failed', stage = 'final', finalized_at = updated_at"), attempt("pending", "status = 'pending', stage = 'processing', finalized_at = NULL"), "row_follows_log"},
		"an amount":           {attempt("paid", "amount_captured = 1998"), attempt("paid", "amount_captured = 1999"), "row_follows_log"},
		"held less than paid": {attempt("paid", "amount_authorized = 5"), attempt("paid", "amount_authorized = 0"), "row_follows_log"},
		"other money":         {attempt("paid", "foreign_money = true"), attempt("paid", "foreign_money = false"), "row_follows_log"},
		"money in a failure":  {attempt("failed", "amount_captured = 5"), attempt("failed", "amount_captured = 0"), "money_is_seen"},
		"more back than paid": {attempt("paid", "amount_refunded = 2000"), attempt("paid", "amount_refunded = 0"), "refunded_within_captured"},
		"a version":           {attempt("paid", "version = 7"), attempt("paid", "version = 2"), "row_follows_log"},
		"a payment's name":    {attempt("paid", "provider_payment_id = 'x' || provider_payment_id"), attempt("paid", "provider_payment_id = substr(provider_payment_id, 2)"), "row_follows_log"},
		"a time":              {attempt("paid", "updated_at = updated_at + interval '1 s'"), attempt("paid", "updated_at = updated_at - interval '1 s'"), "times_follow_log"},
		"the end's time":      {attempt("paid", "finalized_at = finalized_at + interval '1 s'"), attempt("paid", "finalized_at = finalized_at - interval '1 s'"), "times_follow_log"},
		"a reason":            {attempt("failed", "failure_code = ''"), attempt("failed", "failure_code = 'card_declined'"), "failure_has_reason"},
		"a reason too many":   {attempt("paid", "failure_code = 'expired'"), attempt("paid", "failure_code = ''"), "failure_has_reason"},
		"what it is for":      {attempt("paid", "amount = 2000"), attempt("paid", "amount = 1999"), "order_terms"},
		"an order":            {set("orders", "paid", "amount = 5"), set("orders", "paid", "amount = 1999"), "order_terms"},
		"paid without money":  {capture("kind = 'authorization'"), capture("kind = 'capture'"), "paid_holds_money"},
		"a gap":               {log("version = 3"), "UPDATE attempt_transitions SET version = 2 WHERE order_id = 'paid' AND version = 3", "versions_without_gaps"},
		"no log":              {"UPDATE attempt_transitions SET attempt_id = gen_random_uuid(), order_id = 'gone' WHERE order_id = 'pending'", "UPDATE attempt_transitions SET order_id = 'pending', attempt_id = '" + made["pending"] + "' WHERE order_id = 'gone'", "log_is_there"},
		"another course":      {log("to_stage = 'failed'"), log("to_stage = 'succeeded'"), "log_replays"},
		"another beginning":   {log("from_stage = 'processing'"), log("from_stage = 'requested'"), "log_is_unbroken"},
		"another report":      {log(`detail = detail::jsonb || '{"news": "authorized"}'`), log(`detail = detail::jsonb || '{"news": "succeeded"}'`), "log_replays"},
		"another sum":         {log(`detail = detail::jsonb || '{"captured": 7}'`), log(`detail = detail::jsonb || '{"captured": 1999}'`), "log_sums"},
		"a mismatch unseen":   {log(`to_stage = 'requested', detail = detail::jsonb || '{"captured": 7}'`), log(`to_stage = 'succeeded', detail = detail::jsonb || '{"captured": 1999}'`), "log_replays"},
		"two live attempts": {
			"DROP INDEX IF EXISTS attempts_one_live_per_order; INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, created_at, updated_at) " +
				"SELECT order_id, '00000000-0000-7000-8000-0000000000a2', user_id, 'second', request_hash, account, status, stage, amount, currency, created_at, updated_at FROM payment_attempts WHERE order_id = 'pending'",
			"DELETE FROM payment_attempts WHERE attempt_id = '00000000-0000-7000-8000-0000000000a2'", "one_live_attempt",
		},
	})
}

// So is every way in which operations can be left behind, or in two.
func verifyCorruptOperations(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.paid(t, "pending", "tok_never")
	sibling := r.paid(t, "paid", "tok_success").ID.String()
	// move gives the paid attempt, as a failed one, to an order, with a log that is older.
	move := func(order, status, older string) string {
		var all strings.Builder
		for _, table := range []string{"payment_attempts", "attempt_transitions", "operations", "money_movements"} {
			all.WriteString("UPDATE " + table + " SET order_id = '" + order + "' WHERE attempt_id = '" + sibling + "';")
		}
		return all.String() + "UPDATE attempt_transitions SET at = at - interval '" + older + "' WHERE attempt_id = '" + sibling + "';" +
			"UPDATE payment_attempts SET status = '" + status + "' WHERE attempt_id = '" + sibling + "'"
	}
	pending, paid := func(to string) string { return set("operations", "pending", to) }, func(to string) string { return set("operations", "paid", to) }
	for _, name := range []string{"operations_fence_counts", "operations_open_is_due", "operations_closed_is_free"} {
		r.corrupt(t, "ALTER TABLE operations DROP CONSTRAINT "+name)
	}
	r.corrupt(t, "DROP INDEX operations_one_open_payment")
	r.eachIsReported(t, map[string]corruption{
		"sent untaken":     {pending("sends = sends + 5"), pending("sends = sends - 5"), "fence_counts_takes"},
		"never due":        {pending("next_at = NULL"), pending("next_at = now()"), "open_is_due"},
		"closed and due":   {paid("state = 'done', next_at = now()"), paid("state = 'done', next_at = NULL"), "closed_is_left_alone"},
		"closed and taken": {paid("state = 'done', next_at = NULL, lease_until = now()"), paid("lease_until = NULL"), "closed_is_left_alone"},
		"one lost":         {pending("number = 3"), pending("number = 0"), "numbers_without_gaps"},
		"forgotten":        {pending("state = 'done', next_at = NULL"), pending("state = 'accepted', next_at = now()"), "pending_is_watched"},
		"sent though cancelled": {
			set("orders", "pending", "cancel_requested_at = now() - interval '2 minutes'"), set("orders", "pending", "cancel_requested_at = NULL"), "sent_while_permitted",
		},
		"sent beside held money": {
			"UPDATE payment_attempts SET status = 'failed', client_request_id = 'sibling' WHERE attempt_id = '" + sibling + "';" + move("pending", "failed", "2 minutes"),
			move("paid", "succeeded", "-2 minutes"), "sent_while_permitted",
		},
		"paid, and asked": {paid("state = 'unknown', next_at = now()"), paid("state = 'done', next_at = NULL"), "final_needs_nothing"},
		"two of one slot": {
			"INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, next_at, created_at) " +
				"SELECT order_id, attempt_id, 'complete', 0, account, origin, 'accepted', now(), created_at FROM operations WHERE order_id = 'pending'",
			"DELETE FROM operations WHERE kind = 'complete'", "one_open_a_slot",
		},
	})
}

// So is every way in which the log and the inbox can part.
func verifyCorruptEvents(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	told := func(order payment.OrderID, token string, kind webhooks.Kind) (payment.AttemptID, string) {
		id := r.paid(t, order, token).ID
		e := event(kind, id.String())
		r.tell(t, e)
		return id, e.ID
	}
	heard, success := told("heard", "tok_never", webhooks.KindSucceeded)
	_, held := told("held", "tok_never", webhooks.KindAuthorized)
	late, _ := told("late", "tok_decline", webhooks.KindSucceeded)
	_, stale := told("half", "tok_success", webhooks.KindFailed)
	refunded := r.paid(t, "refunded", "tok_success").ID
	event := func(id, to string) string {
		return "UPDATE provider_events SET " + to + " WHERE provider_event_id = '" + id + "'"
	}
	kind := func(id, kind string) string { return event(id, `news = news::jsonb || '{"kind": `+kind+`}'`) }
	r.eachIsReported(t, map[string]corruption{
		"lost":            {event(success, "attempt_id = NULL"), event(success, "attempt_id = '"+heard.String()+"'"), "event_is_stored"},
		"set aside":       {event(success, "verdict = 'deferred'"), event(success, "verdict = 'applied'"), "event_is_applied"},
		"not applied":     {event(success, "verdict = 'unmatched'"), event(success, "verdict = 'applied'"), "event_is_applied"},
		"ignored":         {event(success, "verdict = 'ignored'"), event(success, "verdict = 'applied'"), "event_is_applied"},
		"unreadable":      {kind(success, `{"name": "succeeded"}`), kind(success, `"succeeded"`), "event_is_readable"},
		"another meaning": {kind(held, `"succeeded"`), kind(held, `"authorized"`), "event_agrees"},
		"stale, applied":  {event(stale, "verdict = 'applied'"), event(stale, "verdict = 'stale'"), "event_agrees"},
		"conflict unseen": {"UPDATE discrepancies SET attempt_id = NULL WHERE attempt_id = '" + late.String() + "'", "UPDATE discrepancies SET attempt_id = '" + late.String() + "'", "conflict_is_seen"},
		"a refund lost": {
			"INSERT INTO provider_events SELECT n.* FROM provider_events o, jsonb_populate_record(o, '{\"provider_event_id\": \"evt_back\", \"attempt_id\": \"" + refunded.String() + "\", \"news\": {\"kind\": \"refund_succeeded\", \"refund_id\": \"re_nobody\"}}') n WHERE o.provider_event_id = '" + success + "'",
			"DELETE FROM provider_events WHERE provider_event_id = 'evt_back'", "event_has_movement",
		},
	})
}

// So is every way in which refunds and their movements can part.
func verifyCorruptRefunds(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_success").ID
	r.refund(t, id, "refund-1")
	r.eachIsReported(t, map[string]corruption{
		"its status":       {"UPDATE refunds SET status = 'failed', failure_code = 'x'", "UPDATE refunds SET status = 'succeeded', failure_code = ''", "refund_has_movement"},
		"its name":         {"UPDATE refunds SET provider_refund_id = 'x' || provider_refund_id", "UPDATE refunds SET provider_refund_id = substr(provider_refund_id, 2)", "refund_has_movement"},
		"its movement":     {"UPDATE refunds SET provider_refund_id = 'x' || provider_refund_id", "UPDATE refunds SET provider_refund_id = substr(provider_refund_id, 2)", "movement_is_claimed"},
		"its amount":       {"UPDATE refunds SET amount = 5", "UPDATE refunds SET amount = 1999", "refund_amount"},
		"its reason":       {"UPDATE refunds SET failure_code = 'x'", "UPDATE refunds SET failure_code = ''", "refund_failure"},
		"its version":      {"UPDATE refunds SET version = 1", "UPDATE refunds SET version = 2", "refund_version"},
		"its time":         {"UPDATE refunds SET updated_at = updated_at - interval '1 s'", "UPDATE refunds SET updated_at = updated_at + interval '1 s'", "refund_version"},
		"what was counted": {"UPDATE payment_attempts SET amount_refunded = 5", "UPDATE payment_attempts SET amount_refunded = 1999", "row_follows_log"},
	})
}

// corrupt writes data that triggers and foreign keys refuse.
func (r *env) corrupt(t *testing.T, statements string) {
	t.Helper()
	c, err := r.db.Acquire(t.Context())
	require.NoError(t, err)
	defer c.Release()
	_, err = c.Exec(t.Context(), "SET session_replication_role = replica; "+statements+"; SET session_replication_role = DEFAULT")
	require.NoError(t, err, statements)
}

// Of verifications that run alone one reads at a time, and the others return at once.
func verifyOneAtATime(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.paid(t, "A-1", "tok_success")
	archive := archiveOf(r.store)
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(hashtextextended('paylatch verify ' || current_schema(), 0))")
	require.NoError(t, err)
	_, err = verify.Verify(t.Context(), archive, payment.AttemptID{}, 10, true)
	require.ErrorIs(t, err, payment.ErrBusy)
	require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context())))
	v, err := verify.Verify(t.Context(), archive, payment.AttemptID{}, 10, true)
	require.NoError(t, err)
	require.Equal(t, 1, v.Attempts)
}
