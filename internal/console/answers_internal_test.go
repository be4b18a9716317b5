package console

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	morning = time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	known   = support.Provider{
		RefundTime: "5 days later", RefundSource: "https://provider.example/refunds", Reasons: map[string]string{"not_received": "the goods did not arrive"},
	}
)

// shownText is the text of a part of a page, with single spaces.
func shownText(t *testing.T, part templ.Component) (text, markup string) {
	t.Helper()
	var b strings.Builder
	require.NoError(t, part.Render(t.Context(), &b))
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(b.String(), " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " "), b.String()
}

// A card of a dispute has the deadline, the reason in words and the way to the answer, and says nothing twice.
func TestACardOfADispute(t *testing.T) {
	t.Parallel()
	id := payment.AttemptID{1}
	entry := worklist.Entry{
		Discrepancy: payment.Discrepancy{
			Kind: payment.Disputed, AttemptID: &id, About: payment.AboutDispute, AboutID: "open dp_1", At: morning.Add(-time.Hour),
			Text: "The cardholder disputes this payment. The provider takes an answer until 2026-12-01 00:00 UTC.",
		},
		Dispute: payment.Dispute{ProviderDisputeID: "dp_1", Reason: "not_received", DueBy: morning.AddDate(0, 0, 4)}, ReadAt: morning,
		Circumstances: payment.Circumstances{Dispute: fsm.DisputeOpen},
	}
	c := card{Entry: entry, Reason: known.Reason(entry.Dispute.Reason), AnswerBy: deadline(support.Clocks{}, entry.Dispute.DueBy, morning), AtProvider: "https://provider.example/pay_1"}
	text, markup := shownText(t, content(c))
	for _, want := range []string{
		"Respond by 3 December 2026, 09:00 UTC, in 4 days", "Reason of the dispute the goods did not arrive (not_received)",
		"The cardholder disputes this payment.", "What to do: Respond to the provider before its deadline.", "Respond in the provider's dashboard",
	} {
		require.Equal(t, 1, strings.Count(text, want), "%s in %s", want, text)
	}
	require.NotContains(t, text, "2026-12-01", "the deadline of the opening may be another")
	require.Contains(t, markup, `href="https://provider.example/pay_1"`)
	changed := c
	changed.AnswerBy = deadline(support.Clocks{}, morning.AddDate(0, 0, 9), morning)
	require.NotEqual(t, c.Version(), changed.Version(), "a changed deadline changes the card of an open page")
	plain, _ := shownText(t, content(card{Entry: worklist.Entry{Discrepancy: payment.Discrepancy{Kind: payment.LateSuccess, Text: "Money came in."}, ReadAt: morning}}))
	require.NotContains(t, plain, "Respond by")
	require.NotContains(t, plain, "dashboard")
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Pacific/Auckland")
	require.NoError(t, err)
	for in, want := range map[time.Duration]string{
		0:                   "29 November 2026, 09:00 UTC, today",
		14 * time.Hour:      "29 November 2026, 23:00 UTC, today",
		15 * time.Hour:      "30 November 2026, 00:00 UTC, tomorrow",
		40 * time.Hour:      "1 December 2026, 01:00 UTC, in 2 days",
		-time.Hour:          "overdue: 29 November 2026, 08:00 UTC, earlier today",
		-10 * time.Hour:     "overdue: 28 November 2026, 23:00 UTC, yesterday",
		-24 * 3 * time.Hour: "overdue: 26 November 2026, 09:00 UTC, 3 days ago",
	} {
		require.Equal(t, want, deadline(support.Clocks{}, morning.Add(in), morning))
	}
	require.Equal(t, "30 November 2026, 12:00 NZDT, tomorrow", deadline(support.Clocks{Zone: zone}, morning.Add(14*time.Hour), morning))
	require.Equal(t, "the provider states no deadline", deadline(support.Clocks{}, time.Time{}, morning))
}

// A page of a payment has each refund's day, state and reference, and how long a bank takes.
func TestRefundsOfAPayment(t *testing.T) {
	t.Parallel()
	end := morning.Add(time.Hour)
	a := attemptView{Attempt: support.Attempt{Provider: known, Refunds: []support.ShownRefund{
		{Bank: "7453", Refund: payment.Refund{
			Money: payment.Money{Minor: 500, Currency: "EUR"}, State: fsm.RefundSucceeded, ProviderRefundID: "re_1", CreatedAt: morning.AddDate(0, 0, -2), FinalizedAt: &end,
		}},
		{Refund: payment.Refund{Money: payment.Money{Minor: 700, Currency: "EUR"}, State: fsm.RefundPending, CreatedAt: morning}},
	}}}
	text, markup := shownText(t, shownRefunds(a))
	require.Contains(t, text, "€7.00 pending 29 November 2026, the provider gave no reference")
	require.Contains(t, text, "€5.00 succeeded 29 November 2026, the bank's reference 7453 Copy the bank's reference the provider's reference re_1")
	require.Contains(t, text, "A refund reaches the customer 5 days later ( the provider's page ).")
	require.Contains(t, markup, `href="https://provider.example/refunds"`)
	a.Provider = support.Provider{}
	text, _ = shownText(t, shownRefunds(a))
	require.Contains(t, text, "The provider does not document how long the customer's bank takes.")
}

// A success has no green tick after its money went back.
func TestStateNow(t *testing.T) {
	t.Parallel()
	at := func(captured, refunded, disputed int64) payment.Attempt {
		return payment.Attempt{State: fsm.Succeeded, Captured: captured, Refunded: refunded, Disputed: disputed}
	}
	for want, a := range map[string]payment.Attempt{
		"succeeded succeeded":                at(100, 0, 0),  //nolint:dupword // a state twice, as words and as a tone
		"succeeded succeeded ":               at(100, 40, 0), //nolint:dupword // a state twice, as words and as a tone
		"refunded returned":                  at(100, 100, 0),
		"charged back returned":              at(100, 0, 100),
		"refunded and charged back returned": at(100, 40, 60),
		"failed failed":                      {State: fsm.Failed}, //nolint:dupword // a state twice, as words and as a tone
	} {
		require.Equal(t, strings.TrimSpace(want), stateNow(a)+" "+stateClass(a))
	}
}

// The reason of a dispute is in words, and an unknown code stands as it is.
func TestDisputesOfAPayment(t *testing.T) {
	t.Parallel()
	closed := morning
	a := attemptView{Now: morning, AtProvider: "https://provider.example/pay_1", Attempt: support.Attempt{Provider: known}}
	a.Disputes = []payment.Dispute{
		{ProviderDisputeID: "dp_1", State: fsm.DisputeOpen, Reason: "not_received", DueBy: morning.AddDate(0, 0, 1)},
		{ProviderDisputeID: "dp_2", State: fsm.DisputeWon, Reason: "new_code", ClosedAt: &closed},
	}
	text, markup := shownText(t, disputes(a))
	require.Contains(t, text, "dp_1 needs an answer the goods did not arrive (not_received) , response due by 30 November 2026, 09:00 UTC, tomorrow Respond in the provider's dashboard")
	require.Contains(t, text, "dp_2 won the provider's code new_code , closed 2026-11-29 09:00:00")
	require.Equal(t, 1, strings.Count(markup, "https://provider.example/pay_1"))
}
