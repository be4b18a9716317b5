package engine_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks/all"
)

// deliveries are a provider's deliveries about a dispute from its opening to one end. Each delivery comes with the
// status of the dispute then, the money that it took and returned so far, and the published event.
type deliveries []struct{ event, status, stands, published string }

const (
	took     = "chargeback 500"
	gaveBack = "chargeback 500, chargeback_reversal 500"
)

// disputeCourses are the courses of each kind whose webhooks name disputes. A kind without a deadline in its reports has
// no due.
var disputeCourses = map[string]struct {
	body      func(event, status, dispute, of string, at time.Time) string
	due       bool
	won, lost deliveries
}{
	"adyen": {adyenCourse, true, deliveries{
		{"REQUEST_FOR_INFORMATION", "Unresponded", "warning", "dispute.opened"},
		{"NOTIFICATION_OF_CHARGEBACK", "Undefended", "open", "dispute.updated"},
		{"CHARGEBACK", "Undefended", "open: " + took, "dispute.updated"},
		{"INFORMATION_SUPPLIED", "Pending", "under_review: " + took, "dispute.updated"},
		{"CHARGEBACK_REVERSED", "Pending", "won: " + gaveBack, "dispute.won"},
	}, deliveries{
		{"CHARGEBACK", "Undefended", "open: " + took, "dispute.opened"},
		{"CHARGEBACK_REVERSED", "Pending", "won: " + gaveBack, "dispute.won"},
		{"SECOND_CHARGEBACK", "Lost", "lost: chargeback 1000, chargeback_reversal 500", "dispute.lost"},
	}},
	"braintree": {braintreeCourse, true, deliveries{
		{"dispute_opened", "chargeback", "open: " + took, "dispute.opened"},
		{"dispute_under_review", "chargeback", "under_review: " + took, "dispute.updated"},
		{"dispute_won", "chargeback", "won: " + gaveBack, "dispute.won"},
	}, deliveries{
		{"dispute_opened", "retrieval", "warning", "dispute.opened"},
		{"dispute_opened", "chargeback", "open: " + took, "dispute.updated"},
		{"dispute_disputed", "chargeback", "under_review: " + took, "dispute.updated"},
		{"dispute_lost", "chargeback", "lost: " + took, "dispute.lost"},
	}},
	"checkout": {checkoutCourse, true, deliveries{
		{"dispute_received", "", "open", "dispute.opened"},
		{"dispute_evidence_required", "", "open: " + took, "dispute.updated"},
		{"dispute_evidence_submitted", "", "under_review: " + took, "dispute.updated"},
		{"dispute_won", "", "won: " + gaveBack, "dispute.won"},
	}, deliveries{
		{"dispute_evidence_required", "", "open: " + took, "dispute.opened"},
		{"dispute_evidence_submitted", "", "under_review: " + took, "dispute.updated"},
		{"dispute_lost", "", "lost: " + took, "dispute.lost"},
	}},
	"mollie": {mollieCourse, false, deliveries{
		{"received", "", "lost: " + took, "dispute.lost"}, {"reversed", "", "won: " + gaveBack, "dispute.won"},
	}, deliveries{{"received", "", "lost: " + took, "dispute.lost"}}},
	"paypal": {paypalCourse, true, deliveries{
		{"CREATED", "WAITING_FOR_SELLER_RESPONSE", "open", "dispute.opened"},
		{"UPDATED", "UNDER_REVIEW", "under_review", "dispute.updated"},
		{"RESOLVED", "RESOLVED_SELLER_FAVOUR", "won", "dispute.won"},
	}, deliveries{
		{"CREATED", "INQUIRY", "warning", "dispute.opened"},
		{"UPDATED", "WAITING_FOR_SELLER_RESPONSE", "open", "dispute.updated"},
		{"RESOLVED", "RESOLVED_BUYER_FAVOUR", "lost: " + took, "dispute.lost"},
	}},
	"razorpay": {razorpayCourse, true, deliveries{
		{"created", "chargeback", "open", "dispute.opened"},
		{"action_required", "chargeback", "open", "dispute.updated"},
		{"under_review", "chargeback", "under_review", "dispute.updated"},
		{"won", "chargeback", "won", "dispute.won"},
	}, deliveries{
		{"created", "retrieval", "warning", "dispute.opened"},
		{"created", "chargeback", "open", "dispute.updated"},
		{"under_review", "chargeback", "under_review", "dispute.updated"},
		{"lost", "chargeback", "lost: " + took, "dispute.lost"},
	}},
	"sandbox":  standardCourses,
	"standard": standardCourses,
	"square": {squareCourse, true, deliveries{
		{"dispute.created", "INQUIRY_EVIDENCE_REQUIRED", "warning", "dispute.opened"},
		{"dispute.state.updated", "EVIDENCE_REQUIRED", "open: " + took, "dispute.updated"},
		{"dispute.state.updated", "PROCESSING", "under_review: " + took, "dispute.updated"},
		{"dispute.state.updated", "WON", "won: " + gaveBack, "dispute.won"},
	}, deliveries{
		{"dispute.created", "EVIDENCE_REQUIRED", "open: " + took, "dispute.opened"},
		{"dispute.state.updated", "PROCESSING", "under_review: " + took, "dispute.updated"},
		{"dispute.state.updated", "LOST", "lost: " + took, "dispute.lost"},
	}},
	"stripe": {stripeCourse, true, deliveries{
		{"created", "warning_needs_response", "warning", "dispute.opened"},
		{"updated", "needs_response", "open", "dispute.updated"},
		{"funds_withdrawn", "needs_response", "open: " + took, "dispute.updated"},
		{"updated", "under_review", "under_review: " + took, "dispute.updated"},
		{"closed", "won", "won: " + took, "dispute.won"},
		{"funds_reinstated", "won", "won: " + gaveBack, "dispute.updated"},
	}, deliveries{
		{"created", "needs_response", "open", "dispute.opened"},
		{"funds_withdrawn", "needs_response", "open: " + took, "dispute.updated"},
		{"updated", "under_review", "under_review: " + took, "dispute.updated"},
		{"closed", "lost", "lost: " + took, "dispute.lost"},
	}},
}

var standardCourses = struct {
	body      func(event, status, dispute, of string, at time.Time) string
	due       bool
	won, lost deliveries
}{standardCourse, true, deliveries{
	{"dispute.warning", "warning", "warning", "dispute.opened"},
	{"dispute.opened entry", "open", "open: " + took, "dispute.updated"},
	{"dispute.updated", "under_review", "under_review: " + took, "dispute.updated"},
	{"dispute.won entry", "won", "won: " + gaveBack, "dispute.won"},
}, deliveries{
	{"dispute.opened entry", "open", "open: " + took, "dispute.opened"},
	{"dispute.updated", "under_review", "under_review: " + took, "dispute.updated"},
	{"dispute.lost", "lost", "lost: " + took, "dispute.lost"},
}}

// undisputed are the kinds whose webhooks name no dispute. The first two report chargebacks without a dispute id.
var undisputed = []string{"gocardless", "paddle", "cloudpayments", "comgate", "gopay", "lemonsqueezy", "robokassa", "tbank", "yookassa"}

var dueBy = time.Date(2026, 3, 17, 0, 0, 0, 0, time.UTC)

// Each signed delivery of a dispute, from its opening to either end, leads to the status, the date, the movements and the event that its
// provider's documentation means by it.
func TestDisputesOfEachKind(t *testing.T) {
	t.Parallel()
	kinds := slices.Clone(undisputed)
	for kind, c := range disputeCourses {
		kinds = append(kinds, kind)
		for end, course := range map[string]deliveries{"won": c.won, "lost": c.lost} {
			t.Run(kind+"_"+end, func(t *testing.T) {
				t.Parallel()
				r := newEnv(t, setup{silent: true})
				config := disputingProviders[kind].config
				if strings.HasPrefix(kind, "sand") || kind == "standard" {
					config.Secrets = []string{"whsec_a2luZHNraW5kc2tpbmRza2luZHNraW5kc2tpbmRz"}
				}
				v, sign := signer(t, kind, config)
				a := r.paid(t, "A-1", "tok_success").Attempt
				var published []string
				for i, s := range course {
					r.notify(t, v, sign(t, c.body(s.event, s.status, "D1", a.ProviderPaymentID, disputeEpoch.Add(time.Duration(i)*time.Hour))))
					r.retry(t, true) // PayPal's events are hints: the payment is looked up
					now := r.attempt(t, a.ID)
					require.Len(t, now.Disputes, 1, s.event)
					d := now.Disputes[0]
					require.Equal(t, s.stands, strings.TrimSuffix(string(d.State)+": "+r.disputeMoney(t, a.ID), ": "), "%s %s", s.event, s.status)
					require.Equal(t, &payment.Money{Minor: 500, Currency: "EUR"}, d.Money)
					if c.due {
						require.Equal(t, dueBy, d.DueBy.UTC(), s.event)
					}
					require.Equal(t, c.due, !d.DueBy.IsZero(), s.event)
					published = append(published, s.published)
				}
				require.Equal(t, published, rows[string](t, r, "SELECT type FROM outbox WHERE type LIKE 'dispute.%' ORDER BY version"))
				require.Empty(t, r.verify(t))
			})
		}
	}
	slices.Sort(kinds)
	require.Equal(t, all.Kinds(), kinds, "each kind has its courses, or none")
}

// The manual lists the facts that a kind doesn't report.
func TestManualListsTheDisputesOfEachKind(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/reference/providers.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(manual), "## Disputes\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	for kind, c := range disputeCourses {
		i := strings.Index(table, "`"+kind+"`")
		require.Positive(t, i, kind)
		row, _, _ := strings.Cut(table[i:], "\n")
		require.Equal(t, c.due, !strings.Contains(row, " – |"), row)
	}
}

// disputeMoney sums the money that a dispute's movements took and returned.
func (r *env) disputeMoney(t *testing.T, id payment.AttemptID) string {
	t.Helper()
	return strings.Join(rows[string](t, r, `SELECT kind || ' ' || sum(amount) FROM money_movements WHERE attempt_id = $1 AND kind LIKE 'chargeback%'
		GROUP BY kind ORDER BY kind`, id.String()), ", ")
}

func stripeCourse(event, status, dispute, of string, at time.Time) string {
	return fmt.Sprintf(`{"id":%q,"type":"charge.dispute.%s","created":%d,"livemode":false,"data":{"object":{"id":%q,"object":"dispute",`+
		`"amount":500,"currency":"eur","charge":%q,"status":%q,"evidence_details":{"due_by":%d}}}}`,
		serial(), event, at.Unix(), dispute, of, status, dueBy.Unix())
}

func adyenCourse(event, status, dispute, of string, at time.Time) string {
	return strings.NewReplacer("2026-01-01T01:00:00+01:00", at.Format(time.RFC3339), `"additionalData":{}`,
		`"additionalData":{"disputeStatus":"`+status+`","defensePeriodEndsAt":"`+dueBy.Format(time.RFC3339)+`"}`).Replace(adyenItem(event)(dispute, of))
}

func braintreeCourse(event, kind, dispute, of string, at time.Time) string {
	return strings.NewReplacer("2026-01-01T00:00:00Z", at.Format(time.RFC3339), "<kind>chargeback</kind>",
		"<kind>"+kind+`</kind><reply-by-date type="date">`+dueBy.Format(time.DateOnly)+"</reply-by-date>").Replace(braintreeDispute(event)(dispute, of))
}

func checkoutCourse(event, _, dispute, of string, at time.Time) string {
	return strings.NewReplacer("2026-01-01T00:00:00Z", at.Format(time.RFC3339), `"amount":500`,
		`"amount":500,"evidence_required_by":"`+dueBy.Format(time.RFC3339)+`"`).Replace(checkoutDispute(event)(dispute, of))
}

func mollieCourse(event, _, dispute, of string, at time.Time) string {
	return strings.Replace(mollieChargeback(event)(dispute, of), "2026-01-01T00:00:00Z", at.Format(time.RFC3339), 1)
}

func paypalCourse(event, status, dispute, of string, at time.Time) string {
	outcome, stage := "", "CHARGEBACK"
	switch {
	case event == "RESOLVED":
		outcome, status = `"dispute_outcome":{"outcome_code":"`+status+`"},`, "RESOLVED"
	case status == "INQUIRY":
		status, stage = "OPEN", status
	}
	return fmt.Sprintf(`{"id":%q,"event_type":"CUSTOMER.DISPUTE.%s","create_time":%q,"resource":{"dispute_id":%q,"status":%q,`+
		`"dispute_life_cycle_stage":%q,"seller_response_due_date":%q,%s"dispute_amount":{"currency_code":"EUR","value":"5.00"},`+
		`"disputed_transactions":[{"seller_transaction_id":%q}]}}`,
		serial(), event, at.Format(time.RFC3339), dispute, status, stage, dueBy.Format(time.RFC3339), outcome, of)
}

func razorpayCourse(event, phase, dispute, of string, at time.Time) string {
	deducted := map[bool]int{true: 500}[event == "lost"]
	return fmt.Sprintf(`{"entity":"event","event":"payment.dispute.%s","contains":["payment","dispute"],"payload":{"payment":{"entity":{"id":%q,"captured":true}},`+
		`"dispute":{"entity":{"id":%q,"payment_id":%q,"amount":500,"amount_deducted":%d,"currency":"EUR","phase":%q,"respond_by":%d}}},"created_at":%d}`,
		event, of, dispute, of, deducted, phase, dueBy.Unix(), at.Unix())
}

func squareCourse(event, state, dispute, of string, at time.Time) string {
	return strings.NewReplacer("dispute.state.updated", event, "2026-01-01T00:00:00Z", at.Format(time.RFC3339), `"state":`,
		`"due_at":"`+dueBy.Format(time.RFC3339)+`","state":`).Replace(squareDispute(state)(dispute, of))
}

// standardCourse names an entry of the ledger where the event moves money.
func standardCourse(event, status, dispute, of string, at time.Time) string {
	event, moves, _ := strings.Cut(event, " ")
	return fmt.Sprintf(`{"id":%q,"type":%q,"created":%q,"data":{"charge_id":%q,"refund_id":null,"reference":"","amount":500,"currency":"EUR",`+
		`"failure_code":null,"dispute_id":%q,"dispute_status":%q,"reason":"fraudulent","due_by":%q,"entry_id":%q}}`,
		serial(), event, at.Format(time.RFC3339), of, dispute, status, dueBy.Format(time.RFC3339), map[bool]string{true: dispute + event}[moves != ""])
}
