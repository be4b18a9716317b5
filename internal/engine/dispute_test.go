package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

var disputeEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestDisputes(t *testing.T) {
	t.Parallel()
	t.Run("in_any_order", disputesInAnyOrder)
	t.Run("two_of_one_payment", disputesTwoOfOnePayment)
	t.Run("of_two_payments", disputesOfTwoPayments)
	t.Run("move_no_money", disputesMoveNoMoney)
	t.Run("found_by_a_lookup", disputesFoundByALookup)
	t.Run("seen_by_a_lookup", disputesSeenByALookup)
	t.Run("by_a_hint", disputesByAHint)
	t.Run("without_a_name", disputesWithoutAName)
	t.Run("read", disputesRead)
	t.Run("verified", disputesVerified)
}

// said is one delivery about a dispute of 5.00, a second after the one before.
type said struct {
	event, status string
	second        int
}

// The courses of a dispute at two providers, by their end: in the provider's order, with the money that chargebacks
// took.
var disputeLives = map[string]map[fsm.DisputeState]struct {
	taken int64
	said  []said
}{
	"stripe": {
		fsm.DisputeWarning: {0, []said{{"created", "warning_needs_response", 1}, {"updated", "warning_under_review", 2}}},
		fsm.DisputeOpen: {500, []said{
			{"created", "warning_needs_response", 1}, {"updated", "needs_response", 2}, {"funds_withdrawn", "needs_response", 2},
		}},
		fsm.DisputeUnderReview: {500, []said{{"created", "needs_response", 1}, {"funds_withdrawn", "needs_response", 1}, {"updated", "under_review", 2}}},
		fsm.DisputeWon: {0, []said{
			{"created", "needs_response", 1},
			{"funds_withdrawn", "needs_response", 1},
			{"updated", "under_review", 2},
			{"closed", "won", 3},
			{"funds_reinstated", "won", 3},
		}},
		fsm.DisputeLost: {500, []said{
			{"created", "needs_response", 1}, {"funds_withdrawn", "needs_response", 1}, {"updated", "under_review", 2}, {"closed", "lost", 3},
		}},
	},
	"adyen": {
		fsm.DisputeWarning: {0, []said{{"REQUEST_FOR_INFORMATION", "Unresponded", 1}, {"INFORMATION_SUPPLIED", "Responded", 2}}},
		fsm.DisputeOpen: {500, []said{
			{"REQUEST_FOR_INFORMATION", "Unresponded", 1}, {"NOTIFICATION_OF_CHARGEBACK", "Undefended", 2}, {"CHARGEBACK", "Undefended", 3},
		}},
		fsm.DisputeUnderReview: {500, []said{{"NOTIFICATION_OF_CHARGEBACK", "", 1}, {"CHARGEBACK", "Undefended", 2}, {"INFORMATION_SUPPLIED", "Pending", 3}}},
		fsm.DisputeWon: {0, []said{
			{"NOTIFICATION_OF_CHARGEBACK", "", 1}, {"CHARGEBACK", "Undefended", 2}, {"INFORMATION_SUPPLIED", "Pending", 3}, {"CHARGEBACK_REVERSED", "", 4},
		}},
		fsm.DisputeLost: {500, []said{
			{"NOTIFICATION_OF_CHARGEBACK", "", 1},
			{"CHARGEBACK", "Undefended", 2},
			{"INFORMATION_SUPPLIED", "Pending", 3},
			{"CHARGEBACK_REVERSED", "", 4},
			{"SECOND_CHARGEBACK", "", 5},
		}},
		fsm.DisputeAccepted: {500, []said{{"NOTIFICATION_OF_CHARGEBACK", "", 1}, {"CHARGEBACK", "Accepted", 2}}},
	},
}

// body is the delivery at a provider.
func (s said) body(kind, dispute, of string) string {
	at := disputeEpoch.Add(time.Duration(s.second) * time.Second)
	if kind == "stripe" {
		return fmt.Sprintf(`{"id":%q,"type":"charge.dispute.%s","created":%d,"livemode":false,"data":{"object":{"id":%q,"object":"dispute",`+
			`"amount":500,"currency":"eur","charge":%q,"status":%q,"reason":"fraudulent","evidence_details":{"due_by":1773766799}}}}`,
			serial(), s.event, at.Unix(), dispute, of, s.status)
	}
	return fmt.Sprintf(`{"live":"false","notificationItems":[{"NotificationRequestItem":{"amount":{"currency":"EUR","value":500},"eventCode":%q,`+
		`"eventDate":%q,"merchantAccountCode":"M","merchantReference":"","originalReference":%q,"pspReference":%q,"reason":"","success":"true",`+
		`"additionalData":{"disputeStatus":%q,"chargebackReasonCode":"fraudulent","defensePeriodEndsAt":"2026-03-17T16:59:59Z"}}}]}`,
		s.event, at.Format(time.RFC3339), of, dispute, s.status)
}

// The genuine deliveries of a dispute may arrive in any order and number. The dispute ends the same, its chargebacks
// took the same amount, and at most one discrepancy asks for an answer.
func disputesInAnyOrder(t *testing.T) {
	t.Parallel()
	for kind, lives := range disputeLives {
		for end, life := range lives {
			t.Run(kind+"_"+string(end), func(t *testing.T) {
				t.Parallel()
				r := newEnv(t, setup{silent: true})
				v, sign := signer(t, kind, disputingProviders[kind].config)
				for i, order := range permutations(len(life.said)) {
					if i%5 != 0 && len(life.said) > 4 {
						continue // 24 of 120
					}
					a := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_success").Attempt
					id := fmt.Sprintf("D%d", i)
					for _, n := range append(order, order[0]) {
						r.notify(t, v, sign(t, life.said[n].body(kind, id, a.ProviderPaymentID)))
					}
					got := r.attempt(t, a.ID)
					require.Len(t, got.Disputes, 1, "%v", order)
					d := got.Disputes[0]
					require.Equal(t, end, d.State, "%v", order)
					require.Equal(t, id, d.ProviderDisputeID)
					require.Equal(t, "fraudulent", d.Reason)
					require.Equal(t, &payment.Money{Minor: 500, Currency: "EUR"}, d.Money)
					require.Equal(t, time.Date(2026, 3, 17, 16, 59, 59, 0, time.UTC), d.DueBy.UTC())
					require.Equal(t, life.taken, got.AmountDisputed(), "%v", order)
					require.Equal(t, end.Closed(), d.ClosedAt != nil)
					require.LessOrEqual(t, r.toAnswer(t, a.ID), 1)
				}
				require.Empty(t, r.verify(t))
			})
		}
	}
}

// toAnswer counts the open discrepancies of an attempt that ask for an answer to a dispute.
func (r *env) toAnswer(t *testing.T, id payment.AttemptID) int {
	t.Helper()
	return len(rows[string](t, r, "SELECT discrepancy_id::text FROM discrepancies WHERE attempt_id = $1 AND kind = 'disputed' AND resolved_at IS NULL", id.String()))
}

// disputeEvent is an event of a dispute of 5.00 that moves no money.
func disputeEvent(of payment.Attempt, id string, status webhooks.DisputeStatus, second int) webhooks.Event {
	e := event(webhooks.KindDisputed, of.ID.String())
	if status.Closed() {
		e.Kind = webhooks.KindDisputeClosed
	}
	e.Money = &webhooks.Money{Minor: 500, Currency: "EUR"}
	e.Dispute = &webhooks.Dispute{ID: id, Status: status, Money: e.Money}
	if second > 0 {
		e.OccurredAt = disputeEpoch.Add(time.Duration(second) * time.Second)
	}
	return e
}

// Each dispute of a payment has a row, and one discrepancy while it is open, with any outcome.
func disputesTwoOfOnePayment(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	var verdicts []fsm.Verdict
	for _, e := range []webhooks.Event{
		disputeEvent(a, "dp_1", webhooks.DisputeWarning, 1), disputeEvent(a, "dp_2", webhooks.DisputeOpen, 1),
		disputeEvent(a, "dp_1", webhooks.DisputeOpen, 2), disputeEvent(a, "dp_1", webhooks.DisputeWarning, 1),
		disputeEvent(a, "dp_2", webhooks.DisputeUnderReview, 2), disputeEvent(a, "dp_2", webhooks.DisputeUnderReview, 2),
		disputeEvent(a, "dp_2", webhooks.DisputeWon, 3), disputeEvent(a, "dp_2", webhooks.DisputeOpen, 0),
	} {
		verdicts = append(verdicts, r.tell(t, e)...)
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Applied, fsm.Applied, fsm.Stale, fsm.Applied, fsm.Repeat, fsm.Applied, fsm.Stale}, verdicts)
	got := r.attempt(t, a.ID)
	require.Equal(t, []fsm.DisputeState{fsm.DisputeOpen, fsm.DisputeWon}, []fsm.DisputeState{got.Disputes[0].State, got.Disputes[1].State})
	require.Equal(t, a.Version, got.Version, "a dispute is none of the attempt's facts")
	require.Equal(t, 2, r.toAnswer(t, a.ID))

	// An answered inquiry that becomes a dispute needs a new answer, and so does a reopened dispute. A repeated report
	// needs no answer.
	r.exec(t, "UPDATE discrepancies SET resolved_at = now(), resolution = 'accepted'")
	r.tell(t, disputeEvent(a, "dp_2", webhooks.DisputeUnderReview, 2))
	require.Zero(t, r.toAnswer(t, a.ID))
	r.tell(t, disputeEvent(a, "dp_1", webhooks.DisputeOpen, 3), disputeEvent(a, "dp_2", webhooks.DisputeOpen, 4))
	require.Equal(t, []string{"open dp_1", "reopened dp_2"},
		rows[string](t, r, "SELECT about_id FROM discrepancies WHERE resolved_at IS NULL ORDER BY about_id"))
	require.Empty(t, r.verify(t))
}

// A dispute is of one payment: reported of another one, it needs review and stays where it is.
func disputesOfTwoPayments(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	one, two := r.paid(t, "A-1", "tok_success").Attempt, r.paid(t, "A-2", "tok_success").Attempt
	r.tell(t, disputeEvent(one, "dp_1", webhooks.DisputeOpen, 1))
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, disputeEvent(two, "dp_1", webhooks.DisputeLost, 2)))
	require.Equal(t, fsm.DisputeOpen, r.attempt(t, one.ID).Disputes[0].State)
	require.Empty(t, r.attempt(t, two.ID).Disputes)
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, two.ID))
	require.Empty(t, r.verify(t))

	// Of two transactions that make it at the same time, one finds that the other has.
	other := r.another(t, nil)
	three, four := r.paid(t, "A-3", "tok_success").Attempt, r.paid(t, "A-4", "tok_success").Attempt
	verdicts := make(chan []fsm.Verdict, 2)
	for s, a := range map[*service]payment.Attempt{r.service: three, other: four} {
		go func() {
			v, err := s.Intake(t.Context(), received(nil, disputeEvent(a, "dp_2", webhooks.DisputeOpen, 1)))
			if err != nil {
				v = []fsm.Verdict{fsm.Verdict(err.Error())}
			}
			verdicts <- v
		}()
	}
	got := slices.Concat(<-verdicts, <-verdicts)
	slices.Sort(got)
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict}, got)
	require.Len(t, slices.Concat(r.attempt(t, three.ID).Disputes, r.attempt(t, four.ID).Disputes), 1)
}

// Neither an open nor a lost dispute takes money: only the amount that the provider reports as taken is gone.
func disputesMoveNoMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, disputeEvent(a, "dp_1", webhooks.DisputeOpen, 1), disputeEvent(a, "dp_1", webhooks.DisputeLost, 2))
	got := r.attempt(t, a.ID)
	require.Zero(t, got.AmountDisputed())
	require.EqualValues(t, price, got.Held())

	// A chargeback in another currency is a conflict of money; the dispute is recorded nevertheless.
	e := disputeEvent(a, "dp_2", webhooks.DisputeOpen, 1)
	e.Kind, e.MovementID, e.Money = webhooks.KindChargeback, "dp_2", &webhooks.Money{Minor: 500, Currency: "USD"}
	require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
	require.Len(t, r.attempt(t, a.ID).Disputes, 2)
	require.Empty(t, r.verify(t))
}

// A notice that names only the payment, with a lookup that lists its dispute.
func disputesFoundByALookup(t *testing.T) {
	t.Parallel()
	back := &charger{}
	r := newEnv(t, setup{silent: true, provider: func(p gateway.Provider) gateway.Provider { return disputer{back.on(p)} }})
	paid := r.paid(t, "A-1", "tok_success")
	for range 2 {
		notice := event(webhooks.KindNotice, paid.ProviderPaymentID)
		notice.NeedsFetch, notice.ProviderPaymentID = true, paid.ProviderPaymentID
		require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, notice))
		r.retry(t, true)
	}
	got := r.attempt(t, paid.ID)
	require.EqualValues(t, 700, got.AmountDisputed())
	require.Len(t, got.Disputes, 1)
	require.Equal(t, fsm.DisputeLost, got.Disputes[0].State)
	require.ElementsMatch(t, []string{"applied", "repeat"}, r.verdicts(t, paid.ID))
	require.Empty(t, r.verify(t))

	v, err := r.Recheck(t.Context(), paid.ID, byTest)
	require.NoError(t, err)
	require.Len(t, v.Disputes, 1, "also where the attempt was locked")
}

// disputer is a provider with a dispute in its lookups.
type disputer struct{ gateway.Provider }

func (p disputer) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	o, err := p.Provider.Lookup(ctx, id)
	o.Disputes = []payment.DisputeReport{{ProviderID: "chb_1", Status: fsm.DisputeLost, Money: &payment.Money{Minor: 700, Currency: "EUR"}, At: disputeEpoch}}
	return o, err
}

// PayPal's event is believed once its payment is looked up.
func disputesByAHint(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	v, sign := signer(t, "paypal", webhooks.Config{})
	a := r.paid(t, "A-1", "tok_success").Attempt
	for _, outcome := range []string{"RESOLVED_SELLER_FAVOUR", "RESOLVED_BUYER_FAVOUR"} {
		body := strings.Replace(paypalDispute(outcome)("PP-D-1", a.ProviderPaymentID), "2026-01-01T00:00:00Z",
			map[string]string{"RESOLVED_SELLER_FAVOUR": "2026-01-01T00:00:00Z", "RESOLVED_BUYER_FAVOUR": "2026-01-02T00:00:00Z"}[outcome], 1)
		r.notify(t, v, sign(t, body))
		r.retry(t, true)
	}
	got := r.attempt(t, a.ID)
	require.Len(t, got.Disputes, 1)
	require.Equal(t, fsm.DisputeLost, got.Disputes[0].State)
	require.EqualValues(t, 500, got.AmountDisputed())
	require.Empty(t, r.verify(t))
}

// Where the provider has no dispute id, no dispute is made: a discrepancy is open until a person resolves it.
func disputesWithoutAName(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, event(webhooks.KindDisputed, a.ID.String()), event(webhooks.KindDisputed, a.ID.String()))
	require.Empty(t, r.attempt(t, a.ID).Disputes)
	require.Equal(t, 1, r.toAnswer(t, a.ID))
	closed := event(webhooks.KindDisputeClosed, a.ID.String())
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, closed))
}

// Customers read no dispute; a service sees the disputes of the user that it acts for.
func disputesRead(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, disputeEvent(a, "dp_1", webhooks.DisputeOpen, 1))
	id := r.attempt(t, a.ID).Disputes[0].ID
	of := func(subject string, behalf payment.UserID, role payment.Role) authz.Actor {
		return authz.Actor{Subject: subject, Roles: []payment.Role{role}, OnBehalfOf: behalf}
	}
	for name, c := range map[string]struct {
		actor authz.Actor
		want  error
	}{
		"the owner":               {customer, payment.ErrForbidden},
		"a service":               {of("shop", "", payment.RoleService), nil},
		"a service for the owner": {of("shop", "u1", payment.RoleService), nil},
		"a service for another":   {of("shop", "u2", payment.RoleService), payment.ErrForbidden},
		"support":                 {sam, nil},
		"an administrator":        {of("ada", "", payment.RoleAdmin), nil},
		"a status token":          {authz.Actor{OnlyAttempt: &a.ID}, payment.ErrForbidden},
	} {
		d, err := r.Dispute(t.Context(), c.actor, id)
		require.ErrorIs(t, err, c.want, name)
		if c.want == nil {
			require.Equal(t, "dp_1", d.ProviderDisputeID, name)
		}
	}
	_, err := r.Dispute(t.Context(), sam, payment.DisputeID{1})
	require.ErrorIs(t, err, payment.ErrDisputeNotFound)
	order, err := r.Order(t.Context(), customer, "A-1")
	require.NoError(t, err)
	require.Len(t, order.Attempts[0].Disputes, 1)
}

// Every way in which a dispute and its events can part is seen.
func disputesVerified(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	r.tell(t, disputeEvent(a, "dp_1", webhooks.DisputeOpen, 1), disputeEvent(a, "dp_1", webhooks.DisputeUnderReview, 2))
	dispute := func(set string) string { return "UPDATE disputes SET " + set }
	r.eachIsReported(t, map[string]corruption{
		"a status":        {dispute("status = 'open'"), dispute("status = 'under_review'"), "dispute_follows_reports"},
		"a status's time": {dispute("status_at = status_at - interval '1 s'"), dispute("status_at = status_at + interval '1 s'"), "dispute_follows_reports"},
		"its name":        {dispute("provider_dispute_id = 'dp_9'"), dispute("provider_dispute_id = 'dp_1'"), "event_has_dispute"},
		"its account":     {dispute("account = 'other'"), dispute("account = 'sandbox'"), "dispute_of_account"},
		"its times":       {dispute("opened_at = opened_at + interval '1 day'"), dispute("opened_at = opened_at - interval '1 day'"), "dispute_times"},
		"nobody told":     {"UPDATE discrepancies SET kind = 'event_changed'", "UPDATE discrepancies SET kind = 'disputed'", "dispute_is_seen"},
	})
}
