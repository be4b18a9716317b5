package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// disputeStep is one step of a dispute: it takes an amount, returns it, or takes it again.
type disputeStep struct {
	act    string
	amount int
}

// disputeRounds are the signed deliveries of each kind that reports a dispute's money. Each delivery has all steps until
// then and reports the last one. A kind that states no returned amount has no parts.
var disputeRounds = map[string]struct {
	body  func(until []disputeStep, dispute, of string, at time.Time) string
	parts bool
}{
	"adyen": {amounted(map[string]func(string, string) string{
		"take": adyenItem("CHARGEBACK"), "return": adyenItem("CHARGEBACK_REVERSED"), "again": adyenItem("SECOND_CHARGEBACK"),
	}, "2026-01-01T01:00:00+01:00"), true},
	"adyen, by arbitration": {amounted(map[string]func(string, string) string{
		"take": adyenItem("CHARGEBACK"), "return": adyenItem("CHARGEBACK_REVERSED"), "again": adyenItem("SCHEME_ARBITRATION_LOST"),
	}, "2026-01-01T01:00:00+01:00"), true},
	"braintree": {amounted(map[string]func(string, string) string{
		"take": braintreeDispute("dispute_opened"), "return": braintreeDispute("dispute_won"), "again": braintreeDispute("dispute_lost"),
	}, "2026-01-01T00:00:00Z"), true},
	"checkout": {amounted(map[string]func(string, string) string{
		"take": checkoutDispute("dispute_evidence_required"), "return": checkoutDispute("dispute_won"), "again": checkoutDispute("dispute_arbitration_lost"),
	}, "2026-01-01T00:00:00Z"), true},
	"mollie": {amounted(map[string]func(string, string) string{
		"take": mollieChargeback("received"), "return": mollieChargeback("reversed"), "again": mollieChargeback("received"),
	}, "2026-01-01T00:00:00Z"), true},
	"square": {amounted(map[string]func(string, string) string{
		"take": squareDispute("EVIDENCE_REQUIRED"), "return": squareDispute("WON"), "again": squareDispute("LOST"),
	}, "2026-01-01T00:00:00Z"), true},
	"stripe, without entries": {amounted(map[string]func(string, string) string{
		"take": stripeDispute("funds_withdrawn"), "return": stripeDispute("funds_reinstated"), "again": stripeDispute("funds_withdrawn"),
	}, "1767225600"), true},
	"stripe":   {stripeEntries, true},
	"standard": {standardEntries, true},
	"sandbox":  {standardEntries, true},
	"paddle": {func(until []disputeStep, dispute, of string, at time.Time) string {
		action := map[string]string{"take": "chargeback", "return": "chargeback_reverse", "again": "chargeback"}
		return amounted(map[string]func(string, string) string{
			"take": paddleAdjustment(action["take"]), "return": paddleAdjustment(action["return"]), "again": paddleAdjustment(action["again"]),
		}, "2026-01-01T00:00:00Z")(until, fmt.Sprint(dispute, len(until)), of, at)
	}, true},
	"paypal": {amounted(map[string]func(string, string) string{
		"take": paypalDispute("RESOLVED_BUYER_FAVOUR"), "return": paypalDispute("RESOLVED_SELLER_FAVOUR"), "again": paypalDispute("RESOLVED_BUYER_FAVOUR"),
	}, "2026-01-01T00:00:00Z"), false},
	"razorpay": {amounted(map[string]func(string, string) string{
		"take": razorpayDispute("created"), "return": razorpayDispute("won"), "again": razorpayDispute("lost"),
	}, "1589908238"), false},
}

// amounted are bodies of 5.00 at a time, with another amount and time.
func amounted(acts map[string]func(dispute, of string) string, stamp string) func([]disputeStep, string, string, time.Time) string {
	return func(until []disputeStep, dispute, of string, at time.Time) string {
		last := until[len(until)-1]
		when := at.UTC().Format(time.RFC3339)
		if !strings.Contains(stamp, "-") {
			when = strconv.FormatInt(at.Unix(), 10)
		}
		return strings.NewReplacer(stamp, when, `:500`, fmt.Sprint(":", last.amount), `"500"`, strconv.Quote(strconv.Itoa(last.amount)),
			"5.00", fmt.Sprintf("%d.%02d", last.amount/100, last.amount%100)).Replace(acts[last.act](dispute, of))
	}
}

// stripeEntries lists the balance transactions until then, beside the amount of the dispute.
func stripeEntries(until []disputeStep, dispute, of string, at time.Time) string {
	var all []string
	for i, s := range until {
		sign := map[bool]int{true: 1, false: -1}[s.act == "return"]
		all = append(all, fmt.Sprintf(`{"id":"txn_%s_%d","amount":%d,"currency":"eur","created":%d,"reporting_category":"dispute"}`,
			dispute, i, sign*s.amount, at.Add(time.Duration(i-len(until)+1)*time.Hour).Unix()))
	}
	event := map[bool]string{true: "funds_reinstated", false: "funds_withdrawn"}[until[len(until)-1].act == "return"]
	return fmt.Sprintf(`{"id":%q,"type":"charge.dispute.%s","created":%d,"livemode":false,"data":{"object":{"id":%q,"object":"dispute","amount":1999,`+
		`"currency":"eur","charge":%q,"status":"needs_response","balance_transactions":[%s]}}}`, serial(), event, at.Unix(), dispute, of, strings.Join(all, ","))
}

func standardEntries(until []disputeStep, dispute, of string, at time.Time) string {
	last := until[len(until)-1]
	status := map[string]string{"take": "open", "return": "won", "again": "lost"}[last.act]
	return strings.NewReplacer(`"amount":500`, fmt.Sprint(`"amount":`, last.amount), `"entry_id":"`, fmt.Sprintf(`"entry_id":"le_%d`, len(until))).Replace(
		standardCourse("dispute.updated entry", status, dispute, of, at))
}

// The money that a dispute holds at its end is the same in any order of its signed deliveries, each delivered twice:
// taken, given back, taken again, or given back in part.
func TestDisputeRounds(t *testing.T) {
	t.Parallel()
	courses := map[string]struct {
		steps []disputeStep
		want  int64
	}{
		"lost":           {[]disputeStep{{"take", 1999}}, 1999},
		"won":            {[]disputeStep{{"take", 1999}, {"return", 1999}}, 0},
		"won, then lost": {[]disputeStep{{"take", 1999}, {"return", 1999}, {"again", 1999}}, 1999},
		"partly won":     {[]disputeStep{{"take", 1999}, {"return", 500}}, 1499},
	}
	for kind, c := range disputeRounds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			name, _, _ := strings.Cut(kind, ",")
			config := disputingProviders[name].config
			if name == "sandbox" || name == "standard" {
				config.Secrets = []string{"whsec_a2luZHNraW5kc2tpbmRza2luZHNraW5kc2tpbmRz"}
			}
			v, sign := signer(t, name, config)
			n := 0
			for course, want := range courses {
				if course == "partly won" && !c.parts {
					continue
				}
				for _, order := range permutations(len(want.steps)) {
					n++
					a := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", n)), "tok_success").Attempt
					for _, i := range append(order, order[0]) {
						at := disputeEpoch.Add(time.Duration(i+1) * time.Hour)
						r.notify(t, v, sign(t, c.body(want.steps[:i+1], fmt.Sprintf("D%d", n), a.ProviderPaymentID, at)))
						r.retry(t, true)
					}
					_, err := r.Ask(t.Context(), a.ID, byTest)
					require.NoError(t, err)
					require.Equal(t, want.want, r.attempt(t, a.ID).AmountDisputed(), "%s %v: %s", course, order, r.disputeMoney(t, a.ID))
				}
			}
			require.Empty(t, r.verify(t))
		})
	}
	named := []string{}
	for kind := range disputeRounds {
		name, _, _ := strings.Cut(kind, ",")
		named = append(named, name)
	}
	for kind := range disputeCourses {
		require.Contains(t, named, kind, "each kind that reports disputes has its rounds")
	}
}

// providerCase is a course of deliveries as a provider's description has it.
type providerCase struct {
	Account  string            `json:"account"`
	Events   []json.RawMessage `json:"events"`
	Currency string            `json:"currency"`
}

// deliveredCase signs the deliveries of a case, each in the form of its kind, about an attempt of 19.99.
func deliveredCase(t *testing.T, name, kind string, config webhooks.Config) (*env, attempt) {
	t.Helper()
	raw, err := os.ReadFile(published.Path(t, published.Cases, name+".json"))
	require.NoError(t, err)
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	text := strings.NewReplacer("{attempt}", a.ID.String(), "{run}", "1", "ATTEMPT", a.ID.String(), "INR", "EUR", "47987518DF175504N", a.ProviderPaymentID, "pay_{run}", a.ProviderPaymentID).Replace(string(raw))
	var c providerCase
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	v, sign := signer(t, kind, config)
	for _, e := range c.Events {
		body := string(e)
		if kind == "adyen" {
			body = `{"live":"false","notificationItems":[{"NotificationRequestItem":` + body + `}]}`
		}
		r.notify(t, v, sign(t, body))
		r.retry(t, true)
	}
	require.Empty(t, r.verify(t))
	return r, r.attempt(t, a.ID)
}

func disputeStates(a attempt) (all []string) {
	for _, d := range a.Disputes {
		all = append(all, fmt.Sprintf("%s by %s", d.State, d.DueBy.UTC().Format(time.DateOnly)))
	}
	slices.Sort(all)
	return all
}

// The courses that the providers' documentation describes, and the expected state after each.
func TestProviderCases(t *testing.T) {
	t.Parallel()
	adyenKeys := disputingProviders["adyen"].config
	for name, c := range map[string]struct {
		kind     string
		config   webhooks.Config
		disputed int64
		states   []string
	}{
		"adyen-lost-chargeback": {"adyen", adyenKeys, 2199, []string{"lost by 0001-01-01"}},
		"adyen-prearbitration":  {"adyen", adyenKeys, 1999, []string{"lost by 2026-12-05"}},
		"checkout-rdr":          {"checkout", textSecret, 1999, []string{"accepted by 0001-01-01"}},
		"razorpay-onset":        {"razorpay", textSecret, 1999, []string{"open by 2026-11-30"}},
		"stripe-appeal":         {"stripe", textSecret, 1999, []string{"open by 2026-12-11"}},
		"paypal-own-refund":     {"paypal", webhooks.Config{}, 0, []string{"lost by 0001-01-01"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := deliveredCase(t, name, c.kind, c.config)
			require.Equal(t, c.disputed, a.AmountDisputed(), "%+v", a.Movements)
			require.Equal(t, c.states, disputeStates(a))
		})
	}
}
