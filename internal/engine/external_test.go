package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// An external payment has the same contract as a pay, and no call of ours begins it.
func TestExternal(t *testing.T) {
	t.Parallel()
	t.Run("has the contract of a pay", externalHasThePaysContract)
	t.Run("is moved by webhooks, refunded and charged back", externalIsMovedByWebhooks)
	t.Run("expires where nobody can be asked", externalExpiresUnasked)
	t.Run("is looked up and cancelled before it expires", externalExpiresAsked)
	t.Run("is reported as over", externalIsReportedOver)
	t.Run("without a name ends where a search finds nothing", externalIsNotFound)
	t.Run("is reported while a search finds nothing", externalIsReportedMeanwhile)
	t.Run("on hold late where nobody can be asked is shown to a person", externalHeldLate)
	t.Run("gains names by a report", externalGainsNames)
	t.Run("is superseded", externalIsSuperseded)
	t.Run("ends with its order", externalEndsWithItsOrder)
	t.Run("that was paid can't be reported as over", externalPaid)
	t.Run("under way at an account without a gateway is ended on the schedule", externalEndsUnderWay)
	t.Run("that stays under way is shown to a person", externalStaysUnderWay)
}

// deaf is an env with an account that takes webhooks and can't be called.
func deaf(t *testing.T) *env {
	t.Helper()
	return newEnv(t, setup{change: func(o *options) { o.Accounts = map[string]gateway.Account{"sandbox": {}} }})
}

func (r *env) register(t *testing.T, cmd commands.External) payment.View {
	t.Helper()
	if cmd.OrderID == "" {
		cmd.OrderID = "A-1"
		r.order(t, cmd.OrderID)
	}
	cmd.Capture = payment.CaptureAutomatic
	reply, err := r.Register(t.Context(), shop, request("attempts", uuid.NewString(), ""), cmd)
	require.NoError(t, err)
	require.Equal(t, payment.OriginExternal, reply.Origin)
	return reply.View
}

func (r *env) report(t *testing.T, cmd commands.Report) (commands.Reply, error) {
	t.Helper()
	return r.Report(t.Context(), shop, request("report", uuid.NewString(), ""), cmd)
}

// lateNow makes the time of an external attempt pass.
func (r *env) lateNow(t *testing.T, id payment.AttemptID) {
	t.Helper()
	r.exec(t, "UPDATE payment_attempts SET expires_at = now() - interval '1 s' WHERE attempt_id = $1", id.String())
	r.exec(t, "UPDATE operations SET next_at = now() - interval '1 s' WHERE attempt_id = $1 AND open", id.String())
}

func externalHasThePaysContract(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	r.order(t, "A-1")
	cmd := commands.External{OrderID: "A-1", Capture: payment.CaptureAutomatic}
	first, err := r.Register(t.Context(), shop, request("attempts", "first-key", "x"), cmd)
	require.NoError(t, err)
	require.Equal(t, idempotency.Created, first.Result)
	require.Equal(t, "awaiting_customer", first.Stage())
	require.WithinDuration(t, time.Now().Add(24*time.Hour), *first.ExpiresAt, time.Minute)

	again, err := r.Register(t.Context(), shop, request("attempts", "first-key", "x"), cmd)
	require.NoError(t, err)
	require.Equal(t, idempotency.Reused, again.Result)
	require.Equal(t, first.ID, again.ID)
	_, err = r.Register(t.Context(), shop, request("attempts", "first-key", "other"), cmd)
	require.ErrorIs(t, err, idempotency.ErrKeyReused)

	var busy *payment.InProgressError
	_, err = r.Register(t.Context(), shop, request("attempts", "second-key", "x"), cmd)
	require.ErrorAs(t, err, &busy)
	_, err = r.Register(t.Context(), customer, request("attempts", "third-key", "x"), cmd)
	require.ErrorIs(t, err, payment.ErrForbidden)
	require.Empty(t, r.ledger(t))
	require.Empty(t, r.verify(t))
}

func externalIsMovedByWebhooks(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	e := event(webhooks.KindSucceeded, id.String(), "pi_1")
	e.ProviderPaymentID = "pi_1"
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.True(t, r.attempt(t, id).Succeeded())
	back := event(webhooks.KindRefundSucceeded, "pi_1")
	back.RefundID, back.Money = "re_1", &webhooks.Money{Minor: 500, Currency: "EUR"}
	loss := event(webhooks.KindChargeback, "pi_1")
	loss.MovementID, loss.Money = "dp_1", &webhooks.Money{Minor: 1000, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied}, r.tell(t, back, loss))
	a := r.attempt(t, id)
	require.Equal(t, [3]int64{price, 500, 1000}, [3]int64{a.Captured, a.Refunded, a.Disputed})
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func externalExpiresUnasked(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{ExpiresIn: time.Hour}).ID
	due, err := r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, due, "there is nobody to ask before")
	require.False(t, r.recheck(t, id).State.Final())
	r.lateNow(t, id)
	due, err = r.Due(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []payment.AttemptID{id}, due)
	a := r.recheck(t, id)
	require.True(t, a.Failed())
	require.Equal(t, "expired", a.Failure.Code)
	require.Equal(t, payment.NotAsked, a.Failure.ProviderCode)
	require.True(t, a.CanStartNew)
	require.Empty(t, r.discrepancies(t, id))

	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"late_success"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func externalExpiresAsked(t *testing.T) {
	t.Parallel()
	p := &answering{lookup: says(fsm.EventActionRequired), cancel: says(fsm.EventFailed)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{ProviderPaymentID: "ch_77"}).ID
	require.False(t, r.recheck(t, id).State.Final())
	require.EqualValues(t, 1, p.lookups.Load())
	r.lateNow(t, id)
	r.recheck(t, id)
	a := r.recheck(t, id)
	require.EqualValues(t, 1, p.cancels.Load())
	require.True(t, a.Failed())
	require.Equal(t, "expired", a.Failure.Code)
	require.Empty(t, a.Failure.ProviderCode)
	require.Empty(t, r.verify(t))

	paid := &answering{lookup: says(fsm.EventSucceeded)}
	r = newEnv(t, setup{silent: true, provider: paid.on})
	id = r.register(t, commands.External{ProviderPaymentID: "ch_78"}).ID
	r.lateNow(t, id)
	require.True(t, r.recheck(t, id).Succeeded(), "what the provider says counts")
	require.Zero(t, paid.cancels.Load())
}

func externalIsReportedOver(t *testing.T) {
	t.Parallel()
	for outcome, code := range map[commands.Outcome]string{commands.Abandoned: "canceled", commands.NotStarted: "not_started"} {
		r := deaf(t)
		id := r.register(t, commands.External{}).ID
		reply, err := r.report(t, commands.Report{AttemptID: id, Outcome: outcome, Reason: "the page was closed"})
		require.NoError(t, err)
		require.True(t, reply.Failed())
		require.Equal(t, code, reply.Failure.Code)
		require.Equal(t, payment.NotAsked, reply.Failure.ProviderCode)
		require.Contains(t, rows[string](t, r, "SELECT cause || ': ' || cause_id FROM attempt_transitions"), "report: the page was closed")
		require.Empty(t, r.verify(t))
	}
	p := &answering{lookup: says(fsm.EventActionRequired), cancel: says(fsm.EventFailed)}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{}).ID
	reply, err := r.report(t, commands.Report{AttemptID: id, ProviderPaymentID: "ch_79", Outcome: commands.Abandoned})
	require.NoError(t, err)
	require.True(t, reply.Failed(), "it was cancelled at the provider")
	require.EqualValues(t, 1, p.cancels.Load())
	require.Equal(t, "canceled", reply.Failure.Code)
	require.Empty(t, r.verify(t))
}

// Most abandoned registrations have no name, and most searches prove nothing (Stripe's).
func externalIsNotFound(t *testing.T) {
	t.Parallel()
	p := &answering{can: func(c *payment.Capabilities) { c.Lookup = payment.LookupByReference }}
	r := newEnv(t, setup{silent: true, provider: p.on})
	id := r.register(t, commands.External{}).ID
	require.False(t, r.recheck(t, id).State.Final(), "the customer has time")
	reply, err := r.report(t, commands.Report{AttemptID: id, Outcome: commands.Abandoned, Reason: "the page was closed"})
	require.NoError(t, err)
	require.True(t, reply.Failed())
	require.Equal(t, "canceled", reply.Failure.Code)
	require.Contains(t, rows[string](t, r, "SELECT origin_id FROM operations WHERE kind = 'cancel'"), "the page was closed")
	next := r.register(t, commands.External{OrderID: "A-1"}).ID
	r.lateNow(t, next)
	require.Equal(t, "expired", r.recheck(t, next).Failure.Code)
	require.Empty(t, r.discrepancies(t, next))
	require.Empty(t, r.verify(t))
}

// telling is a provider that sends a webhook in the middle of a search. The search finds nothing.
type telling struct {
	gateway.Provider

	tell func()
}

func (p *telling) Find(context.Context, payment.AttemptID) (gateway.Outcome, error) {
	p.tell()
	return gateway.Outcome{}, gateway.ErrNoSuchPayment
}

// The webhook of a hold comes between the search and the record of its result. The hold is cancelled at the provider, and not only here.
func externalIsReportedMeanwhile(t *testing.T) {
	t.Parallel()
	p := &telling{tell: func() {}}
	r := newEnv(t, setup{silent: true, provider: func(of gateway.Provider) gateway.Provider { p.Provider = of; return p }})
	id := r.register(t, commands.External{}).ID
	p.tell = sync.OnceFunc(func() {
		held := event(webhooks.KindAuthorized, id.String(), "ch_80")
		held.ProviderPaymentID = "ch_80"
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, held))
	})
	_, err := r.report(t, commands.Report{AttemptID: id, Outcome: commands.Abandoned, Reason: "the page was closed"})
	require.NoError(t, err)
	a := r.attempt(t, id)
	require.False(t, a.Failed(), "it was on hold when the search found nothing")
	require.EqualValues(t, price, a.OnHold())
	require.Equal(t, []string{"wanted"}, rows[string](t, r, "SELECT state FROM operations WHERE kind = 'cancel'"), "the provider has not released it")
	require.Empty(t, r.verify(t))
}

func externalHeldLate(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	_, err := r.report(t, commands.Report{AttemptID: id, Outcome: commands.Abandoned, Reason: "the page was closed"})
	require.NoError(t, err)
	require.Equal(t, fsm.Stale, r.say(t, id, webhooks.KindAuthorized))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	cmd := commands.External{OrderID: "A-1", Capture: payment.CaptureAutomatic}
	var busy *payment.InProgressError
	_, err = r.Register(t.Context(), shop, request("attempts", uuid.NewString(), ""), cmd)
	require.ErrorAs(t, err, &busy)

	_, err = r.agreed(t, because(r.open(t, id)[0], payment.ResolvedAccepted))
	require.NoError(t, err)
	require.Equal(t, "awaiting_customer", r.register(t, cmd).Stage())
	require.Empty(t, r.verify(t))
}

func externalGainsNames(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, event(webhooks.KindSucceeded, "pi_9")))
	reply, err := r.report(t, commands.Report{AttemptID: id, References: []string{"pi_9"}})
	require.NoError(t, err)
	require.True(t, reply.Succeeded(), "what was parked is applied at once")

	r.order(t, "A-2")
	other := r.register(t, commands.External{OrderID: "A-2", ProviderPaymentID: "pi_10"}).ID
	require.Equal(t, "pi_10", r.attempt(t, other).ProviderPaymentID)
	var invalid *payment.ValidationError
	_, err = r.report(t, commands.Report{AttemptID: other, References: []string{"pi_9"}})
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "references", invalid.Fields[0].Field)
	_, err = r.report(t, commands.Report{AttemptID: other, ProviderPaymentID: "pi_11"})
	require.NoError(t, err, "the customer has begun another payment")
	require.Len(t, r.attempt(t, other).Payments, 2)
	ours := newEnv(t, setup{silent: true})
	_, err = ours.report(t, commands.Report{AttemptID: ours.paid(t, "A-1", "tok_success").ID, Outcome: commands.Abandoned})
	require.ErrorAs(t, err, &invalid)
	require.Empty(t, r.verify(t))
}

func externalIsSuperseded(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) { o.Accounts["deaf"] = gateway.Account{} }})
	first := r.register(t, commands.External{Account: "deaf"}).ID
	cmd := commands.Pay{OrderID: "A-1", Details: gateway.Details{Token: "tok_success"}, Capture: payment.CaptureAutomatic}
	var busy *payment.InProgressError
	_, err := r.Pay(t.Context(), customer, request("pay", "first-key", ""), cmd)
	require.ErrorAs(t, err, &busy)
	second := r.register(t, commands.External{OrderID: "A-1", Account: "deaf", Supersedes: &first}).ID
	require.True(t, r.attempt(t, first).Failed())
	cmd.Supersedes = &second
	reply, err := r.Pay(t.Context(), customer, request("pay", "second-key", ""), cmd)
	require.NoError(t, err)
	require.True(t, reply.Succeeded())
	require.True(t, r.attempt(t, second).Failed())
	require.Empty(t, r.verify(t))
}

func externalEndsWithItsOrder(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	o, _, err := r.CancelOrder(t.Context(), shop, request("cancel", "cancel-key", ""), "A-1")
	require.NoError(t, err)
	require.Equal(t, payment.OrderCancelled, o.Status())
	require.Equal(t, "canceled", r.attempt(t, id).Failure.Code)
	require.Equal(t, fsm.Conflict, r.say(t, id, webhooks.KindSucceeded))
	require.Equal(t, []string{"paid_after_cancel"}, r.discrepancies(t, id))
	require.Empty(t, r.verify(t))
}

func externalPaid(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	id := r.register(t, commands.External{}).ID
	r.say(t, id, webhooks.KindSucceeded)
	_, err := r.report(t, commands.Report{AttemptID: id, Outcome: commands.Abandoned})
	require.ErrorIs(t, err, payment.ErrAttemptFinal)
	_, err = r.report(t, commands.Report{AttemptID: id, ProviderPaymentID: "pi_12"})
	require.NoError(t, err, "names are welcome")
}

// A debit under way, or a hold, at an account without a gateway can be ended neither there nor here: its cancel waits on the
// schedule, and a person is told at its end. A cancel that is due for ever would keep others of its account from their turn.
func externalEndsUnderWay(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*env, payment.AttemptID) error{
		"a report": func(r *env, id payment.AttemptID) error {
			_, err := r.report(t, commands.Report{AttemptID: id, Outcome: commands.Abandoned})
			return err
		},
		"the order's cancellation": func(r *env, _ payment.AttemptID) error {
			_, _, err := r.CancelOrder(t.Context(), shop, request("cancel", "cancel-key", ""), "A-1")
			return err
		},
		"another payment": func(r *env, id payment.AttemptID) error {
			_, err := r.Register(t.Context(), shop, request("attempts", "next-key", ""),
				commands.External{OrderID: "A-1", Capture: payment.CaptureAutomatic, Supersedes: &id})
			if _, busy := errors.AsType[*payment.InProgressError](err); busy {
				return nil
			}
			return err
		},
	}
	for by, end := range ends {
		for _, stage := range []webhooks.Kind{webhooks.KindProcessing, webhooks.KindAuthorized} {
			r := deaf(t)
			id := r.register(t, commands.External{ProviderPaymentID: "pi_1"}).ID
			under := event(stage, "pi_1")
			under.ProviderPaymentID = "pi_1"
			require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, under), by)
			require.NoError(t, end(r, id), by)
			require.False(t, r.attempt(t, id).State.Final(), by)
			began := time.Now()
			r.everyOperation(t, id)
			r.rests(t, began, "%s, %s: not at once again", by, stage)
			require.Empty(t, r.discrepancies(t, id), "the schedule is not over")
			for range 10 {
				began = time.Now()
				r.everyOperation(t, id)
			}
			require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id), by)
			r.rests(t, began, "asked daily")
			over := event(webhooks.KindFailed, "pi_1")
			over.ProviderPaymentID = "pi_1"
			require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, over), by)
			require.True(t, r.attempt(t, id).Failed(), by)
			require.Empty(t, r.verify(t))
		}
	}
}

// A payment under way stops the expiry, and paylatch ends only what it began: a person is told once the payment has outlived
// what is usual.
func externalStaysUnderWay(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for stage, life := range map[fsm.Event]time.Duration{fsm.EventProcessing: 14 * day, fsm.EventAuthorized: 7 * day} {
		p := &answering{lookup: says(stage)}
		r := newEnv(t, setup{silent: true, provider: p.on})
		id := r.register(t, commands.External{ProviderPaymentID: "ch_77"}).ID
		under := r.recheck(t, id)
		require.True(t, under.UnderWay())
		r.longAgo(t, id, life-time.Hour)
		r.lateNow(t, id)
		r.recheck(t, id)
		require.Empty(t, r.discrepancies(t, id), "%s: in time", stage)
		r.longAgo(t, id, 2*time.Hour)
		for range 3 {
			r.recheck(t, id)
		}
		require.Equal(t, []string{"not_cancelled"}, rows[string](t, r, "SELECT about FROM discrepancies WHERE attempt_id = $1", id.String()), stage)
		require.False(t, r.attempt(t, id).State.Final())
		require.Zero(t, p.cancels.Load(), "its customer's bank may still pay")
		p.lookup = says(fsm.EventSucceeded)
		require.True(t, r.recheck(t, id).Succeeded())
	}
}
