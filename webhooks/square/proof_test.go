package square_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/square"
)

var squareConfig = webhooks.Config{Secrets: []string{"square-key"}, PublicURL: "https://pay.example/webhooks/square?x=1"}

func newVerifier(tb testing.TB) *square.Verifier {
	tb.Helper()
	v, err := square.New(squareConfig)
	require.NoError(tb, err)
	return v
}

// squareBody returns an event with these members in its object.
func squareBody(eventType, object, members string) string {
	return fmt.Sprintf(`{"event_id":"e-1","type":%q,"created_at":"2026-03-14T15:09:20.5Z","data":{"id":"d-1","object":{%q:{%s}}}}`,
		eventType, object, members)
}

const (
	squarePaymentMembers = `"id":"p-1","reference_id":"att_1","order_id":"o-1","amount_money":{"amount":2000,"currency":"USD"}`
	squareRefundMembers  = `"id":"r-1","payment_id":"p-1","order_id":"o-1","amount_money":{"amount":500,"currency":"JPY"}`
	squareDisputeMembers = `"id":"x-1","amount_money":{"amount":2000,"currency":"USD"},"disputed_payment":{"payment_id":"p-1"}`
)

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "e-1", IDSource: webhooks.Native, Type: "payment.updated", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "p-1", "o-1"}, ProviderPaymentID: "p-1", Container: "o-1",
		Money:      &webhooks.Money{Minor: 2300, Currency: "USD"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 5e8, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), squareBody("payment.updated", "payment",
		squarePaymentMembers+`,"status":"COMPLETED","total_money":{"amount":2300,"currency":"USD"}`)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	payment := func(members string) string {
		return squareBody("payment.updated", "payment", squarePaymentMembers+members)
	}
	failed := func(code string) string {
		return payment(`,"status":"FAILED","card_details":{"errors":[{"code":"` + code + `"}]}`)
	}
	refund := func(status string) string {
		return squareBody("refund.updated", "refund", squareRefundMembers+`,"status":"`+status+`"`)
	}
	dispute := func(state string) string {
		return squareBody("dispute.state.updated", "dispute", squareDisputeMembers+`,"state":"`+state+`"`)
	}
	approved := `,"status":"APPROVED","approved_money":{"amount":900,"currency":"USD"}`
	test := `{"type":"webhooks.test_notification","event_id":"e-2","data":{}}`
	const payer, verify = " of att_1 p-1 o-1", "CARD_DECLINED_VERIFICATION_REQUIRED"
	providertest.Says(t, newVerifier(t), map[string]string{
		payment(`,"status":"PENDING"`):       "processing 2000 USD" + payer,
		payment(`,"status":"APPROVED"`):      "authorized 2000 USD" + payer,
		payment(approved):                    "authorized 900 USD" + payer,
		payment(`,"status":"COMPLETED"`):     "succeeded 2000 USD" + payer,
		payment(`,"status":"CANCELED"`):      "failed 2000 USD" + payer + " for canceled/",
		payment(`,"status":"FAILED"`):        "failed 2000 USD" + payer + " for provider_rejected/",
		payment(`,"status":"NEW"`):           "ignored" + payer,
		failed("INSUFFICIENT_FUNDS"):         "failed 2000 USD" + payer + " for insufficient_funds/INSUFFICIENT_FUNDS",
		failed("CVV_FAILURE"):                "failed 2000 USD" + payer + " for card_declined/CVV_FAILURE",
		failed(verify):                       "failed 2000 USD" + payer + " for authentication_failed/" + verify,
		refund("PENDING"):                    "refund_pending 500 JPY of p-1 o-1 by r-1/",
		refund("APPROVED"):                   "refund_pending 500 JPY of p-1 o-1 by r-1/",
		refund("COMPLETED"):                  "refund_succeeded 500 JPY of p-1 o-1 by r-1/",
		refund("REJECTED"):                   "refund_failed 500 JPY of p-1 o-1 by r-1/ for provider_rejected/REJECTED",
		refund("FAILED"):                     "refund_failed 500 JPY of p-1 o-1 by r-1/ for provider_rejected/FAILED",
		refund("NEW"):                        "ignored of p-1 o-1 by r-1/",
		dispute("INQUIRY_PROCESSING"):        "disputed 2000 USD of p-1",
		dispute("EVIDENCE_REQUIRED"):         "chargeback 2000 USD of p-1 moving x-1",
		dispute("PROCESSING"):                "chargeback 2000 USD of p-1 moving x-1",
		dispute("INQUIRY_EVIDENCE_REQUIRED"): "disputed 2000 USD of p-1",
		dispute("LOST"):                      "chargeback 2000 USD of p-1 moving x-1",
		dispute("ACCEPTED"):                  "chargeback 2000 USD of p-1 moving x-1",
		dispute("WON"):                       "chargeback_reversed 2000 USD of p-1 moving x-1",
		dispute("INQUIRY_CLOSED"):            "dispute_closed 2000 USD of p-1",
		squareBody("dispute.state.changed", "dispute", squareDisputeMembers+`,"state":"LOST"`): "chargeback 2000 USD of p-1 moving x-1",
		squareBody("catalog.x", "y", ""): "ignored",
		test:                             "ignored",
	})
}

func TestWithoutAnEventID(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), `{"type":"t","data":{"id":"d"}}`)
	require.Equal(t, webhooks.Derived, e.IDSource)
	require.Equal(t, "t:d:", e.ID)
}

func TestSignsTheAddress(t *testing.T) {
	t.Parallel()
	body := `{"event_id":"e-1"}`
	providertest.Rotation(t, square.New, body, squareConfig)
	d := providertest.Signed(t, newVerifier(t), body)
	for _, url := range []string{"https://pay.example/webhooks/square", "http://pay.example/webhooks/square?x=1", "https://pay.example/webhooks/square/?x=1"} {
		v := providertest.Made(t, square.New, webhooks.Config{Secrets: squareConfig.Secrets, PublicURL: url})
		require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid, url)
	}
	_, err := square.New(webhooks.Config{Secrets: squareConfig.Secrets})
	require.ErrorIs(t, err, webhooks.ErrConfig)
	d.Header = nil
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t), d), webhooks.ErrSignatureMissing)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), ``, `[]`,
		`{"type":"payment.created"}`, `{"type":"refund.created"}`, `{"type":"dispute.created"}`,
		squareBody("payment.created", "payment", `"status":"COMPLETED","amount_money":{"amount":-1,"currency":"USD"}`),
		squareBody("payment.created", "payment", `"amount_money":{"amount":"1","currency":"USD"}`))
}

func ExampleVerifier_Verify() {
	square, err := square.New(webhooks.Config{
		Secrets: []string{"signature-key"}, PublicURL: "https://pay.example/webhooks/square",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"event_id":"e-1","type":"payment.updated","data":{"object":{"payment":{"id":"p-1",` +
		`"status":"COMPLETED","reference_id":"att_1","amount_money":{"amount":1999,"currency":"EUR"}}}}}`)}
	if err := square.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := square.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.ID, e.Kind, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// e-1 succeeded [att_1 p-1] {1999 EUR}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		squareBody("payment.updated", "payment", squarePaymentMembers+`,"status":"COMPLETED"`),
		squareBody("refund.updated", "refund", squareRefundMembers+`,"status":"FAILED"`),
		squareBody("dispute.created", "dispute", squareDisputeMembers), `{"event_id":"e"}`, `{}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"X-Square-Hmacsha256-Signature"}, place, mask)
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, square.FailureCode, map[string]string{
		"card_declined": "CVV_FAILURE", "insufficient_funds": "INSUFFICIENT_FUNDS", "authentication_failed": "CARD_DECLINED_VERIFICATION_REQUIRED",
		"canceled": "BUYER_REFUSED_PAYMENT|DELAYED_TRANSACTION_CANCELED", "expired": "DELAYED_TRANSACTION_EXPIRED|CHECKOUT_EXPIRED",
		"provider_rejected": "TEMPORARY_ERROR|INTERNAL_SERVER_ERROR|GATEWAY_TIMEOUT",
	})
}
