package support_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// stuck returns a pending attempt for which the provider reported another amount.
func (r *env) stuck(t *testing.T, order payment.OrderID) (payment.AttemptID, payment.DiscrepancyID) {
	t.Helper()
	id := r.paid(t, order, "tok_never").ID
	wrong := event(webhooks.KindAuthorized, id.String())
	wrong.Money.Minor = 5
	require.Equal(t, fsm.Conflict, r.tell(t, wrong, `{}`))
	open := rows[uuid.UUID](t, r, "SELECT discrepancy_id FROM discrepancies WHERE attempt_id = $1", id.String())
	require.Len(t, open, 1)
	return id, payment.DiscrepancyID(open[0])
}

func TestServiceForbidsOthers(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id, d := r.stuck(t, "A-1")
	e := payment.EventID(rows[uuid.UUID](t, r, "SELECT event_id FROM provider_events")[0])
	own := authz.Actor{OnlyAttempt: &id}
	for who, allowed := range map[*support.Staff]string{
		{Actor: customer}: "", {Actor: shop}: "", {Actor: own}: "", {}: "",
		{Actor: ann.Actor}: "all but audit", {Actor: ada.Actor}: "all",
	} {
		for call, do := range map[string]func() error{
			"attempt": func() error { _, err := r.desk.Attempt(t.Context(), *who, id); return err },
			"recheck": func() error { _, err := r.desk.Recheck(t.Context(), *who, id, reason); return err },
			"event":   func() error { _, err := r.desk.Event(t.Context(), *who, e); return err },
			"reveal":  func() error { _, err := r.desk.Reveal(t.Context(), *who, e, reason); return err },
			"replay":  func() error { _, err := r.desk.Replay(t.Context(), *who, e, reason, true); return err },
			"list": func() error {
				_, _, err := r.discrepancies(t.Context(), *who, "open", "", firstPage(t))
				return err
			},
			"resolve": func() error {
				_, err := r.resolve(t.Context(), *who, commands.Resolve{ID: d, Resolution: payment.ResolvedNotPaid, Reason: reason})
				if errors.Is(err, payment.ErrResolutionImpossible) {
					return nil // the person may, and the provider contradicts
				}
				return err
			},
			"audit": func() error {
				_, _, err := r.desk.Audit(t.Context(), *who, support.AuditFilter{}, firstPage(t))
				return err
			},
		} {
			err := do()
			if allowed == "" || call == "audit" && allowed != "all" {
				require.ErrorIs(t, err, payment.ErrForbidden, "%s %v", call, who.Roles)
			} else {
				require.NoError(t, err, "%s %v", call, who.Roles)
			}
		}
	}
	for _, entry := range r.audit(t) {
		require.True(t, strings.HasPrefix(entry, "ann ") || strings.HasPrefix(entry, "ada "), entry)
	}
}

func TestActionsNeedReasons(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id, d := r.stuck(t, "A-1")
	for _, blank := range []string{"", " \t\n", strings.Repeat("a", 2001), "\xff", "a\x00"} {
		for _, do := range []func() error{
			func() error { _, err := r.desk.Recheck(t.Context(), ann, id, blank); return err },
			func() error { _, err := r.desk.Reveal(t.Context(), ann, payment.EventID{}, blank); return err },
			func() error { _, err := r.desk.Replay(t.Context(), ann, payment.EventID{}, blank, false); return err },
			func() error {
				_, err := r.resolve(t.Context(), ann, commands.Resolve{ID: d, Resolution: payment.ResolvedAccepted, Reason: blank})
				return err
			},
		} {
			var invalid *payment.ValidationError
			require.ErrorAs(t, do(), &invalid, "%q", blank)
			require.Equal(t, "reason", invalid.Fields[0].Field)
		}
	}
	require.Empty(t, r.audit(t))
	_, err := r.desk.Recheck(t.Context(), ann, id, strings.Repeat("a", 2000))
	require.NoError(t, err)
}

func TestLooksAreAudited(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_success").ID
	r.page(t, id)
	require.NoError(t, r.desk.Watch(t.Context(), ann, support.Searched, "search", "A-1", func() error { return nil }))
	_, err := r.desk.Attempt(t.Context(), ann, payment.AttemptID{1})
	require.ErrorIs(t, err, payment.ErrAttemptNotFound)
	require.Equal(t, []string{"ann attempt.view done", "ann search.view done", "ann attempt.view refused"}, r.audit(t))
	require.Equal(t, []string{"A-1"}, rows[string](t, r, "SELECT target FROM staff_audit WHERE action = 'search.view'"))
	require.Equal(t, []string{"192.0.2.7 req-1 {support}"}, rows[string](t, r, "SELECT DISTINCT address || ' ' || request_id || ' ' || roles::text FROM staff_audit"))

	_, err = r.db.Exec(t.Context(), "ALTER TABLE staff_audit ADD CONSTRAINT full_up CHECK (false) NOT VALID")
	require.NoError(t, err)
	_, err = r.desk.Attempt(t.Context(), ann, id)
	require.Error(t, err, "who can't be written down sees nothing")
	_, err = r.desk.Recheck(t.Context(), ann, id, reason)
	require.Error(t, err)
}

func TestRecheck(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_async_success").ID
	require.Eventually(t, func() bool {
		v, err := r.desk.Recheck(t.Context(), ann, id, reason)
		require.NoError(t, err)
		return v.State == fsm.Succeeded
	}, patience, tick)
	v, err := r.desk.Recheck(t.Context(), ann, id, reason)
	require.NoError(t, err)
	require.Equal(t, fsm.Succeeded, v.State)
	require.Equal(t, []string{"check staff:ann"}, rows[string](t, r, "SELECT cause || ' ' || cause_id FROM attempt_transitions WHERE attempt_id = $1 AND to_stage = 'succeeded'", id.String()))
	audit := r.audit(t)
	require.Equal(t, []string{"ann attempt.recheck begun", "ann attempt.recheck done"}, audit[:2])
	require.Equal(t, []int{1}, rows[int](t, r, "SELECT DISTINCT count(DISTINCT deed_id) * 2 / count(*) FROM staff_audit"))
}

// meanwhile runs happens during a lookup at the provider.
type meanwhile struct {
	support.Payments
	happens func() error
}

func (m meanwhile) AskOnce(ctx context.Context, id payment.AttemptID, cause payment.Cause, every time.Duration) (payment.View, error) {
	v, err := m.Payments.AskOnce(ctx, id, cause, every)
	return v, errors.Join(err, m.happens())
}

// Whoever leaves meanwhile has done it all the same.
func TestRecheckAuditedAfterCancel(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_never").ID
	for _, act := range []func(ctx context.Context, left func() error) error{
		func(ctx context.Context, left func() error) error {
			desk := support.New(support.Options{Store: r.store.Support(), Payments: meanwhile{r.rooms, left}})
			_, err := desk.Recheck(ctx, ann, id, reason)
			return err
		},
		func(ctx context.Context, left func() error) error {
			return r.desk.Act(ctx, ann, support.Refunded, "attempt", id.String(), reason, left)
		},
	} {
		ctx, leave := context.WithCancel(t.Context())
		require.NoError(t, act(ctx, func() error { leave(); return nil }))
	}
	require.Equal(t, []string{"ann attempt.recheck begun", "ann attempt.recheck done", "ann createRefund begun", "ann createRefund done"}, r.audit(t))
}

// Refunds can be pending although the payment is final. The outcome of a refund is shown in its attempt.
func TestRecheckRefunds(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	paid := r.paid(t, "A-1", "tok_success")
	require.True(t, r.page(t, paid.ID).Askable, "a final one, too")
	made, err := r.box.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: paid.ID, ProviderPaymentID: paid.ProviderPaymentID,
		Money: payment.Money{Minor: 700, Currency: "EUR"}, IdempotencyKey: "dashboard", Permit: gateway.NewPermit(time.Now(), time.Minute, time.Now),
	})
	require.NoError(t, err)
	pending := event(webhooks.KindRefundPending, paid.ID.String())
	pending.RefundID, pending.Money = made.ProviderRefundID, &webhooks.Money{Minor: 700, Currency: "EUR"}
	r.tell(t, pending, `{}`)
	require.True(t, r.page(t, paid.ID).Askable)
	busy := support.New(support.Options{Store: r.store.Support(), Payments: meanwhile{r.rooms, func() error { return payment.ErrBusy }}})
	_, err = busy.Recheck(t.Context(), ann, paid.ID, reason)
	require.ErrorIs(t, err, payment.ErrBusy, "also where its refunds could be asked about")
	v, err := r.desk.Recheck(t.Context(), ann, paid.ID, reason)
	require.NoError(t, err)
	require.EqualValues(t, 700, v.Refunded)
}

// A replay applies the event once; a dry run only describes the result.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	lost := event(webhooks.KindSucceeded, "ch_lost")
	require.Equal(t, payment.VerdictUnmatched, r.tell(t, lost, `{}`))
	id := r.paid(t, "A-1", "tok_never").ID
	e := r.eventID(t, lost)
	got, err := r.desk.Replay(t.Context(), ann, e, reason, false)
	require.NoError(t, err)
	require.Equal(t, payment.VerdictUnmatched, got.Verdict)
	require.Nil(t, got.After)

	_, err = r.db.Exec(t.Context(), "INSERT INTO attempt_references SELECT account, 'ch_lost', order_id, attempt_id FROM payment_attempts")
	require.NoError(t, err)
	before := rows[string](t, r, "SELECT (a.version, a.updated_at, e.verdict, e.next_try_at)::text FROM payment_attempts a, provider_events e")
	dry, err := r.desk.Replay(t.Context(), ann, e, reason, true)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, dry.Verdict)
	require.True(t, dry.Changed())
	require.Regexp(t, `^This was a dry run: .* changes from processing to succeeded\.$|^This was a dry run: .* changes from requested to succeeded\.$`, support.ReplayText(dry, true))
	require.Equal(t, before, rows[string](t, r, "SELECT (a.version, a.updated_at, e.verdict, e.next_try_at)::text FROM payment_attempts a, provider_events e"))

	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			_, err := r.desk.Replay(context.WithoutCancel(t.Context()), ann, e, reason, false)
			if err != nil && !errorsIsBusy(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, []int{1}, rows[int](t, r, "SELECT count(*) FROM attempt_transitions WHERE to_stage = 'succeeded'"))
	require.Equal(t, []string{"applied"}, rows[string](t, r, "SELECT verdict FROM provider_events"))
	again, err := r.desk.Replay(t.Context(), ann, e, reason, false)
	require.NoError(t, err)
	require.Equal(t, fsm.Repeat, again.Verdict)
	require.Equal(t, fsm.Applied, again.Event.Verdict, "the first verdict stays")
	require.Equal(t, "The event was applied again. This was known already; nothing changed. Attempt "+id.String()+" does not change.", support.ReplayText(again, false))
	require.Contains(t, texts(r.page(t, id).Timeline), "staff_action | staff:ann | ann replayed a webhook. Reason: "+reason)
	require.Contains(t, r.audit(t), "ann event.replay.view done")
	_, err = r.desk.Replay(t.Context(), ann, payment.EventID{1}, reason, false)
	require.ErrorIs(t, err, payment.ErrEventNotFound)
	require.Contains(t, r.audit(t), "ann event.replay refused")
}

// The action and its entry in the audit log commit or fail together.
func TestReplayAuditedInItsTransaction(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	lost := event(webhooks.KindSucceeded, "ch_lost")
	require.Equal(t, payment.VerdictUnmatched, r.tell(t, lost, `{}`))
	_, d := r.stuck(t, "A-1")
	_, err := r.db.Exec(t.Context(), "INSERT INTO attempt_references SELECT account, 'ch_lost', order_id, attempt_id FROM payment_attempts")
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), "ALTER TABLE staff_audit ADD CONSTRAINT full_up CHECK (false) NOT VALID")
	require.NoError(t, err)
	_, err = r.desk.Replay(t.Context(), ann, r.eventID(t, lost), reason, false)
	require.Error(t, err)
	_, err = r.resolve(t.Context(), ann, commands.Resolve{ID: d, Resolution: payment.ResolvedNotPaid, Reason: reason})
	require.Error(t, err)
	require.Equal(t, []string{"pending"}, rows[string](t, r, "SELECT status FROM payment_attempts"))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT resolved_at IS NULL FROM discrepancies WHERE kind = 'amount_mismatch'"))
}

func TestDiscrepancies(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id, d := r.stuck(t, "A-1")
	other, _ := r.stuck(t, "A-2")
	list, next, err := r.discrepancies(t.Context(), ann, "open", "amount_mismatch", firstPage(t))
	require.NoError(t, err)
	require.Empty(t, next)
	require.Len(t, list, 2)
	require.Equal(t, other, *list[0].AttemptID, "newest first")
	require.Equal(t, "0.05 EUR", list[1].Money.String())
	require.NotEmpty(t, list[1].WhatToDo())
	require.GreaterOrEqual(t, list[1].Age(), list[0].Age())

	_, err = r.box.Cancel(t.Context(), gateway.Cancel{
		Attempt: id, ProviderPaymentID: rows[string](t, r, "SELECT provider_payment_id FROM payment_attempts WHERE attempt_id = $1", id.String())[0],
		IdempotencyKey: "dashboard", Permit: gateway.NewPermit(time.Now(), time.Minute, time.Now),
	})
	require.NoError(t, err)
	cmd := commands.Resolve{ID: d, Resolution: payment.ResolvedNotPaid, Reason: reason}
	for range 2 {
		got, err := r.resolve(t.Context(), ann, cmd)
		require.NoError(t, err)
		require.Equal(t, "ann", got.Resolved.By)
		require.Equal(t, got.Resolved.At.Sub(got.At), got.Age(), "it waits no longer")
	}
	_, err = r.resolve(t.Context(), ada, commands.Resolve{ID: d, Resolution: payment.ResolvedAccepted, Reason: reason})
	require.ErrorIs(t, err, payment.ErrResolved)
	_, err = r.resolve(t.Context(), ada, commands.Resolve{ID: d, Resolution: "lost", Reason: reason})
	require.ErrorAs(t, err, new(*payment.ValidationError), "which nobody could mean, and nothing is written down")
	require.Equal(t, []string{"ann discrepancies.view done", "ann discrepancy.resolve done", "ann discrepancy.resolve done", "ada discrepancy.resolve refused"}, r.audit(t))

	page := r.page(t, id)
	require.NotContains(t, page.Summary, "needs review")
	got := texts(page.Timeline)
	require.Contains(t, got, "transition | staff:ann | The payment failed: The payment was not made. Nothing was charged.")
	require.Contains(t, got, "staff_action | staff:ann | ann resolved this as not paid. Reason: "+reason)
	for status, want := range map[string]int{"open": 1, "resolved": 1, "": 2} {
		list, _, err := r.discrepancies(t.Context(), ann, status, "", firstPage(t))
		require.NoError(t, err)
		require.Len(t, list, want, status)
	}
	for _, unknown := range [][2]string{{"lost", ""}, {"", "lost"}, {"open", "Disputed"}} {
		_, _, err = r.discrepancies(t.Context(), ann, unknown[0], unknown[1], firstPage(t))
		require.ErrorAs(t, err, new(*payment.ValidationError), unknown)
	}
	for _, kind := range []payment.DiscrepancyKind{
		payment.PaymentReversed, payment.RefundReversed, payment.Disputed, payment.LateSuccess, payment.DoubleSuccess, payment.PaidAfterCancel,
		payment.AmountMismatch, payment.CurrencyMismatch, payment.RefundExceeds, payment.EventChanged, payment.UnmatchedEvent, payment.NeedsReview,
	} {
		_, _, err = r.discrepancies(t.Context(), ann, "", string(kind), firstPage(t))
		require.NoError(t, err)
	}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_never").ID
	e := event(webhooks.KindProcessing, id.String())
	body := `{"email":"a@b.example"}`
	r.tell(t, e, body)
	shown, err := r.desk.Event(t.Context(), ann, r.eventID(t, e))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"email": "[hidden]"}, shown.Payload)
	raw, err := r.desk.Reveal(t.Context(), ann, r.eventID(t, e), reason)
	require.NoError(t, err)
	require.Equal(t, body, string(raw.Body))
	require.Equal(t, "application/json", raw.ContentType)
	require.Contains(t, texts(r.page(t, id).Timeline), "staff_action | staff:ann | ann revealed the raw payload of a webhook, personal data included. Reason: "+reason)
}

// An action of staff by the ordinary API is found by the attempt, in any spelling of its id, and the refund is attributed to staff.
func TestWatchRefund(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_success").ID
	for range 2 { // the second call gets the result of the first
		err := r.desk.Watch(t.Context(), ada, support.Refunded, "attempt", strings.ToUpper(id.String()), func() error {
			_, err := r.Refund(t.Context(), ada.Actor, request("ada", "refund", "refund-key", ""), commands.CreateRefund{AttemptID: id})
			return err
		})
		require.NoError(t, err)
	}
	for _, command := range []support.Action{"confirm", "cancelAttempt"} {
		err := r.desk.Watch(t.Context(), ann, command, "attempt", id.String(), func() error { return payment.ErrForbidden })
		require.ErrorIs(t, err, payment.ErrForbidden)
	}
	require.Equal(t, []string{id.String()}, rows[string](t, r, "SELECT DISTINCT target FROM staff_audit WHERE attempt_id IS NOT NULL"))
	got := texts(r.page(t, id).Timeline)
	require.Contains(t, got, "staff_action | staff:ada | ada requested a refund.")
	require.Contains(t, got, "staff_action | staff:ann | ann requested the capture of the held money; this was refused.")
	require.Contains(t, got, "staff_action | staff:ann | ann requested the cancellation of the payment; this was refused.")
	require.Contains(t, got, "refund | staff:ada | A refund of €19.99 was requested.")
}

// A person who learns the outcome of a refund resolves it: the timeline names the person and the next step.
func TestTimelineOfResolvedRefund(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	paid := r.paid(t, "A-1", "tok_success")
	id := paid.ID
	there, err := r.box.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: id, ProviderPaymentID: paid.ProviderPaymentID, IdempotencyKey: "dashboard",
		Money: payment.Money{Minor: 700, Currency: "EUR"}, Permit: gateway.NewPermit(time.Now(), time.Minute, time.Now),
	})
	require.NoError(t, err)
	for refund, c := range map[string]struct {
		how  payment.Resolution
		name string
		told string
	}{
		"re_1":                 {payment.ResolvedNotPaid, "", "The refund of €7.00 failed; the customer does not get this money. The refund was not made. Nothing was refunded."},
		there.ProviderRefundID: {payment.ResolvedPaid, there.ProviderRefundID, "The refund of €7.00 succeeded: ann found it at the provider."},
	} {
		pending := event(webhooks.KindRefundPending, id.String())
		pending.ID, pending.RefundID, pending.Money = refund, refund, &webhooks.Money{Minor: 700, Currency: "EUR"}
		r.tell(t, pending, `{}`)
		asked := rows[uuid.UUID](t, r, `INSERT INTO discrepancies (discrepancy_id, kind, order_id, attempt_id, account, about, about_id, text, opened_at)
			SELECT gen_random_uuid(), 'needs_review', order_id, attempt_id, '', 'refund_unknown', refund_id, 'Nobody can tell.', now()
			FROM refunds WHERE provider_refund_id = $1 RETURNING discrepancy_id`, refund)[0]
		cmd := commands.Resolve{ID: payment.DiscrepancyID(asked), Resolution: c.how, ProviderPaymentID: c.name, Reason: reason}
		if c.how == payment.ResolvedNotPaid { // no list proves that it is not there
			_, err := r.resolve(t.Context(), ada, cmd)
			require.NoError(t, err)
		}
		d, err := r.resolve(t.Context(), ann, cmd)
		require.NoError(t, err)
		require.Contains(t, d.WhatToDo(), "Look the refund up")
		require.Contains(t, texts(r.page(t, id).Timeline), "refund | staff:ann | "+c.told)
	}
	require.Contains(t, texts(r.page(t, id).Timeline), "transition | staff:ann | €7.00 was refunded.")
}
