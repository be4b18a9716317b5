package mollie_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/mollie"
)

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	eur := func(minor int64) *payment.Money { return new(euro(minor)) }
	for members, want := range map[string]gateway.Outcome{
		`"status":"open"`:       {Event: fsm.EventProcessing},
		`"status":"pending"`:    {Event: fsm.EventProcessing},
		`"status":"marinating"`: {Event: fsm.EventProcessing},
		`"status":"open","_links":{"checkout":{"href":"https://m/c"}}`: {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://m/c")},
		`"status":"authorized"`: {Event: fsm.EventAuthorized, Money: eur(1999)},
		`"status":"authorized","amountCaptured":{"currency":"EUR","value":"0.00"}`: {Event: fsm.EventAuthorized, Money: eur(1999)},
		`"status":"authorized","amountCaptured":{"currency":"EUR","value":"5.00"}`: {Event: fsm.EventSucceeded, Money: eur(500)},
		`"status":"authorized","_embedded":{"captures":[{"status":"failed"}]}`:     {Event: fsm.EventAuthorized, Money: eur(1999)},
		`"status":"authorized","_embedded":{"captures":[{"status":"pending"}]}`:    {Event: fsm.EventProcessing},
		`"status":"authorized","_embedded":{"captures":[{"status":"succeeded"}]}`:  {Event: fsm.EventProcessing},
		`"status":"paid"`: {Event: fsm.EventSucceeded, Money: eur(1999)},
		`"status":"paid","amountCaptured":{"currency":"EUR","value":"5.00"}`:    {Event: fsm.EventSucceeded, Money: eur(500)},
		`"status":"paid","amountRefunded":{"currency":"EUR","value":"19.99"}`:   {Event: fsm.EventSucceeded, Money: eur(1999)},
		`"status":"paid","amountChargedBack":{"currency":"EUR","value":"0.00"}`: {Event: fsm.EventSucceeded, Money: eur(1999)},
		`"status":"paid","amountChargedBack":{"currency":"EUR","value":"7.00"}`: {Event: fsm.EventSucceeded, Money: eur(1999), Movements: []payment.MovementReport{{Kind: payment.MovementChargeback, Money: *eur(700)}}},
		`"status":"paid","amountChargedBack":{"currency":"EUR","value":"7.00"},"_embedded":{"chargebacks":[{"id":"chb_1","amount":{"currency":"EUR","value":"7.00"},"reason":{"code":"AC01","description":"Account identifier incorrect"},"reversedAt":null},` +
			`{"id":"chb_2","amount":{"currency":"EUR","value":"5.00"},"createdAt":"2026-01-01T00:00:00.0Z","reversedAt":"2026-01-02T00:00:00+00:00"}]}`: {Event: fsm.EventSucceeded, Money: eur(1999), Movements: []payment.MovementReport{
			{Kind: payment.MovementChargeback, Dispute: "chb_1", Money: *eur(700)},
			{Kind: payment.MovementChargeback, Dispute: "chb_2", Money: *eur(500), At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
			{Kind: payment.MovementChargebackReversal, Dispute: "chb_2", Whole: true, Money: *eur(500), At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)},
		}, Disputes: []payment.DisputeReport{
			{ProviderID: "chb_1", Status: fsm.DisputeLost, Reason: "AC01", Money: eur(700)},
			{ProviderID: "chb_2", Status: fsm.DisputeWon, Money: eur(500), At: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)},
		}},
		`"status":"paid","metadata":{"payment_attempt_id":"att_1","n":5}`:       {Event: fsm.EventSucceeded, Money: eur(1999), References: []string{"att_1"}},
		`"status":"paid","metadata":"{\"payment_attempt_id\":\"att_1\"}"`:       {Event: fsm.EventSucceeded, Money: eur(1999), References: []string{"att_1"}},
		`"status":"paid","metadata":["att_1"]`:                                  {Event: fsm.EventSucceeded, Money: eur(1999)},
		`"status":"canceled"`:                                                   {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		`"status":"expired"`:                                                    {Event: fsm.EventFailed, Failure: payment.NewFailure("expired", "")},
		`"status":"failed","details":null`:                                      {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"status":"failed","details":{"failureReason":"possible_fraud"}`:        {Event: fsm.EventFailed, Failure: payment.NewFailure("fraud_suspected", "possible_fraud")},
		`"status":"failed","details":{"failureReason":"authentication_failed"}`: {Event: fsm.EventFailed, Failure: payment.NewFailure("authentication_failed", "authentication_failed")},
		`"status":"failed","statusReason":{"code":"insufficient_funds"}`:        {Event: fsm.EventFailed, Failure: payment.NewFailure("insufficient_funds", "insufficient_funds")},
		`"status":"failed","details":{"failureReason":"unknown_reason"}`:        {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "unknown_reason")},
	} {
		c := says(t, http.StatusOK, `{"resource":"payment","id":"tr_1","amount":{"currency":"EUR","value":"19.99"},`+members+`}`)
		got, err := c.Lookup(t.Context(), "tr_1")
		require.NoError(t, err, members)
		want.ProviderPaymentID = "tr_1"
		require.Equal(t, want, got, members)
	}
}

// The adapter reads the payments in the samples of Mollie's libraries.
func TestPublishedSamplesAreRead(t *testing.T) {
	t.Parallel()
	dir := published.Path(t, published.Payloads, "mollie")
	for status, want := range map[string]fsm.Event{
		"open": fsm.EventActionRequired, "pending": fsm.EventProcessing, "authorized": fsm.EventAuthorized, "paid": fsm.EventSucceeded,
		"failed": fsm.EventFailed, "canceled": fsm.EventFailed, "expired": fsm.EventFailed,
	} {
		raw, err := os.ReadFile(filepath.Join(dir, "api_payment_"+status+".json"))
		require.NoError(t, err)
		got, err := says(t, http.StatusOK, string(raw)).Lookup(t.Context(), "tr_7UhSN1zuXS")
		require.NoError(t, err)
		require.Equal(t, want, got.Event, status)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "api_refund.json"))
	require.NoError(t, err)
	got, err := says(t, http.StatusOK, string(raw)).LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "tr_1", ProviderRefundID: "re_4qqhO89gsT"})
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{Event: fsm.EventProcessing, ProviderRefundID: "re_4qqhO89gsT", Money: new(euro(595))}, got)
}

// An invalid amount is not rounded, and a missing amount is not zero.
func TestAnAmountThatIsNoneIsUnknown(t *testing.T) {
	t.Parallel()
	for _, members := range []string{
		`"status":"paid"`, `"status":"authorized"`, `"status":"paid","amount":{"currency":"JPY","value":"19.99"}`,
		`"status":"paid","amount":{"currency":"EUR","value":"19.99"},"amountCaptured":{"currency":"EUR","value":"x"}`,
		`"status":"paid","amount":{"currency":"EUR","value":"19.99"},"amountChargedBack":{"currency":"EUR","value":"-1"}`,
	} {
		_, err := says(t, http.StatusOK, `{"resource":"payment","id":"tr_1",`+members+`}`).Lookup(t.Context(), "tr_1")
		require.Error(t, err, members)
	}
	_, err := says(t, http.StatusOK, `{"resource":"refund","id":"re_1","status":"refunded"}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "re_1"})
	require.Error(t, err)
}

// A signed event and a lookup of a payment must agree.
func TestLookupsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ status, captured string }{
		{"pending", ""},
		{"authorized", ""},
		{"paid", ""},
		{"failed", ""},
		{"canceled", ""},
		{"expired", ""},
		{"authorized", "0.00"},
		{"paid", "0.00"},
		{"paid", "10.00"},
		{"paid", "19.99"},
	} {
		status := c.status
		payload := `{"resource":"payment","id":"tr_1","metadata":{"payment_attempt_id":"att_1"},"amount":{"currency":"EUR","value":"19.99"},"status":"` + status + `"`
		if c.captured != "" {
			payload += `,"amountCaptured":{"currency":"EUR","value":"` + c.captured + `"}`
		}
		payload += `}`
		told := event(t, "payment."+status, "tr_1", payload)
		found, err := says(t, http.StatusOK, payload).Lookup(t.Context(), "tr_1")
		require.NoError(t, err)
		require.EqualValues(t, told.Kind, found.Event, "kinds and news have the same words")
		require.Equal(t, told.ProviderPaymentID, found.ProviderPaymentID)
		require.Equal(t, told.References, append(found.References, found.ProviderPaymentID))
		if found.Failure != nil {
			require.Equal(t, string(told.FailureCode), found.Failure.Code)
		}
		if found.Money != nil {
			require.Equal(t, payment.Money{Minor: told.Money.Minor, Currency: payment.Currency(told.Money.Currency)}, *found.Money)
		}
	}
}

// A failure has the same reason in the webhook and in the lookup, so their order does not matter.
func TestFailuresAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	reasons := []string{`"details":null,"statusReason":null`, `"details":{"failureReason":null}`, `"details":{},"statusReason":{"code":"insufficient_funds","message":"m"}`}
	for _, reason := range []string{
		"authentication_abandoned", "authentication_failed", "authentication_required", "authentication_unavailable_acs", "card_declined",
		"card_expired", "inactive_card", "insufficient_funds", "invalid_cvv", "invalid_card_holder_name", "invalid_card_number",
		"invalid_card_type", "possible_fraud", "refused_by_issuer", "unknown_reason",
	} {
		reasons = append(reasons, `"details":{"failureReason":"`+reason+`"}`)
	}
	for _, reason := range reasons {
		payload := `{"resource":"payment","id":"tr_1","amount":{"currency":"EUR","value":"19.99"},"status":"failed",` + reason + `}`
		told := event(t, "payment.failed", "tr_1", payload)
		found, err := says(t, http.StatusOK, payload).Lookup(t.Context(), "tr_1")
		require.NoError(t, err)
		require.Equal(t, found.Failure, payment.NewFailure(told.FailureCode, told.ProviderCode), reason)
	}
}

func TestRefundsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindRefundPending: fsm.EventProcessing, webhooks.KindRefundSucceeded: fsm.EventSucceeded, webhooks.KindRefundFailed: fsm.EventFailed,
	}
	for _, status := range []string{"queued", "pending", "processing", "refunded", "failed", "canceled"} {
		payload := `{"resource":"refund","id":"re_1","paymentId":"tr_1","metadata":{"refund_id":"r1"},"amount":{"currency":"EUR","value":"5.00"},"status":"` + status + `"}`
		told := event(t, "refund."+status, "re_1", payload)
		found, err := says(t, http.StatusOK, payload).LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "tr_1", ProviderRefundID: "re_1"})
		require.NoError(t, err)
		require.Equal(t, news[told.Kind], found.Event, status)
		require.Equal(t, told.RefundID, found.ProviderRefundID)
		require.Equal(t, "r1", told.RefundReference)
		require.Equal(t, "r1", found.Reference, "an event that needs this answer is matched by it")
		if found.Failure != nil {
			require.Equal(t, string(told.FailureCode), found.Failure.Code)
		}
	}
}

// An event that contains only a refund's id is sufficient to look the refund up.
func TestARefundThatAnEventOnlyNamesIsLookedUp(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	paid := charged(t, c, charge("cst_1"))
	made, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: paid.ProviderPaymentID, Money: euro(500), IdempotencyKey: "k", Permit: permit()})
	require.NoError(t, err)
	told := read(t, `{"resource":"event","id":"event_1","type":"refund.pending","entityId":"`+made.ProviderRefundID+`",
		"_links":{"entity":{"href":"/v2/payments/`+paid.ProviderPaymentID+`/refunds/`+made.ProviderRefundID+`"}}}`)
	require.True(t, told.NeedsFetch)
	found, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: told.RefundID, ProviderPaymentID: told.ProviderPaymentID})
	require.NoError(t, err)
	require.Equal(t, made, found)
}

// event returns the event that the verifier reads from a signed event with a snapshot.
func event(t *testing.T, kind, id, entity string) webhooks.Event {
	t.Helper()
	return read(t, `{"resource":"event","id":"event_1","type":"`+kind+`","entityId":"`+id+`","_embedded":{"entity":`+entity+`}}`)
}

func read(t *testing.T, body string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"secret"}})
	require.NoError(t, err)
	d := webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{}, ReceivedAt: time.Now(),
		Body: []byte(body),
	}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}
