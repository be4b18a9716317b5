package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestIntake(t *testing.T) {
	t.Parallel()
	t.Run("verdicts", intakeVerdicts)
	t.Run("batch_with_a_repeat", intakeBatchWithARepeat)
	t.Run("changed_content_opens_a_discrepancy", intakeChangedContentOpensADiscrepancy)
	t.Run("content_changed_again", intakeContentChangedAgain)
	t.Run("changed_content_names_the_attempt", intakeChangedContentNamesTheAttempt)
	t.Run("unstorable_content_is_quarantined", intakeUnstorableContentIsQuarantined)
	t.Run("very_long_id", intakeVeryLongID)
	t.Run("unstorable_parts", intakeUnstorableParts)
	t.Run("slow_provider", intakeSlowProvider)
	t.Run("blocked_batch_blocks_no_other", intakeBlockedBatchBlocksNoOther)
	t.Run("storage_down", intakeStorageDown)
	t.Run("missing_privilege", intakeMissingPrivilege)
	t.Run("commit_in_doubt", intakeCommitInDoubt)
	t.Run("full_queue", intakeFullQueue)
	t.Run("stop_drains_the_queue", intakeStopDrainsTheQueue)
	t.Run("other_mode", intakeOtherMode)
	t.Run("repeat_of_a_locked_event", intakeRepeatOfALockedEvent)
	t.Run("locked_attempt", intakeLockedAttempt)
	t.Run("same_event_fifty_times_at_once", intakeSameEventFiftyTimesAtOnce)
	t.Run("three_successes_at_once", intakeThreeSuccessesAtOnce)
	t.Run("batch_delivered_again", intakeBatchDeliveredAgain)
}

// Every valid event is acknowledged, with any content (woocommerce-gateway-stripe #1289), a duplicate too
// (Adyen/adyen-magento2 #3089). A contradiction opens a discrepancy and is not skipped (chobbledotcom/tickets #2021).
func intakeVerdicts(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	failed := r.paid(t, "A-1", "tok_decline").ID.String()
	pending := r.paid(t, "A-2", "tok_never").ID.String()
	yen := event(webhooks.KindSucceeded, pending)
	yen.Money.Currency = "JPY"
	thin := event(webhooks.KindNotice, pending)
	thin.NeedsFetch = true
	seen := event(webhooks.KindProcessing, pending)
	for _, c := range []struct {
		say  string
		e    webhooks.Event
		want fsm.Verdict
	}{
		{"an unknown kind", event(webhooks.KindIgnored), payment.Ignored},
		{"a kind from the future", event("teleported", pending), payment.VerdictDeferred},
		{"an unknown payment", event(webhooks.KindSucceeded, "ch_nobody"), payment.VerdictUnmatched},
		{"no name at all", event(webhooks.KindSucceeded), payment.VerdictUnmatched},
		{"a thin notice", thin, payment.VerdictDeferred},
		{"what is known", seen, fsm.Repeat},
		{"the same again", seen, payment.VerdictDuplicate},
		{"a contradiction", event(webhooks.KindSucceeded, failed), fsm.Conflict},
		{"another currency", yen, fsm.Conflict},
		{"a refund of nothing", event(webhooks.KindRefundFailed, pending), fsm.Repeat},
	} {
		require.Equal(t, []fsm.Verdict{c.want}, r.tell(t, c.e), c.say)
	}
	require.ElementsMatch(t, []string{"late_success", "currency_mismatch"}, rows[string](t, r, "SELECT kind FROM discrepancies"))
}

// A batch of three with one repeat (Adyen/adyen-magento #748).
func intakeBatchWithARepeat(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID.String()
	a, b := event(webhooks.KindAuthorized, id), event(webhooks.KindSucceeded, id)
	require.Equal(t, []fsm.Verdict{fsm.Applied, payment.VerdictDuplicate, fsm.Applied}, r.tell(t, a, a, b))
}

// The same id with other content is seen; the first content counts.
func intakeChangedContentOpensADiscrepancy(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID.String()
	first := event(webhooks.KindSucceeded, id)
	for name, change := range map[string]func(*webhooks.Event){
		"nothing":      func(*webhooks.Event) {},
		"kind":         func(e *webhooks.Event) { e.Kind = webhooks.KindFailed },
		"names":        func(e *webhooks.Event) { e.References = []string{id, "ch_2"} },
		"their order":  func(e *webhooks.Event) { e.References = []string{"ch_1", id} },
		"amount":       func(e *webhooks.Event) { e.Money = &webhooks.Money{Minor: 1, Currency: "EUR"} },
		"currency":     func(e *webhooks.Event) { e.Money = &webhooks.Money{Minor: price, Currency: "USD"} },
		"no amount":    func(e *webhooks.Event) { e.Money = nil },
		"refund":       func(e *webhooks.Event) { e.RefundID = "re_2" },
		"no currency":  func(e *webhooks.Event) { e.Amount = "19.99" },
		"only details": func(e *webhooks.Event) { e.OccurredAt, e.SecretIndex = time.Now(), 1 },
	} {
		e := first
		e.ID, e.References = "evt_"+name, []string{id, "ch_1"}
		r.tell(t, e)
		again := e
		change(&again)
		require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate, payment.VerdictDuplicate}, r.tell(t, again, again), name)
		opened := rows[string](t, r, "SELECT kind FROM discrepancies WHERE provider_event_id = $1", e.ID)
		if name == "nothing" || name == "their order" || name == "only details" {
			require.Empty(t, opened, name)
		} else {
			require.Equal(t, []string{"event_changed"}, opened, name)
		}
	}
	stored := rows[string](t, r, "SELECT kind FROM provider_events WHERE provider_event_id = 'evt_kind'")
	require.Equal(t, []string{"succeeded"}, stored)
}

// New content under a stored id opens another discrepancy, also once the first one is resolved.
// The same content opens one only.
func intakeContentChangedAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := event(webhooks.KindSucceeded, r.paid(t, "A-1", "tok_never").ID.String())
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, first))
	five, six, dollars, failed := first, first, first, first
	five.Money, six.Money = &webhooks.Money{Minor: 5, Currency: "EUR"}, &webhooks.Money{Minor: 6, Currency: "EUR"}
	dollars.Money = &webhooks.Money{Minor: price, Currency: "USD"}
	failed.Kind, failed.Money = webhooks.KindFailed, nil
	for i, other := range []webhooks.Event{five, six, dollars, failed} {
		for range 2 {
			require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate, payment.VerdictDuplicate}, r.tell(t, other, first))
			require.Len(t, rows[string](t, r, "SELECT kind FROM discrepancies WHERE kind = 'event_changed'"), i+1)
			r.exec(t, "UPDATE discrepancies SET resolved_at = now(), resolved_by = 's1', resolution = 'accepted', reason = 'seen' WHERE resolved_at IS NULL")
		}
	}
	require.Equal(t, []string{"5 EUR", "6 EUR", "1999 USD"}, rows[string](t, r,
		"SELECT amount || ' ' || currency FROM discrepancies WHERE amount IS NOT NULL ORDER BY opened_at"))
}

// No event is refused for its content. An event that can't be stored unchanged goes to quarantine with its bytes, for
// review. The other events of its batch are applied, and all are acknowledged.
func intakeUnstorableContentIsQuarantined(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	for name, bad := range map[string]webhooks.Event{
		"NUL in a name":     event(webhooks.KindSucceeded, "ch_\x00"),
		"a long name":       event(webhooks.KindSucceeded, noise(1<<16)),
		"NUL in a currency": inCurrency(event(webhooks.KindSucceeded, id.String()), "EU\x00"),
		"a long currency":   inCurrency(event(webhooks.KindSucceeded, id.String()), noise(1<<16)),
	} {
		verdicts := r.tell(t, event(webhooks.KindProcessing, id.String()), bad, event(webhooks.KindAuthorized, id.String()))
		require.Contains(t, []fsm.Verdict{fsm.Applied, fsm.Repeat}, verdicts[2], name)
		require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, bad), name)
		opened := rows[string](t, r, "SELECT kind FROM discrepancies WHERE provider_event_id = $1", bad.ID)
		if strings.HasSuffix(name, "name") {
			require.Equal(t, payment.VerdictUnmatched, verdicts[1], name)
			require.Empty(t, opened)
		} else {
			require.Equal(t, payment.VerdictDeferred, verdicts[1], name)
			require.Equal(t, []string{"needs_review"}, opened, name)
		}
		_, body := r.sent(t, bad.ID)
		require.Equal(t, "{}", body)
	}
	require.Equal(t, "authorized", standingOf(r.attempt(t, id).Attempt).stage)
	r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
	_, err := r.RetryParked(t.Context(), 10)
	require.NoError(t, err, "and it is in nobody's way later")
}

// An id that no index takes is stored as its digest, the same each time; the headers have it as
// it came.
func intakeVeryLongID(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	long := event(webhooks.KindSucceeded, id.String())
	long.ID = noise(8000)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, long))
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, long))
	sum := sha256.Sum256([]byte(long.ID))
	require.Equal(t, []string{"sha256:" + hex.EncodeToString(sum[:])}, rows[string](t, r, "SELECT provider_event_id FROM provider_events"))
	headers, _ := r.sent(t, "sha256:"+hex.EncodeToString(sum[:]))
	require.Equal(t, long.ID, headers["webhook-id"])

	other := long
	other.Kind = webhooks.KindFailed
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, other))
	disputed := event(webhooks.KindDisputed, id.String())
	disputed.ID = long.ID + "x"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, disputed))
	unheard := inCurrency(event(webhooks.KindSucceeded, id.String()), noise(1<<16))
	unheard.ID = long.ID + "y"
	require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, unheard))
	require.ElementsMatch(t, []string{"event_changed", "disputed", "needs_review"}, rows[string](t, r, "SELECT kind FROM discrepancies"))

	short := event(webhooks.KindIgnored)
	short.ID = noise(512)[:512]
	require.Equal(t, []fsm.Verdict{payment.Ignored}, r.tell(t, short))
	require.Equal(t, []int64{1}, rows[int64](t, r, "SELECT count(*) FROM provider_events WHERE provider_event_id = $1", short.ID))
}

// Whichever part of an event can't be stored, the event is acknowledged and on disk; it is
// applied too, unless that part is its currency.
func intakeUnstorableParts(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for name, set := range map[string]func(e *webhooks.Event, text string){
		"id":               func(e *webhooks.Event, text string) { e.ID = text },
		"type":             func(e *webhooks.Event, text string) { e.Type = text },
		"reference":        func(e *webhooks.Event, text string) { e.References = append(e.References, text) },
		"payment":          func(e *webhooks.Event, text string) { e.ProviderPaymentID = text },
		"refund":           func(e *webhooks.Event, text string) { e.RefundID = text },
		"refund reference": func(e *webhooks.Event, text string) { e.RefundReference = text },
		"failure": func(e *webhooks.Event, text string) {
			e.FailureCode, e.Kind = webhooks.FailureCode(text), webhooks.KindFailed
		},
		"provider's code": func(e *webhooks.Event, text string) {
			e.ProviderCode, e.FailureCode, e.Kind = text, "expired", webhooks.KindFailed
		},
		"currency": func(e *webhooks.Event, text string) { *e = inCurrency(*e, text) },
	} {
		for kind, text := range map[string]string{"long": noise(8000), "very long": noise(1 << 16), "NUL": name + "\x00", "not UTF-8": "\xff" + name} {
			attempt := r.paid(t, payment.OrderID(strings.NewReplacer(" ", "-", "'", "-").Replace(name+"-"+kind)), "tok_never").ID
			e := event(webhooks.KindSucceeded, attempt.String())
			set(&e, text)
			verdicts := r.tell(t, e)
			require.NotEmpty(t, verdicts[0], "%s %s", name, kind)
			if name != "currency" {
				require.Equal(t, []fsm.Verdict{fsm.Applied}, verdicts, "%s %s", name, kind)
			}
			require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, e), "%s %s", name, kind)
		}
	}
}

// noise is a name that no index takes: it is long and can't be compressed.
func noise(length int) string {
	var sum [32]byte
	var b strings.Builder
	for b.Len() < length {
		sum = sha256.Sum256(sum[:])
		b.WriteString(hex.EncodeToString(sum[:]))
	}
	return b.String()
}

// inCurrency is an event about a payment in a currency that may not exist.
func inCurrency(e webhooks.Event, currency string) webhooks.Event {
	e.Money = &webhooks.Money{Minor: price, Currency: currency}
	return e
}

// The provider's API is down or slow: webhooks are applied nevertheless (bedolaga bot #3080).
func intakeSlowProvider(t *testing.T) {
	t.Parallel()
	sent, release := make(chan payment.AttemptID, 1), make(chan struct{})
	p := &spy{charge: func(_ context.Context, c gateway.Charge, _ func() (gateway.Outcome, error)) (gateway.Outcome, error) {
		sent <- c.Attempt
		<-release
		return gateway.Outcome{}, errors.New("no answer")
	}}
	r := newEnv(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	answer := make(chan commands.Reply, 1)
	go func() {
		paid, err := try(t.Context(), r.service, "A-1", "first-key", "tok_success")
		if err != nil {
			t.Error(err)
		}
		answer <- paid
	}()
	require.Equal(t, fsm.Applied, r.say(t, <-sent, webhooks.KindSucceeded))
	close(release)
	paid := <-answer
	require.Equal(t, succeeded, standingOf(paid.Attempt))
}

// A batch that is blocked in the database, here by another transaction that stores the same
// event, blocks no other.
func intakeBlockedBatchBlocksNoOther(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	held, free := r.paid(t, "A-1", "tok_never").ID, r.paid(t, "A-2", "tok_never").ID
	e := event(webhooks.KindSucceeded, held.String())
	tx, err := r.db.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news,
		refs, verdict, received_at) VALUES (gen_random_uuid(), 'sandbox', $1, false, '', '', '', '{}', '{}', 'ignored', now())`, e.ID)
	require.NoError(t, err)
	answer := make(chan []fsm.Verdict, 1)
	go func() {
		verdicts, err := r.Intake(t.Context(), received([]byte("{}"), e))
		if err != nil {
			t.Error(err)
		}
		answer <- verdicts
	}()
	require.Eventually(t, func() bool {
		return rows[int64](t, r, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0] > 0
	}, waitFor, time.Millisecond)
	require.Equal(t, fsm.Applied, r.say(t, free, webhooks.KindSucceeded))
	require.Empty(t, answer)
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, <-answer)
}

// If our storage is down, no event gets a verdict or an acknowledgement. A later delivery is new.
func intakeStorageDown(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	s := &failing{before: func() error {
		if down.Load() {
			return fmt.Errorf("%w: connection refused", payment.ErrUnavailable)
		}
		return nil
	}}
	p := &spy{}
	r := newEnv(t, setup{silent: true, store: s.on, provider: p.on})
	id := r.paid(t, "A-1", "tok_never").ID
	r.order(t, "A-2")
	down.Store(true)
	e := event(webhooks.KindSucceeded, id.String())
	_, err := r.Intake(t.Context(), received(nil, e))
	require.ErrorIs(t, err, payment.ErrUnavailable)
	calls := p.charges.Load()
	_, err = try(t.Context(), r.service, "A-2", "first-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Equal(t, calls, p.charges.Load(), "fail closed: the provider is not called")
	down.Store(false)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, succeeded, standingOf(r.pay(t, "A-2", "first-key", "tok_success").Attempt), "the key did not stick")
}

// A privilege that the service lacks is no fault of an event: it is sent again, and not
// quarantined.
func intakeMissingPrivilege(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	e := event(webhooks.KindSucceeded, r.paid(t, "A-1", "tok_never").ID.String())
	r.exec(t, "GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor")
	r.exec(t, "REVOKE ALL ON outbox FROM pg_monitor")
	store, _ := enginetest.Open(t, r.dsn+"&role=pg_monitor")
	s := r.another(t, func(o *options) { o.Store = store })
	_, err := s.Intake(t.Context(), received(nil, e))
	require.ErrorIs(t, err, payment.ErrUnavailable)
	r.exec(t, "GRANT ALL ON outbox TO pg_monitor")
	verdicts, err := s.Intake(t.Context(), received(nil, e))
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, verdicts)
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies"))
}

// A commit with a lost result: the provider sends the event again, and it is a duplicate.
func intakeCommitInDoubt(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	s := &failing{after: func() error {
		if lost.CompareAndSwap(true, false) {
			return fmt.Errorf("%w: connection reset", payment.ErrUnavailable)
		}
		return nil
	}}
	r := newEnv(t, setup{silent: true, store: s.on})
	id := r.paid(t, "A-1", "tok_never").ID
	e := event(webhooks.KindSucceeded, id.String())
	lost.Store(true)
	_, err := r.Intake(t.Context(), received(nil, e))
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, e))
	require.Equal(t, []string{"applied"}, r.verdicts(t, id))
}

func intakeFullQueue(t *testing.T) {
	t.Parallel()
	s := newService(options{Store: struct{ store }{}, Now: time.Now})
	_, err := s.Intake(t.Context(), received(nil, slices.Repeat([]webhooks.Event{event(webhooks.KindIgnored)}, 5000)...))
	require.ErrorIs(t, err, payment.ErrOverloaded)
}

// At a stop the queue drains. Later deliveries are refused, not lost.
func intakeStopDrainsTheQueue(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	s := newService(r.opts)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	const events = 300
	var stored atomic.Int32
	fns := append(times(events, func(int) {
		switch _, err := s.Intake(t.Context(), received(nil, event(webhooks.KindIgnored))); {
		case err == nil:
			stored.Add(1)
		case !errors.Is(err, payment.ErrUnavailable):
			t.Error(err)
		}
	}), cancel)
	race(fns...)
	require.NoError(t, <-ran)
	onDisk := rows[int64](t, r, "SELECT count(*) FROM provider_events")[0]
	require.GreaterOrEqual(t, onDisk, int64(stored.Load()), "what was acknowledged is on disk")
	_, err := s.Intake(t.Context(), received(nil, event(webhooks.KindIgnored)))
	require.ErrorIs(t, err, payment.ErrUnavailable)
}

// An event that came again with other content is of the attempt that its first content is of.
func intakeChangedContentNamesTheAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	e := event(webhooks.KindProcessing, id.String())
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, e))
	e.Kind, e.References = webhooks.KindSucceeded, []string{"somebody_elses"}
	require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, r.tell(t, e))
	require.Equal(t, []string{"event_changed"}, r.discrepancies(t, id))
	require.Equal(t, []string{"A-1"}, rows[string](t, r, "SELECT order_id FROM discrepancies"))
}
