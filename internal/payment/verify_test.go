package payment_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/sandbox"
	"github.com/paylatch/paylatch/webhooks"
)

// busy is much that can happen to many orders, for race.
func (r *rig) busy(t *testing.T, s, second *payment.Service) []func() {
	t.Helper()
	var run []func()
	one := func(order payment.OrderID, token string, do func(s *payment.Service, id payment.AttemptID)) {
		p, err := s.Pay(t.Context(), customer, request("pay "+string(order), "first-key", token), payment.Pay{
			OrderID: order, Token: token, Capture: captureOf(do),
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
	for name, do := range map[string]func(s *payment.Service, id payment.AttemptID){
		"part": func(s *payment.Service, id payment.AttemptID) {
			half := int64(price / 2)
			_, _ = s.Confirm(t.Context(), customer, request("confirm", "confirm-"+id.String(), ""), payment.Confirm{AttemptID: id, Amount: &half})
			_, _ = s.Refund(t.Context(), shop, request("refund", "refund-"+id.String(), ""), payment.CreateRefund{AttemptID: id, Amount: &[]int64{1}[0]})
			_, _ = s.Refund(t.Context(), shop, request("refund", "rest-"+id.String(), ""), payment.CreateRefund{AttemptID: id})
		},
		"given up": func(s *payment.Service, id payment.AttemptID) {
			_, _ = s.Cancel(t.Context(), customer, request("cancel", "cancel-"+id.String(), ""), id)
			_, _ = s.Intake(t.Context(), received(nil, event(webhooks.KindAuthorized, id.String()), event(webhooks.KindSucceeded, id.String())))
		},
		"taken back": func(s *payment.Service, id payment.AttemptID) {
			_, _ = s.Confirm(t.Context(), customer, request("confirm", "confirm-"+id.String(), ""), payment.Confirm{AttemptID: id})
			back, dollars := event(webhooks.KindReversed, id.String()), event(webhooks.KindSucceeded, id.String())
			back.Money, dollars.Money = &webhooks.Money{Minor: 5, Currency: "EUR"}, &webhooks.Money{Minor: price, Currency: "USD"}
			dashboard, undone := event(webhooks.KindRefundSucceeded, id.String()), event(webhooks.KindRefundFailed, id.String())
			dashboard.RefundID, dashboard.Money = "re_"+id.String(), back.Money
			undone.RefundID, undone.Money = dashboard.RefundID, back.Money
			_, _ = s.Intake(t.Context(), received(nil, dollars, back, dashboard, event(webhooks.KindDisputed, id.String()), undone))
		},
		"other money first": func(s *payment.Service, id payment.AttemptID) {
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

func captureOf(do func(*payment.Service, payment.AttemptID)) payment.CaptureMode {
	if do == nil {
		return payment.CaptureAutomatic
	}
	return payment.CaptureManual
}

// A database that was written by us holds nothing that does not follow, at any
// moment of a busy run.
func TestABusyDatabaseVerifies(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{
		delays: sandbox.Delays{Async: 50 * time.Millisecond, Late: 100 * time.Millisecond, Webhook: time.Second, RetryMin: 20 * time.Millisecond},
		change: func(o *payment.Options) { o.ProviderTimeout = time.Second },
	})
	second := r.another(t, nil)
	run := r.busy(t, r.Service, second)
	done := make(chan struct{})
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
	}
	require.Greater(t, laps, 2)
	require.GreaterOrEqual(t, len(rows[string](t, r, "SELECT DISTINCT kind FROM discrepancies")), 5, "much of what can happen has happened")
}

// Conflicting amounts leave the same behind in whatever order they come, and what they
// leave follows from the log.
func TestConflictingAmountsVerifyInAnyOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
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
		p, err := r.Pay(t.Context(), customer, request("pay "+string(order), "first-key", ""), payment.Pay{OrderID: order, Token: "tok_never", Capture: c.capture})
		require.NoError(t, err)
		for _, amount := range c.amounts {
			e := event(webhooks.KindSucceeded, p.ID.String())
			e.Money.Minor = amount
			r.tell(t, e)
		}
		a := r.attempt(t, p.ID)
		require.Equal(t, []int64{c.most, c.most}, []int64{a.Authorized, a.Captured}, order)
		require.Equal(t, []string{"amount_mismatch"}, r.discrepancies(t, p.ID), order)

		unsaid := event(webhooks.KindSucceeded, p.ID.String())
		unsaid.Money = nil
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, unsaid), order)
		require.Equal(t, a.Version, r.attempt(t, p.ID).Version, order)
	}
	require.Empty(t, r.verify(t))
}

// Every way in which a row and its log can part is seen.
func TestEachCorruptionIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	made := map[string]string{}
	for order, token := range map[payment.OrderID]string{"paid": "tok_success", "failed": "tok_decline", "pending": "tok_never"} {
		made[string(order)] = r.paid(t, order, token).ID.String()
	}
	late := r.paid(t, "late", "tok_decline").ID
	told := event(webhooks.KindSucceeded, late.String())
	r.tell(t, told)
	heard := r.paid(t, "heard", "tok_never").ID
	success := event(webhooks.KindSucceeded, heard.String())
	r.tell(t, success)
	refunded := r.paid(t, "refunded", "tok_success").ID
	refund := r.refund(t, refunded, "refund-1")
	half := r.paid(t, "half", "tok_success").ID
	r.tell(t, event(webhooks.KindFailed, half.String()))
	require.Empty(t, r.verify(t))

	attempt := func(order, set string) string {
		return "UPDATE payment_attempts SET " + set + " WHERE order_id = '" + order + "'"
	}
	log := func(order, set string) string {
		return "UPDATE attempt_transitions SET " + set + " WHERE order_id = '" + order + "' AND version = 2"
	}
	for name, c := range map[string]struct{ do, undo, check string }{
		"a status":            {attempt("pending", "status = 'failed', stage = 'final', finalized_at = updated_at, next_check_at = NULL"), attempt("pending", "status = 'pending', stage = 'processing', finalized_at = NULL, next_check_at = now() + interval '1 day'"), "row_follows_log"},
		"an amount":           {attempt("paid", "amount_captured = 1998"), attempt("paid", "amount_captured = 1999"), "row_follows_log"},
		"money in a failure":  {attempt("failed", "amount_captured = 5"), attempt("failed", "amount_captured = 0"), "money_is_seen"},
		"a version":           {attempt("paid", "version = 7"), attempt("paid", "version = 2"), "row_follows_log"},
		"a payment's name":    {attempt("paid", "provider_payment_id = 'x' || provider_payment_id"), attempt("paid", "provider_payment_id = substr(provider_payment_id, 2)"), "row_follows_log"},
		"a time":              {attempt("paid", "updated_at = updated_at + interval '1 s'"), attempt("paid", "updated_at = updated_at - interval '1 s'"), "times_follow_log"},
		"the end's time":      {attempt("paid", "finalized_at = finalized_at + interval '1 s'"), attempt("paid", "finalized_at = finalized_at - interval '1 s'"), "times_follow_log"},
		"a reason":            {attempt("failed", "failure_code = ''"), attempt("failed", "failure_code = 'card_declined'"), "failure_has_reason"},
		"a reason too many":   {attempt("paid", "failure_code = 'expired'"), attempt("paid", "failure_code = ''"), "failure_has_reason"},
		"what it is for":      {attempt("paid", "amount = 2000"), attempt("paid", "amount = 1999"), "order_terms"},
		"an order":            {"UPDATE orders SET amount = 5 WHERE order_id = 'paid'", "UPDATE orders SET amount = 1999 WHERE order_id = 'paid'", "order_terms"},
		"paid without money":  {attempt("paid", "amount_captured = 0"), attempt("paid", "amount_captured = 1999"), "paid_holds_money"},
		"held less than paid": {attempt("paid", "amount_authorized = 5"), attempt("paid", "amount_authorized = 1999"), "paid_holds_money"},
		"a gap":               {log("paid", "version = 3"), "UPDATE attempt_transitions SET version = 2 WHERE order_id = 'paid' AND version = 3", "versions_without_gaps"},
		"no log":              {"UPDATE attempt_transitions SET attempt_id = gen_random_uuid(), order_id = 'gone' WHERE order_id = 'pending'", "UPDATE attempt_transitions SET order_id = 'pending', attempt_id = '" + made["pending"] + "' WHERE order_id = 'gone'", "log_is_there"},
		"another course":      {log("paid", "to_stage = 'failed'"), log("paid", "to_stage = 'succeeded'"), "log_replays"},
		"another beginning":   {log("paid", "from_stage = 'processing'"), log("paid", "from_stage = 'requested'"), "log_is_unbroken"},
		"other news":          {log("paid", `detail = detail::jsonb || '{"news": "authorized"}'`), log("paid", `detail = detail::jsonb || '{"news": "succeeded"}'`), "log_replays"},
		"another sum":         {log("paid", `detail = detail::jsonb || '{"captured": 7}'`), log("paid", `detail = detail::jsonb || '{"captured": 1999}'`), "log_replays"},
		"a mismatch unseen":   {log("paid", `to_stage = 'requested', detail = detail::jsonb || '{"captured": 7}'`), log("paid", `to_stage = 'succeeded', detail = detail::jsonb || '{"captured": 1999}'`), "mismatch_is_seen"},
		"two live attempts":   {"DROP INDEX attempts_one_live_per_order; INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, next_check_at, created_at, updated_at) SELECT order_id, '00000000-0000-7000-8000-0000000000a2', user_id, 'second', request_hash, account, status, stage, amount, currency, now(), created_at, updated_at FROM payment_attempts WHERE order_id = 'pending'", "DELETE FROM payment_attempts WHERE attempt_id = '00000000-0000-7000-8000-0000000000a2'", "one_live_attempt"},
		"a check unscheduled": {"DELETE FROM attempt_checks WHERE attempt_id = '" + made["pending"] + "'", "INSERT INTO attempt_checks (due_at, attempt_id, account) SELECT next_check_at, attempt_id, account FROM payment_attempts WHERE attempt_id = '" + made["pending"] + "'", "check_is_scheduled"},
		"an event lost":       {"UPDATE provider_events SET attempt_id = NULL WHERE provider_event_id = '" + success.ID + "'", "UPDATE provider_events SET attempt_id = '" + heard.String() + "' WHERE provider_event_id = '" + success.ID + "'", "event_is_stored"},
		"an event set aside":  {"UPDATE provider_events SET verdict = 'deferred' WHERE provider_event_id = '" + success.ID + "'", "UPDATE provider_events SET verdict = 'applied' WHERE provider_event_id = '" + success.ID + "'", "event_is_applied"},
		"an event's meaning":  {"UPDATE provider_events SET news = news::jsonb || '{\"kind\": \"failed\"}' WHERE provider_event_id = '" + success.ID + "'", "UPDATE provider_events SET news = news::jsonb || '{\"kind\": \"succeeded\"}' WHERE provider_event_id = '" + success.ID + "'", "event_agrees"},
		"an event ignored":    {"UPDATE provider_events SET verdict = 'ignored' WHERE provider_event_id = '" + success.ID + "'", "UPDATE provider_events SET verdict = 'applied' WHERE provider_event_id = '" + success.ID + "'", "event_is_applied"},
		"a stale one applied": {"UPDATE provider_events SET verdict = 'applied' WHERE attempt_id = '" + half.String() + "'", "UPDATE provider_events SET verdict = 'stale' WHERE attempt_id = '" + half.String() + "'", "event_agrees"},
		"a conflict unseen":   {"UPDATE discrepancies SET attempt_id = NULL WHERE attempt_id = '" + late.String() + "'", "UPDATE discrepancies SET attempt_id = '" + late.String() + "'", "conflict_is_seen"},
		"a refund's status":   {"UPDATE refunds SET status = 'failed', failure_code = 'x'", "UPDATE refunds SET status = 'succeeded', failure_code = ''", "refunds_sum"},
		"a refund's amount":   {"UPDATE refunds SET amount = 5", "UPDATE refunds SET amount = 1999", "refunds_sum"},
		"a refund's reason":   {"UPDATE refunds SET failure_code = 'x'", "UPDATE refunds SET failure_code = ''", "refund_failure"},
		"a refund's version":  {"UPDATE refunds SET version = 1", "UPDATE refunds SET version = 2", "refund_version"},
		"a refund's time":     {"UPDATE refunds SET updated_at = updated_at - interval '1 s'", "UPDATE refunds SET updated_at = updated_at + interval '1 s'", "refund_version"},
		"money paid back":     {attempt("refunded", "amount_refunded = 5"), attempt("refunded", "amount_refunded = 1999"), "refunds_sum"},
		"refund's event": {
			"INSERT INTO provider_events SELECT n.* FROM provider_events o, jsonb_populate_record(o, '{\"provider_event_id\": \"evt_back\", \"attempt_id\": \"" + refunded.String() + "\", \"news\": {\"kind\": \"refund_failed\", \"refund_reference\": \"" + refund.ID.String() + "\"}}') n WHERE o.provider_event_id = '" + success.ID + "'",
			"DELETE FROM provider_events WHERE provider_event_id = 'evt_back'", "refund_event_agrees",
		},
		"a refund lost": {
			"INSERT INTO provider_events SELECT n.* FROM provider_events o, jsonb_populate_record(o, '{\"provider_event_id\": \"evt_back\", \"attempt_id\": \"" + refunded.String() + "\", \"news\": {\"kind\": \"refund_failed\", \"refund_id\": \"re_nobody\"}}') n WHERE o.provider_event_id = '" + success.ID + "'",
			"DELETE FROM provider_events WHERE provider_event_id = 'evt_back'", "refund_is_stored",
		},
	} {
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

// corrupt writes what no trigger and no foreign key lets anybody write.
func (r *rig) corrupt(t *testing.T, statements string) {
	t.Helper()
	c, err := r.db.Acquire(t.Context())
	require.NoError(t, err)
	defer c.Release()
	_, err = c.Exec(t.Context(), "SET session_replication_role = replica; "+statements+"; SET session_replication_role = DEFAULT")
	require.NoError(t, err, statements)
}

// Of those who verify alone one reads at a time, and nobody waits.
func TestOneVerifiesAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	r.paid(t, "A-1", "tok_success")
	archive := r.store.(payment.Archive)
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock(hashtextextended('paylatch verify', 0))")
	require.NoError(t, err)
	_, err = payment.Verify(t.Context(), archive, payment.AttemptID{}, 10, true)
	require.ErrorIs(t, err, payment.ErrBusy)
	require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context())))
	v, err := payment.Verify(t.Context(), archive, payment.AttemptID{}, 10, true)
	require.NoError(t, err)
	require.Equal(t, 1, v.Attempts)
}
