package worklist_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

// left is a discrepancy that has something left to decide, and the statement after which it has not: $1 is its attempt.
type left struct {
	kind                         payment.DiscrepancyKind
	status                       string
	captured, refunded, disputed int64
	columns                      string
	// also are further rows, settles are the statements that settle the discrepancy; empty if it never settles by
	// itself.
	also, settles string
	by            string
}

const (
	refundAll = `UPDATE payment_attempts SET amount_refunded = amount_captured, version = version + 1 WHERE attempt_id = $1`
	capture   = `UPDATE payment_attempts SET amount_captured = 1999, version = version + 1 WHERE attempt_id = $1`
	wholesome = "All captured money has been refunded: 19.99 EUR."
	refundRow = `INSERT INTO refunds (order_id, refund_id, attempt_id, user_id, client_request_id, request_hash, account, status, amount, currency, created_at, updated_at)
		SELECT order_id, '00000000-0000-7000-8000-0000000000f1', attempt_id, 'u1', 'f', '\x01', 'acc', 'pending', 500, 'EUR', now(), now() FROM payment_attempts WHERE attempt_id = $1`
	refundOver = `UPDATE refunds SET status = 'succeeded', finalized_at = now(), version = version + 1 WHERE attempt_id = $1`
	refundID   = `"about_id": "00000000-0000-7000-8000-0000000000f1"`
	disputeRow = `INSERT INTO disputes (order_id, dispute_id, attempt_id, account, provider_dispute_id, status, version, opened_at, updated_at)
		SELECT order_id, gen_random_uuid(), attempt_id, 'acc', 'dp_1', 'open', 1, now(), now() FROM payment_attempts WHERE attempt_id = $1`
	disputeWon = `UPDATE disputes SET status = 'won', closed_at = now(), version = version + 1 WHERE attempt_id = $1`
	eventRow   = `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, received_at)
		SELECT gen_random_uuid(), 'acc', 'evt_1', false, 'x', 'succeeded', '\x01', '{}', '{}', 'unmatched', '2026-03-01 09:30:00+00' FROM payment_attempts WHERE attempt_id = $1`
	eventOf    = `"account": "acc", "provider_event_id": "evt_1"`
	eventDone  = `UPDATE provider_events SET verdict = 'applied', attempt_id = $1`
	foreignRow = `INSERT INTO money_movements (order_id, attempt_id, number, account, kind, source, provider_id, amount, currency, cause, recorded_at)
		SELECT order_id, attempt_id, 1, 'acc', 'capture', 'named', 'ch_usd', 1999, 'USD', 'webhook', now() FROM payment_attempts WHERE attempt_id = $1`
	foreignHeld = `UPDATE payment_attempts SET foreign_money = true WHERE attempt_id = $1`
	foreignBack = `UPDATE payment_attempts SET foreign_money = false, version = version + 1 WHERE attempt_id = $1`
	inBooks     = `INSERT INTO settlements (account, entry_id, order_id, attempt_id, kind, movement_id, payment, amount, currency, balance_currency, payout_id, recorded_at)
		SELECT 'acc', 'txn_1', order_id, attempt_id, 'capture', '', '', 1999, 'EUR', 'EUR', '', now() + interval '1 s' FROM payment_attempts WHERE attempt_id = $1`
	held     = `UPDATE payment_attempts SET amount_authorized = 1999 WHERE attempt_id = $1`
	released = `UPDATE payment_attempts SET amount_authorized = 0, version = version + 1 WHERE attempt_id = $1`
)

// lefts has a case for each kind. A discrepancy stays open as long as a decision is left, and closes after that.
func lefts() map[string]left {
	return map[string]left{
		"late_success/refunded":       {kind: payment.LateSuccess, status: "failed", captured: 1999, settles: refundAll, by: wholesome},
		"late_success/in_part":        {kind: payment.LateSuccess, status: "failed", captured: 1999, settles: "", refunded: 1000},
		"late_success/charged_back":   {kind: payment.LateSuccess, status: "failed", captured: 1999, disputed: 1999},
		"late_success/nothing_came":   {kind: payment.LateSuccess, status: "failed"},
		"late_success/refund_pending": {kind: payment.LateSuccess, status: "failed", captured: 1999, refunded: 1999, also: refundRow, settles: refundOver, by: wholesome},
		"late_success/disputed":       {kind: payment.LateSuccess, status: "failed", captured: 1999, refunded: 1999, also: disputeRow, settles: disputeWon, by: wholesome},
		"late_success/on_hold":        {kind: payment.LateSuccess, status: "failed", captured: 1000, refunded: 1000, also: held, settles: released, by: "All captured money has been refunded: 10.00 EUR."},
		"late_success/proposed": {
			kind: payment.LateSuccess, status: "failed", captured: 1999, refunded: 1999,
			columns: `"proposed_at": "2026-03-01", "proposed_by": "sam", "proposed_payment_id": "ch_1"`,
		},
		"double_success":    {kind: payment.DoubleSuccess, status: "failed", captured: 1999, settles: refundAll, by: wholesome},
		"paid_after_cancel": {kind: payment.PaidAfterCancel, status: "failed", captured: 1999, settles: refundAll, by: wholesome},
		"amount_mismatch": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1999, columns: `"amount": 1999, "currency": "EUR"`, settles: refundAll, by: wholesome,
		},
		"amount_mismatch/of_a_part": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 500, columns: `"amount": 500, "currency": "EUR"`, settles: capture,
			by: "The captured parts add up to the amount: 19.99 EUR.",
		},
		"amount_mismatch/of_a_part_that_is_still_lacking": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1998, columns: `"amount": 500, "currency": "EUR"`,
		},
		"amount_mismatch/of_parts_beyond_the_amount": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 2500, columns: `"amount": 500, "currency": "EUR"`,
		},
		"amount_mismatch/of_more_than_is_recorded": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1999, refunded: 1999, columns: `"amount": 2500, "currency": "EUR"`,
		},
		"amount_mismatch/of_a_refund": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "refund", "amount": 500, "currency": "EUR"`,
		},
		"currency_mismatch": {
			kind: payment.CurrencyMismatch, status: "failed", columns: `"amount": 1999, "currency": "USD"`, also: foreignRow + ";" + foreignHeld,
			settles: foreignBack, by: "All money captured in another currency has been refunded.",
		},
		"currency_mismatch/nothing_came": {kind: payment.CurrencyMismatch, status: "failed", columns: `"amount": 1999, "currency": "USD"`},
		"refund_reversed":                {kind: payment.RefundReversed, status: "succeeded", captured: 1999, columns: `"about": "refund", ` + refundID, settles: refundAll, by: wholesome},
		"refund_exceeds": {
			kind: payment.RefundExceeds, status: "succeeded", captured: 1000, refunded: 1999, settles: capture,
			by: "The refunds no longer exceed the captures: the provider has reported the missing captures since then.",
		},
		"payment_reversed/chargeback": {
			kind: payment.PaymentReversed, status: "succeeded", captured: 1999, disputed: 1999, columns: `"about_id": "chargeback dp_1"`,
			settles: `UPDATE payment_attempts SET amount_disputed = 0, version = version + 1 WHERE attempt_id = $1`, by: "The provider has returned the money of the chargeback.",
		},
		"payment_reversed/of_a_capture": {kind: payment.PaymentReversed, status: "succeeded", captured: 1999, columns: `"about_id": "capture_reversal re_1"`},
		"disputed/won": {
			kind: payment.Disputed, status: "succeeded", captured: 1999, columns: `"about": "dispute", "about_id": "open dp_1"`, also: disputeRow,
			settles: disputeWon, by: "The dispute is over: it was won.",
		},
		"disputed/lost": {
			kind: payment.Disputed, status: "succeeded", captured: 1999, disputed: 1999, columns: `"about": "dispute", "about_id": "open dp_1"`, also: disputeRow,
			settles: `UPDATE disputes SET status = 'lost', closed_at = now(), version = version + 1 WHERE attempt_id = $1`,
			by:      "The dispute is over, and its chargeback is recorded. The case of the chargeback covers it.",
		},
		"disputed/without_a_name": {kind: payment.Disputed, status: "succeeded", captured: 1999, columns: `"about_id": "evt_1"`, also: disputeRow + ";" + disputeWon},
		"unmatched_event":         {kind: payment.UnmatchedEvent, columns: eventOf, also: eventRow, settles: eventDone, by: "The webhook has been applied since then."},
		"unmatched_event/unsigned": {
			kind: payment.UnmatchedEvent, columns: `"account": "acc", "about_id": "ch_9"`,
			settles: `INSERT INTO attempt_references SELECT 'acc', 'ch_9', order_id, attempt_id FROM payment_attempts WHERE attempt_id = $1`, by: "paylatch has the payment now.",
		},
		"unmatched_event/conflict": {kind: payment.UnmatchedEvent, columns: eventOf, also: eventRow + `; UPDATE provider_events SET verdict = 'conflict', attempt_id = $1`},
		"unreadable_event": {
			kind: payment.UnreadableEvent, columns: `"account": "acc", "about_id": "2026-03-01T09 x"`, also: eventRow + `; UPDATE provider_events SET verdict = 'unreadable', attempt_id = $1`,
			settles: eventDone, by: "All the events have been read since then.",
		},
		"unknown_at_provider": {kind: payment.UnknownAtProvider, status: "succeeded", captured: 1999, settles: inBooks, by: "The provider's books contain the payment now."},
		"event_changed":       {kind: payment.EventChanged, columns: eventOf, also: eventRow + ";" + eventDone},
		"unknown_here":        {kind: payment.UnknownHere, columns: `"account": "acc", "about_id": "ch_9"`},
		"needs_review/unknown_outcome": {
			kind: payment.NeedsReview, status: "succeeded", columns: `"about": "unknown_outcome"`, settles: capture, by: "The outcome is known: the payment succeeded.",
		},
		"needs_review/unknown_outcome_failed": {
			kind: payment.NeedsReview, status: "failed", captured: 1999, columns: `"about": "unknown_outcome"`, settles: refundAll,
			by: "The outcome is known: the payment failed, and no money is held for it.",
		},
		"needs_review/refund_slow": {
			kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "refund_slow", ` + refundID, also: refundRow, settles: refundOver, by: "The refund has succeeded.",
		},
		"needs_review/refund_unknown": {
			kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "refund_unknown", ` + refundID, also: refundRow,
			settles: `UPDATE refunds SET status = 'failed', finalized_at = now(), version = version + 1 WHERE attempt_id = $1`,
			by:      "The refund has failed; the same amount can be refunded again.",
		},
		"needs_review/hold_not_released": {
			kind: payment.NeedsReview, status: "failed", columns: `"about": "hold_not_released"`, also: held, settles: released, by: "The payment failed, and no money is held for it.",
		},
		"needs_review/not_cancelled": {
			kind: payment.NeedsReview, status: "failed", columns: `"about": "not_cancelled"`, also: held, settles: released, by: "The payment failed, and no money is held for it.",
		},
		"needs_review/cancel_not_made": {
			kind: payment.NeedsReview, status: "failed", columns: `"about": "cancel_not_made"`, also: held, settles: released, by: "The payment failed, and no money is held for it.",
		},
		"needs_review/capture_not_made": {kind: payment.NeedsReview, status: "succeeded", columns: `"about": "capture_not_made"`, settles: capture, by: "The money has been captured."},
		"needs_review/capture_not_made_of_a_further_part": {
			kind: payment.NeedsReview, status: "succeeded", captured: 500, columns: `"about": "capture_not_made"`, settles: capture, by: "The money has been captured.",
		},
		"needs_review/event_not_applied": {
			kind: payment.NeedsReview, columns: `"about": "event_not_applied", ` + eventOf, also: eventRow, settles: eventDone, by: "The webhook has been applied since then.",
		},
		"needs_review/unreadable_event": {
			kind: payment.NeedsReview, columns: `"about": "unreadable_event", ` + eventOf, also: eventRow, settles: eventDone, by: "The webhook has been applied since then.",
		},
		"needs_review/books": {
			kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "books", "about_id": "lookup"`, settles: inBooks, by: "The provider's books contain the payment now.",
		},
		"amount_mismatch/of_the_books": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1999, columns: `"about": "books", "about_id": "refund re_1", "amount": 501, "currency": "EUR"`,
		},
		"amount_mismatch/of_the_books_refunded": {
			kind: payment.AmountMismatch, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "books", "about_id": "capture ch_1", "amount": 1998, "currency": "EUR"`,
		},
		"currency_mismatch/of_the_books": {
			kind: payment.CurrencyMismatch, status: "failed", columns: `"about": "books", "about_id": "capture ch_1", "amount": 1999, "currency": "USD"`, also: foreignRow,
		},
		"refund_reversed/of_the_books": {
			kind: payment.RefundReversed, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "books", "about_id": "refund_reversal re_1"`,
		},
		"needs_review/books_otherwise": {kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "books", "about_id": "txn_7"`, also: inBooks},
		"needs_review/review_declined": {
			kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "review_declined", "about_id": "prv_1"`, settles: refundAll,
			by: "The payment no longer holds money.",
		},
		"needs_review/review_declined_of_a_hold": {
			kind: payment.NeedsReview, status: "failed", columns: `"about": "review_declined"`, also: held, settles: released, by: "The payment no longer holds money.",
		},
		"needs_review/second_payment":           {kind: payment.NeedsReview, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "second_payment"`},
		"needs_review/shared_reference":         {kind: payment.NeedsReview, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "shared_reference"`},
		"needs_review/refund_unattributed":      {kind: payment.NeedsReview, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "refund_unattributed"`},
		"needs_review/paid_after_failed_refund": {kind: payment.NeedsReview, status: "succeeded", captured: 1999, refunded: 1999, columns: `"about": "paid_after_failed_refund", ` + refundID},
		"needs_review/unsigned_notices":         {kind: payment.NeedsReview, columns: `"about": "unsigned_notices", "account": "acc"`},
		"needs_review/notice_contradicted":      {kind: payment.NeedsReview, status: "succeeded", captured: 1999, columns: `"about": "notice_contradicted", "about_id": "succeeded"`},
	}
}

func TestSettler(t *testing.T) {
	t.Parallel()
	for name, c := range lefts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.settlesOnce(t)
		})
	}
}

func (c left) settlesOnce(t *testing.T) {
	t.Helper()
	r := newEnv(t)
	status := c.status
	if status == "" { // of no attempt
		status = "succeeded"
	}
	attempt := r.payment(t, status, c.captured, c.refunded, c.disputed)
	of := attempt
	if c.status == "" {
		of = uuid.Nil
	}
	r.each(t, c.also, attempt)
	d := r.opened(t, c.kind, of, "{"+c.columns+"}")
	r.turn(t.Context(), t)
	e, err := r.Entry(t.Context(), sam, d)
	require.NoError(t, err)
	require.Nil(t, e.Resolved, "there is something left to decide")
	if c.settles == "" {
		return
	}
	r.each(t, c.settles, attempt)
	r.turn(t.Context(), t)
	e, err = r.Entry(t.Context(), sam, d)
	require.NoError(t, err)
	require.NotNil(t, e.Resolved, "nothing is left to decide")
	require.WithinDuration(t, time.Now(), e.Resolved.At, time.Minute)
	require.Equal(t, payment.Resolved{Resolution: payment.ResolvedSettled, By: "paylatch", Reason: c.by, At: e.Resolved.At}, *e.Resolved)
	require.Equal(t, []string{"settled"}, rows(t, r, `SELECT payload->>'resolution' FROM outbox WHERE type = 'discrepancy.resolved' AND payload::text LIKE '%' || $1 || '%'`, d.String()),
		"it is published as a person's resolution is")
	_, err = r.Resolve(t.Context(), sam, accept(d))
	require.ErrorIs(t, err, payment.ErrResolved)
}

func TestSettler_of_every_kind(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, c := range lefts() {
		tried[string(c.kind)] = true
	}
	for _, kind := range payment.DiscrepancyKinds() {
		require.True(t, tried[kind], kind)
	}
}

// A settler does not overrule a person who was faster, or money that came back before the settler had the lock.
func TestSettler_looks_again_under_the_lock(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "failed", 1999, 1999, 0)
	d := r.opened(t, payment.LateSuccess, attempt, "{}")
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE payment_attempts SET amount_refunded = 0, version = version + 1 WHERE attempt_id = $1`, attempt)
	require.NoError(t, err)
	done := make(chan error, 1)
	r.run(t, "UPDATE worklist_turns SET next_at = now() - interval '1 s'")
	go func() { done <- r.settler.Turn(t.Context()) }()
	require.Eventually(t, func() bool {
		return one[int](t, r, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	}, 20*time.Second, 10*time.Millisecond, "it waits for the lock")
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-done)
	e, err := r.Entry(t.Context(), sam, d)
	require.NoError(t, err)
	require.Nil(t, e.Resolved)
}

// One process at a time has the turn, and the next turn goes on behind the last one.
func TestSettler_Turn(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	attempt := r.payment(t, "failed", 1999, 1999, 0)
	require.NoError(t, r.settler.Turn(t.Context()))
	require.Zero(t, one[int](t, r, "SELECT fence::int FROM worklist_turns"), "nothing is open, and nothing is written")
	for range 205 {
		r.opened(t, payment.EventChanged, uuid.Nil, `{"account": "acc", "about_id": "`+uuid.NewString()+`"}`)
	}
	d := r.opened(t, payment.LateSuccess, attempt, "{}")
	turns := r.store.Worklist()
	taken, err := turns.TakeTurn(t.Context(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, r.settler.Turn(t.Context()))
	require.EqualValues(t, taken.Fence, one[int](t, r, "SELECT fence::int FROM worklist_turns"), "another one has the turn")
	require.NoError(t, turns.EndTurn(t.Context(), worklist.Turn{Fence: taken.Fence - 1, BehindAt: time.Now()}, 0))
	require.Equal(t, 1970, one[int](t, r, "SELECT extract(year FROM behind_at)::int FROM worklist_turns"), "a lost turn moves nothing")

	r.turn(t.Context(), t)
	require.Nil(t, r.entry(t, d).Resolved, "it is behind the first portion")
	r.turn(t.Context(), t)
	require.NotNil(t, r.entry(t, d).Resolved)
	require.Equal(t, 1970, one[int](t, r, "SELECT extract(year FROM behind_at)::int FROM worklist_turns"), "it begins again")
}
