package checkout_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/checkout"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB) *checkout.Verifier {
	tb.Helper()
	v, err := checkout.New(webhooks.Config{Secrets: []string{"checkout-key"}})
	require.NoError(tb, err)
	return v
}

// checkoutBody returns an event with these members in its data.
func checkoutBody(eventType, members string) string {
	return fmt.Sprintf(`{"id":"evt_1","type":%q,"timestamp":"2026-03-14T15:09:20.5+00:00","data":{%s}}`, eventType, members)
}

const (
	checkoutPayment = `"id":"pay_1","action_id":"act_1","reference":"att_1","amount":1999,"currency":"EUR","metadata":{"refund_id":"ref_1"}`
	checkoutDispute = `"id":"dsp_1","payment_id":"pay_1","payment_reference":"att_1","amount":1999,"currency":"EUR"`
)

func TestEvent(t *testing.T) {
	t.Parallel()
	want := webhooks.Event{
		ID: "evt_1", IDSource: webhooks.Native, Type: "payment_captured", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "pay_1"}, ProviderPaymentID: "pay_1", MovementID: "act_1", CaptureReference: "att_1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 5e8, time.UTC),
	}
	require.Equal(t, want, providertest.Parsed(t, newVerifier(t), checkoutBody("payment_captured", checkoutPayment)))
	older := `{"id":"evt_1","type":"payment_captured","created_on":"2026-03-14T15:09:20.5Z","data":{` + checkoutPayment + `}}`
	require.Equal(t, want, providertest.Parsed(t, newVerifier(t), older))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	declined := func(code string) string {
		return checkoutBody("payment_declined", checkoutPayment+`,"response_code":"`+code+`"`)
	}
	providertest.Says(t, newVerifier(t), map[string]string{
		checkoutBody("payment_pending", checkoutPayment):                                     "processing 1999 EUR of att_1 pay_1",
		checkoutBody("payment_approved", checkoutPayment):                                    "authorized 1999 EUR of att_1 pay_1",
		checkoutBody("payment_capture_declined", checkoutPayment+`,"response_code":"20051"`): "soft_failed 1999 EUR of att_1 pay_1 moving act_1 for provider_rejected/20051",
		checkoutBody("payment_void_declined", checkoutPayment):                               "processing 1999 EUR of att_1 pay_1",
		checkoutBody("payment_canceled", checkoutPayment):                                    "failed 1999 EUR of att_1 pay_1 for canceled/",
		checkoutBody("payment_voided", checkoutPayment):                                      "failed 1999 EUR of att_1 pay_1 for canceled/",
		checkoutBody("payment_expired", checkoutPayment):                                     "failed 1999 EUR of att_1 pay_1 for expired/",
		checkoutBody("payment_returned", checkoutPayment):                                    "reversed 1999 EUR of att_1 pay_1 moving act_1",
		checkoutBody("payment_refund_pending", checkoutPayment):                              "refund_pending 1999 EUR of att_1 pay_1 by act_1/ref_1",
		checkoutBody("payment_refunded", checkoutPayment):                                    "refund_succeeded 1999 EUR of att_1 pay_1 by act_1/ref_1",
		checkoutBody("payment_refund_declined", checkoutPayment+`,"response_code":"20051"`):  "refund_failed 1999 EUR of att_1 pay_1 by act_1/ref_1 for provider_rejected/20051",
		checkoutBody("dispute_received", checkoutDispute):                                    "disputed 1999 EUR of att_1 pay_1",
		checkoutBody("dispute_lost", checkoutDispute):                                        "chargeback 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("dispute_expired", checkoutDispute):                                     "chargeback 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("dispute_accepted", checkoutDispute):                                    "chargeback 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("dispute_arbitration_lost", checkoutDispute):                            "chargeback 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("dispute_evidence_required", checkoutDispute):                           "chargeback 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("payment_chargeback", checkoutPayment):                                  "disputed 1999 EUR of att_1 pay_1",
		checkoutBody("dispute_won", checkoutDispute):                                         "chargeback_reversed 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("dispute_canceled", checkoutDispute):                                    "chargeback_reversed 1999 EUR of att_1 pay_1 moving dsp_1",
		checkoutBody("card_verified", checkoutPayment):                                       "ignored",
		declined("20051"): "failed 1999 EUR of att_1 pay_1 for insufficient_funds/20051",
		declined("20154"): "failed 1999 EUR of att_1 pay_1 for authentication_failed/20154",
		declined("20005"): "failed 1999 EUR of att_1 pay_1 for card_declined/20005",
		declined("30043"): "failed 1999 EUR of att_1 pay_1 for fraud_suspected/30043",
		declined("40101"): "failed 1999 EUR of att_1 pay_1 for fraud_suspected/40101",
		declined(""):      "failed 1999 EUR of att_1 pay_1 for provider_rejected/",
		checkoutBody("payment_captured", `"id":"pay_1","amount":1990,"currency":"KWD","metadata":{"payment_attempt_id":"att_2"}`): "succeeded 1990 KWD of att_2 pay_1",
		checkoutBody("payment_captured", `"id":"pay_1","amount":500,"currency":"JPY"`):                                            "succeeded 500 JPY of pay_1",
		checkoutBody("payment_captured", `"id":"pay_1","amount":50000,"currency":"CLP"`):                                          "succeeded 500 CLP of pay_1",
	})
}

func TestSaysWhichCommandIsNotCarriedOut(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]webhooks.Command{
		"payment_capture_declined": webhooks.CommandCapture, "payment_void_declined": webhooks.CommandCancel, "payment_declined": "", "payment_pending": "",
	} {
		e := providertest.Parsed(t, newVerifier(t), checkoutBody(name, checkoutPayment))
		require.Equal(t, want, e.Refuses, name)
	}
}

// In a payment session the customer may try again after a payment that failed, unless the merchant voided it.
func TestAFailedTryLeavesItsSessionOpen(t *testing.T) {
	t.Parallel()
	const inSession = `"id":"pay_1","amount":1999,"currency":"EUR","metadata":{"payment_attempt_id":"att_1","cko_payment_session_id":"ps_1"}`
	for name, want := range map[string]bool{
		"payment_declined": true, "payment_canceled": true, "payment_expired": true, "payment_voided": false, "payment_captured": false,
	} {
		e := providertest.Parsed(t, newVerifier(t), checkoutBody(name, inSession))
		require.Equal(t, want, e.PageOpen, name)
		require.Equal(t, "ps_1", e.Container)
		require.False(t, providertest.Parsed(t, newVerifier(t), checkoutBody(name, checkoutPayment)).PageOpen, "%s: there is no session", name)
	}
}

// TestReadsItsBrokenJSON: the body of issue 408 of the official Node SDK.
func TestReadsItsBrokenJSON(t *testing.T) {
	t.Parallel()
	broken := "{\"id\":\"evt_1\",\"type\":\"authentication_failed\",\"created_on\":\"2026-03-14T15:09:20Z\",\n\uFFFD\n{\"amount\":\"1000\"}}"
	e := providertest.Parsed(t, newVerifier(t), broken)
	require.Equal(t, webhooks.Event{
		ID: "evt_1", IDSource: webhooks.Native, Type: "authentication_failed", Kind: webhooks.KindIgnored,
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
	}, e)
	otherType := "{\"id\":\"evt_1\",\"type\":\"payment_captured\",\n\uFFFD\n{}}"
	providertest.Unreadable(t, newVerifier(t), otherType, broken+"}", "{\uFFFD\uFFFD", ``, `{}`, `{"id":"e","type":"payment_captured"}`,
		checkoutBody("payment_captured", `"amount":"1"`), checkoutBody("payment_captured", `"amount":1,"currency":"CLP"`))
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	body := checkoutBody("payment_captured", checkoutPayment)
	config := webhooks.Config{Secrets: []string{"checkout-key"}, Params: map[string]string{"authorization": "let-me-in"}}
	providertest.Rotation(t, checkout.New, body, config)
	v := providertest.Made(t, checkout.New, config)
	d := providertest.Signed(t, v, body)
	require.Equal(t, "let-me-in", d.Header.Get("Authorization"))
	for value, want := range map[string]error{"": webhooks.ErrSignatureMissing, "let-me-out": webhooks.ErrSignatureInvalid} {
		d.Header.Set("Authorization", value)
		require.ErrorIs(t, providertest.Refused(t, v, d), want)
	}
	d.Header["Authorization"] = []string{"let-me-in", "let-me-in"}
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid)
	d.Header.Del("Cko-Signature")
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureMissing)
}

func ExampleVerifier_Verify() {
	checkout, err := checkout.New(webhooks.Config{
		Secrets: []string{"signature-key"}, Params: map[string]string{"authorization": "a text of yours"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"id":"evt_1","type":"payment_captured","data":` +
		`{"id":"pay_1","reference":"att_1","amount":1999,"currency":"EUR"}}`)}
	if err := checkout.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := checkout.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// succeeded [att_1 pay_1] {1999 EUR}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		checkoutBody("payment_captured", checkoutPayment), checkoutBody("dispute_lost", checkoutDispute),
		checkoutBody("payment_declined", checkoutPayment+`,"response_code":"20051"`), ``,
		"{\"id\":\"e\",\"type\":\"authentication_failed\",\uFFFD{}}", "\"authentication_failed\"\uFFFD",
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := providertest.Made(f, checkout.New, webhooks.Config{Secrets: []string{"k"}, Params: map[string]string{"authorization": "let-me-in"}})
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"Cko-Signature"}, place, mask)
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, checkout.FailureCode, map[string]string{
		"card_declined": "20005|20001|30004", "insufficient_funds": "20051", "authentication_failed": "20151|20152|20154|20155",
		"fraud_suspected": "20059|30034|30041|30043|40101", "provider_rejected": "|10000|50001",
	})
}
