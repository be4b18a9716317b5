package support_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/runner"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/webhooks"
)

// texts returns a timeline's kinds and sentences, without the parts that differ each time.
func texts(entries []support.Entry) []string {
	changing := regexp.MustCompile(`(less than )?[0-9.]+ s\b( to [0-9.]+ s\b)?|ch_[0-9a-f]+`)
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = string(e.Kind) + " | " + e.Actor + " | " + changing.ReplaceAllString(e.Text, "…")
	}
	return out
}

// A duplicate pay, a lost response of a provider that charged, a pay with another key,
// repeated webhooks and a refund: each has its entry, in order.
func TestTimeline(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.order(t, "A-1")
	var id payment.AttemptID
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			p, err := r.press(t.Context(), "A-1", "first-key", "tok_500_charged")
			if err != nil || p.State != fsm.OutcomeUnknown {
				t.Errorf("%v %s", err, p.State)
			}
		})
	}
	both.Wait()
	p, err := r.press(t.Context(), "A-1", "first-key", "tok_500_charged")
	require.NoError(t, err)
	id = p.ID
	_, err = r.press(t.Context(), "A-1", "other-key", "tok_success")
	require.ErrorAs(t, err, new(*payment.InProgressError))

	paid := event(webhooks.KindSucceeded, id.String(), "ch_1")
	paid.ProviderPaymentID = "ch_1"
	for _, want := range []fsm.Verdict{fsm.Applied, payment.VerdictDuplicate, payment.VerdictDuplicate} {
		require.Equal(t, want, r.tell(t, paid, `{"id":"evt_1","data":{"email":"a@b.example","amount":1999}}`))
	}
	require.Equal(t, fsm.Stale, r.tell(t, event(webhooks.KindProcessing, id.String()), `{}`))
	_, err = r.press(t.Context(), "A-1", "third-key", "tok_success")
	require.ErrorIs(t, err, payment.ErrOrderPaid)

	require.NoError(t, r.rename(t, id))
	amount := int64(500)
	_, err = r.Refund(t.Context(), shop, request("shop", "refund", "refund-key", "500"), commands.CreateRefund{AttemptID: id, Amount: &amount})
	require.NoError(t, err)

	page := r.page(t, id)
	got := texts(page.Timeline)
	t.Log(strings.Join(got, "\n"))
	require.Equal(t, "pay | customer:u1 | The customer pressed Pay for €19.99.", got[0])
	for _, want := range []string{
		"provider_call | paylatch | paylatch asked the provider to charge €19.99; no usable answer came within …, so the outcome was unknown.",
		"transition | provider:sandbox | It is still unknown whether the payment reached the provider. paylatch checks its status with the provider; nothing is charged twice.",
		"reuse | customer:u1 | The customer pressed Pay again 2 times, … later; nothing was charged twice.",
		"refused | customer:u1 | The customer pressed Pay for a new payment … later; it was refused because this payment was in progress. Nothing was charged twice.",
		"webhook | provider:sandbox | The provider reported that the payment succeeded (€19.99). This was new and was applied.",
		"transition | provider:sandbox | The payment succeeded: €19.99 was captured.",
		"webhook | provider:sandbox | The provider sent a webhook again 2 times that had been received before; nothing changed.",
		"webhook | provider:sandbox | The provider reported that the payment is being processed. This was older than the known status; nothing changed.",
		"refused | customer:u1 | The customer pressed Pay for a new payment … later; it was refused because the order was paid already. Nothing was charged twice.",
		"press | service:shop | The shop requested a refund.",
		"refund | service:shop | A refund of €5.00 was requested.",
		"provider_call | paylatch | paylatch asked the provider to refund €5.00; it answered after …: refunded.",
		"refund | provider:sandbox | The refund of €5.00 succeeded: the provider returns the money.",
		"transition | provider:sandbox | €5.00 was refunded.",
		"news | paylatch | paylatch queued a notification for the shop that the payment succeeded.",
	} {
		require.Contains(t, got, want)
	}
	require.True(t, slices.IsSortedFunc(page.Timeline, func(a, b support.Entry) int { return a.At.Compare(b.At) }))
	require.Regexp(t, `^The payment of €19\.99 for order A-1 succeeded on \S+ \S+ UTC\. €5\.00 was refunded to the customer on \d+ \w+ \d+ \(reference re_\w+\)\. `+
		`The provider does not document how long the customer's bank takes to show a refund\. The customer was charged once for this order\. paylatch does nothing more automatically\. The customer must not pay again: the order is paid\.$`, page.Summary)
	require.Len(t, page.Events, 2)
	require.Len(t, page.Movements, 2, "the capture and the refund")
	require.Equal(t, map[string]any{"id": "evt_1", "data": map[string]any{"email": "[hidden]", "amount": page.Events[0].Payload.(map[string]any)["data"].(map[string]any)["amount"]}}, page.Events[0].Payload)
	require.Empty(t, rows[string](t, r, "SELECT actor FROM attempt_log WHERE key LIKE '%tok\\_%' OR actor LIKE '%tok\\_%'"))
}

// rename lets the refund find the payment at the sandbox: its id was lost with the response.
func (r *env) rename(t *testing.T, id payment.AttemptID) error {
	t.Helper()
	out, err := r.box.Find(t.Context(), id)
	require.NoError(t, err)
	_, err = r.db.Exec(t.Context(), "UPDATE payment_attempts SET provider_payment_id = $1, payments = replace(payments::text, provider_payment_id, $1)::json WHERE attempt_id = $2", out.ProviderPaymentID, id.String())
	return err
}

// The activity of two processes on one attempt is in one timeline. A process that stops writes its unsaved notes.
func TestTimelineMergesActivity(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_success").ID
	for range 100 {
		_, err := r.press(t.Context(), "A-1", "first-key", "tok_success")
		require.NoError(t, err)
	}
	require.NoError(t, r.notes.Flush(t.Context()))
	require.Equal(t, []int{100}, rows[int](t, r, "SELECT times FROM attempt_log WHERE attempt_id = $1 AND kind = 'reuse'", id.String()))
	require.Equal(t, []string{"charge succeeded"}, rows[string](t, r, "SELECT what || ' ' || outcome FROM attempt_log WHERE attempt_id = $1 AND kind = 'call'", id.String()))
	require.NoError(t, r.notes.Flush(t.Context()))
	require.Equal(t, []int{2}, rows[int](t, r, "SELECT count(*) FROM attempt_log"))
}

// TestTimelineKeepsAllBesideRepeats: at a provider without signatures, anyone with a payment's id can send any number of
// repeats.
func TestTimelineKeepsAllBesideRepeats(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_never").ID
	paid := event(webhooks.KindSucceeded, id.String())
	require.Equal(t, fsm.Applied, r.tell(t, paid, "{}"))
	_, err := r.db.Exec(t.Context(), `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest,
			news, refs, order_id, attempt_id, verdict, received_at)
		SELECT gen_random_uuid(), account, 'noise_' || i, true, event_type, kind, digest, news, refs, order_id, attempt_id, 'repeat',
			received_at + make_interval(secs => i) FROM provider_events, generate_series(1, 300) i`)
	require.NoError(t, err)
	page := r.page(t, id)
	require.Len(t, page.Events, 200)
	require.Equal(t, paid.ID, page.Events[0].ProviderEventID)
	require.Equal(t, "noise_300", page.Events[199].ProviderEventID)
	require.True(t, slices.IsSortedFunc(page.Events, func(a, b support.ShownEvent) int { return a.ReceivedAt.Compare(b.ReceivedAt) }))
}

// The payment of a lookup is found by the provider's payment id.
func TestTimelineOfPolls(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.desk.Recheck(t.Context(), ann, id, reason)
	require.NoError(t, err)
	got := texts(r.page(t, id).Timeline)
	require.Contains(t, got, "poll | paylatch | paylatch asked the provider for the status of the payment; it answered after …: it is still processing.")
	require.Contains(t, got, "staff_action | staff:ann | ann re-checked the status with the provider. Reason: "+reason)
}

// Texts of people are shown unchanged.
func TestTimelineWithHostileText(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	hostile := "<script>alert('1')</script>\u202e\"'; DROP TABLE orders; --\\\n" + strings.Repeat("é", 900)
	id := r.paid(t, "A-1", "tok_never").ID
	_, err := r.desk.Recheck(t.Context(), ann, id, hostile)
	require.NoError(t, err)
	page := r.page(t, id)
	last := page.Timeline[len(page.Timeline)-1]
	require.Contains(t, last.Text, hostile)
	require.Equal(t, hostile, last.Detail["reason"])
	e := event(webhooks.KindIgnored, "<img src=x>\u202e"+strings.Repeat("x", 1000))
	e.ID, e.Type = "<script>\u202e", strings.Repeat("<b>", 3000)
	require.Equal(t, payment.Ignored, r.tell(t, e, "{\"status\":\"<script>\",\"\u202eid\":\"x1\"}"))
	shown, err := r.desk.Event(t.Context(), ann, r.eventID(t, e))
	require.NoError(t, err)
	require.Equal(t, e.Type, shown.Type)
	require.Equal(t, e.ID, shown.ProviderEventID)
	require.Equal(t, map[string]any{"status": "[hidden]", "[hidden]": "[hidden]"}, shown.Payload)
}

// The timeline does not attribute an unsigned notice to the provider if the provider does not have the payment.
func TestTimelineOfUnsignedNotice(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	e := event(webhooks.KindNotice, "tr_made_up")
	e.NeedsFetch, e.ProviderPaymentID, e.SecretIndex = true, "tr_made_up", -1
	require.Equal(t, payment.VerdictDeferred, r.tell(t, e, "{}"))
	for range 5 {
		_, err := r.db.Exec(t.Context(), "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		require.NoError(t, err)
		due, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, due, 1)
		require.NoError(t, r.Fetch(t.Context(), due[0]))
	}
	shown, err := r.desk.Event(t.Context(), ann, r.eventID(t, e))
	require.NoError(t, err)
	require.Equal(t, payment.Ignored, shown.Verdict)
	require.Equal(t, "paylatch received an unsigned notice of this payment. The provider does not have the payment, or could not be asked. The notice may be forged; nothing changed.", shown.Sentence())
}

func TestTimelineAfterRetention(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	id := r.paid(t, "A-1", "tok_never").ID
	settled, parked := event(webhooks.KindSucceeded, id.String()), event(webhooks.KindSucceeded, "somebody-else")
	require.Equal(t, fsm.Applied, r.tell(t, settled, `{"id":"x1"}`))
	require.Equal(t, payment.VerdictUnmatched, r.tell(t, parked, `{"id":"x2"}`))
	bytes := func() int64 { return rows[int64](t, r, "SELECT count(*) FROM event_bytes")[0] }
	later, err := postgres.Open(t.Context(), r.db.Config().ConnString())
	require.NoError(t, err)
	t.Cleanup(later.Close)
	later.SealWith(envelopetest.Box(t), time.Now)
	aged := func() {
		t.Helper()
		for more := true; more; {
			var err error
			more, err = later.Keys().Age(t.Context(), 0)
			require.NoError(t, err)
		}
	}
	aged()
	require.Equal(t, int64(2), bytes(), "they are young")
	envelopetest.Back(t, r.db, 3)
	aged()
	require.Equal(t, int64(1), bytes(), "a parked one is kept")

	page := r.page(t, id)
	require.Nil(t, page.Events[0].Payload)
	require.Contains(t, texts(page.Timeline), "webhook | provider:sandbox | The provider reported that the payment succeeded (€19.99). "+
		"This was new and was applied. Its raw bytes were deleted, after the retention time or by an erasure of the customer's data.")
	e, err := r.desk.Reveal(t.Context(), ann, r.eventID(t, settled), reason)
	require.NoError(t, err)
	require.False(t, e.Kept)
	require.Empty(t, e.Body)
	e, err = r.desk.Reveal(t.Context(), ann, r.eventID(t, parked), reason)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"x2"}`, string(e.Body), "with the present key")
	require.Equal(t, payment.VerdictDuplicate, r.tell(t, settled, `{"id":"x1"}`), "its id and digest stay")
	require.Empty(t, rows[string](t, r, "SELECT kind FROM discrepancies WHERE kind = 'event_changed'"))
}

// A storage that is gone loses no note; one that refuses loses that note only.
func TestActivityFlushRetries(t *testing.T) {
	t.Parallel()
	store := &flaky{err: payment.ErrUnavailable}
	notes := activity.NewNotes(store, time.Now)
	noted := activity.Commands{Notes: notes, Commands: commands.New(commands.Options{Store: paid{}, Runner: runner.New(runner.Options{})})}
	press := func(order payment.OrderID) {
		_, _, err := noted.CancelOrder(t.Context(), customer, request("u1", "cancel", "cancel-key", string(order)), order)
		require.ErrorIs(t, err, payment.ErrOrderPaid)
	}
	press("A-1")
	require.ErrorIs(t, notes.Flush(t.Context()), payment.ErrUnavailable)
	press("A-1")
	press("A-2")
	store.err = nil
	require.NoError(t, notes.Flush(t.Context()))
	require.Len(t, store.kept, 2)
	slices.SortFunc(store.kept, func(a, b activity.Note) int { return strings.Compare(string(a.OrderID), string(b.OrderID)) })
	require.Equal(t, 2, store.kept[0].Times)
	require.Equal(t, "order_paid", store.kept[0].Outcome)
	require.Zero(t, notes.Lost())

	press("A-1")
	store.err = context.Canceled
	require.Error(t, notes.Flush(t.Context()))
	require.EqualValues(t, 1, notes.Lost())
}

// flaky is a storage of the activity that may be gone.
type flaky struct {
	err  error
	kept []activity.Note
}

func (m *flaky) NotesInsert(_ context.Context, notes []activity.Note) error {
	if m.err == nil {
		m.kept = append(m.kept, notes...)
	}
	return m.err
}

// paid is a storage in which every order is paid.
type paid struct{ commands.Store }

func (paid) Order(context.Context, payment.OrderID) (payment.Order, error) {
	return payment.Order{}, nil
}

func (paid) InCommandTx(context.Context, func(context.Context, commands.Tx) error) error {
	return payment.ErrOrderPaid
}

// An attempt's page shows that the provider removed the stored payment method, with its event in the timeline.
func TestRemovedMethodIsShown(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	r.order(t, "A-1")
	p, err := r.press(t.Context(), "A-1", "first-key", "tok_save")
	require.NoError(t, err)
	removed := event(webhooks.KindMethodRemoved)
	removed.Method = &webhooks.Method{Tokens: []string{p.Saved.Token}}
	require.Equal(t, fsm.Applied, r.tell(t, removed, `{}`))
	page := r.page(t, p.ID)
	require.NotNil(t, page.Saved.RemovedAt)
	require.Contains(t, texts(page.Timeline),
		"webhook | provider:sandbox | The provider reported that the stored payment method was removed. This was new and was applied.")
	require.Contains(t, texts(page.Timeline), "news | paylatch | paylatch queued a notification for the shop that the stored payment method was removed.")
}
