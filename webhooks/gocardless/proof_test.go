package gocardless_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/gocardless"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB) *gocardless.Verifier {
	tb.Helper()
	v, err := gocardless.New(webhooks.Config{Secrets: []string{"gocardless-secret"}})
	require.NoError(tb, err)
	return v
}

// gocardlessItem returns an event with these further members.
func gocardlessItem(id, resource, action, members string) string {
	return fmt.Sprintf(`{"id":%q,"created_at":"2026-03-14T15:09:20.000Z","resource_type":%q,"action":%q%s}`, id, resource, action, members)
}

func gocardlessBody(items ...string) string {
	return `{"events":[` + strings.Join(items, ",") + `],"meta":{"webhook_id":"WB1"}}`
}

const (
	gocardlessPayment = `,"links":{"payment":"PM1"}`
	gocardlessRefund  = `,"links":{"refund":"RF1"}`
)

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "EV1", IDSource: webhooks.Native, Type: "payments.confirmed", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "PM1"}, ProviderPaymentID: "PM1", NeedsFetch: true,
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), gocardlessBody(gocardlessItem("EV1", "payments", "confirmed",
		gocardlessPayment+`,"resource_metadata":{"payment_attempt_id":"att_1"}`))))
}

// A billing request names its payment, too: the events of that are then matched by either.
func TestFulfilledRequestNamesItsPayment(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), gocardlessBody(gocardlessItem("EV1", "billing_requests", "fulfilled",
		`,"links":{"billing_request":"BRQ1","payment_request_payment":"PM1"},"resource_metadata":{"payment_attempt_id":"att_1"}`)))
	require.Equal(t, []string{"att_1", "PM1", "BRQ1"}, e.References)
	require.Equal(t, []string{"PM1", "BRQ1"}, []string{e.ProviderPaymentID, e.Container})
	require.True(t, e.NeedsFetch)
}

func TestKinds(t *testing.T) {
	t.Parallel()
	says := map[string]string{}
	for action, want := range map[string]string{
		"created": "processing of PM1, ask", "customer_approval_granted": "processing of PM1, ask", "submitted": "processing of PM1, ask", "resubmission_requested": "processing of PM1, ask",
		"confirmed": "succeeded of PM1, ask", "paid_out": "succeeded of PM1, ask",
		"failed": "undone of PM1 for provider_rejected/, ask", "cancelled": "failed of PM1 for canceled/, ask",
		"customer_approval_denied": "failed of PM1 for canceled/, ask",
		"charged_back":             "chargeback of PM1 moving PM1, ask", "chargeback_settled": "chargeback of PM1, ask",
		"late_failure_settled": "undone of PM1 for provider_rejected/, ask", "chargeback_cancelled": "chargeback_reversed of PM1 moving PM1, ask", "surcharge_fee_debited": "ignored",
	} {
		says[gocardlessBody(gocardlessItem("EV1", "payments", action, gocardlessPayment))] = want
	}
	for action, want := range map[string]string{
		"created": "refund_pending by RF1/, ask", "submitted": "refund_pending by RF1/, ask", "refund_settled": "refund_pending by RF1/, ask", "paid": "refund_succeeded by RF1/, ask",
		"failed": "refund_failed by RF1/ for provider_rejected/, ask", "bounced": "refund_failed by RF1/ for provider_rejected/, ask",
		"funds_returned": "refund_failed by RF1/ for provider_rejected/, ask", "cancelled": "refund_failed by RF1/ for canceled/, ask", "x": "ignored",
	} {
		says[gocardlessBody(gocardlessItem("EV1", "refunds", action, gocardlessRefund))] = want
	}
	failed := func(details string) string {
		return gocardlessBody(gocardlessItem("EV1", "payments", "failed", gocardlessPayment+`,"details":{`+details+`}`))
	}
	says[failed(`"cause":"insufficient_funds"`)] = "undone of PM1 for insufficient_funds/insufficient_funds, ask"
	says[failed(`"cause":"insufficient_funds","will_attempt_retry":true`)] = "soft_failed of PM1 for insufficient_funds/insufficient_funds, ask"
	request := func(action, links string) string {
		return gocardlessBody(gocardlessItem("EV1", "billing_requests", action, `,"links":`+links+`,"resource_metadata":{"payment_attempt_id":"att_1"}`))
	}
	says[request("fulfilled", `{"billing_request":"BRQ1","payment_request_payment":"PM1"}`)] = "processing of att_1 PM1 BRQ1, ask"
	says[request("fulfilled", `{"billing_request":"BRQ1","mandate_request_mandate":"MD1"}`)] = "ignored"
	says[request("flow_visited", `{"billing_request":"BRQ1","payment_request_payment":"PM1"}`)] = "ignored"
	says[gocardlessBody(gocardlessItem("EV1", "mandates", "cancelled", `,"links":{"mandate":"MD1"}`))] = "method_removed"
	providertest.Says(t, newVerifier(t), says)
}

func TestSplitsABatch(t *testing.T) {
	t.Parallel()
	const full = 250
	items := make([]string, full)
	for i := range items {
		items[i] = gocardlessItem(fmt.Sprintf("EV%d", i), "payments", "confirmed", gocardlessPayment)
	}
	v := newVerifier(t)
	events, err := v.Verify(t.Context(), providertest.Signed(t, v, gocardlessBody(items...)))
	require.NoError(t, err)
	require.Len(t, events, full)
	for i, e := range events {
		providertest.RequireSound(t, e)
		require.Equal(t, fmt.Sprintf("EV%d", i), e.ID)
	}
}

// TestTakesBodiesTheOfficialGoLibraryRefuses: that one does not hash a line feed at the end when the JSON
// ends where its reader's buffer does.
func TestTakesBodiesTheOfficialGoLibraryRefuses(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, size := range []int{513, 1537, 3585} {
		body := gocardlessBody(gocardlessItem("EV1", "payments", "confirmed", gocardlessPayment+`,"pad":"%s"`))
		body = strings.Replace(body, "%s", strings.Repeat("x", size-len(body)+1), 1) + "\n"
		require.Len(t, body, size)
		d := providertest.Signed(t, v, body)
		_, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
		d.Body = d.Body[:size-1]
		require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid)
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	body := gocardlessBody(gocardlessItem("EV1", "mandates", "x", ""), gocardlessItem("EV2", "mandates", "x", ""))
	providertest.Rotation(t, gocardless.New, body, webhooks.Config{})
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t), webhooks.Delivery{Body: []byte(body)}), webhooks.ErrSignatureMissing)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), ``, `{}`, `{"events":{}}`, gocardlessBody(),
		gocardlessBody(`{}`), gocardlessBody(gocardlessItem("EV1", "payments", "confirmed", "")))
}

// TestBatch: an event that can't be read is in the way of no other.
func TestBatch(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := gocardlessItem("EV1", "payments", "confirmed", gocardlessPayment)
	d := providertest.Signed(t, v, gocardlessBody(`{"id":5}`, good, `[]`, gocardlessItem("EV2", "payments", "failed", "")))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 4)
	for place, kind := range []webhooks.Kind{webhooks.KindUnreadable, webhooks.KindSucceeded, webhooks.KindUnreadable, webhooks.KindUnreadable} {
		providertest.RequireSound(t, events[place])
		require.Equal(t, kind, events[place].Kind)
		if kind == webhooks.KindUnreadable {
			require.Equal(t, place, events[place].Place)
		}
	}
	require.Equal(t, []string{"EV2", "payments.failed"}, []string{events[3].ID, events[3].Type})
	require.NotEqual(t, events[0].ID, events[2].ID)
}

func ExampleVerifier_Verify() {
	gocardless, err := gocardless.New(webhooks.Config{Secrets: []string{"endpoint-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"events":[` +
		`{"id":"EV1","resource_type":"payments","action":"confirmed","links":{"payment":"PM1"}},` +
		`{"id":"EV2","resource_type":"mandates","action":"created","links":{"mandate":"MD1"}}]}`)}
	if err := gocardless.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := gocardless.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.ID, e.Type, e.Kind, e.NeedsFetch)
	}
	d.Body = append(d.Body, '\n')
	_, err = gocardless.Verify(context.Background(), d)
	fmt.Println(errors.Is(err, webhooks.ErrSignatureInvalid))
	// Output:
	// <nil>
	// EV1 payments.confirmed succeeded true
	// EV2 mandates.created ignored false
	// true
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		gocardlessBody(gocardlessItem("EV1", "payments", "confirmed", gocardlessPayment), gocardlessItem("EV2", "refunds", "failed", gocardlessRefund)),
		gocardlessBody(gocardlessItem("EV1", "payments", "failed", gocardlessPayment)) + "\n", `{"events":[]}`, `{"events":[{}]}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"Webhook-Signature"}, place, mask)
	})
}
