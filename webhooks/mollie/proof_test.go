package mollie_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/mollie"
)

func newVerifier(tb testing.TB, secrets ...string) *mollie.Verifier {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{"mollie-secret"}
	}
	v, err := mollie.New(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

// mollieBody returns an event; entity is the snapshot, or empty.
func mollieBody(eventType, id, entity string) string {
	embedded := ""
	if entity != "" {
		embedded = `,"_embedded":{"entity":{` + entity + `}}`
	}
	return fmt.Sprintf(`{"resource":"event","id":"event_1","type":%q,"entityId":%q,"createdAt":"2026-03-14T15:09:20Z"%s}`,
		eventType, id, embedded)
}

const mollieSnapshot = `"mode":"test","amount":{"value":"19.99","currency":"EUR"},"metadata":{"payment_attempt_id":"att_1","refund_id":"ref_1","n":1}`

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "event_1", IDSource: webhooks.Native, Type: "payment.paid", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "tr_1"}, ProviderPaymentID: "tr_1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}, providertest.Parsed(t, newVerifier(t), mollieBody("payment.paid", "tr_1", mollieSnapshot)))
}

// A classic notice of a payment names the payment, one of an order or a link its container.
func TestClassicNoticeOfAContainer(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][]string{"tr_1": {"tr_1", ""}, "ord_1": {"", "ord_1"}, "pl_1": {"", "pl_1"}} {
		e := providertest.Parsed(t, classic{newVerifier(t)}, "id="+id)
		require.Equal(t, want, []string{e.ProviderPaymentID, e.Container})
		require.Equal(t, []string{id}, e.References)
		require.True(t, e.NeedsFetch)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	providertest.Says(t, newVerifier(t), map[string]string{
		mollieBody("payment.pending", "tr_1", ""):                                     "processing of tr_1, ask",
		mollieBody("payment.authorized", "tr_1", ""):                                  "authorized of tr_1, ask",
		mollieBody("payment.paid", "tr_1", ""):                                        "succeeded of tr_1, ask",
		mollieBody("payment.failed", "tr_1", mollieSnapshot):                          "failed 1999 EUR of att_1 tr_1 for provider_rejected/",
		mollieBody("payment.canceled", "tr_1", ""):                                    "failed of tr_1 for canceled/, ask",
		mollieBody("payment.expired", "tr_1", ""):                                     "failed of tr_1 for expired/, ask",
		mollieBody("payment-link.paid", "pl_1", ""):                                   "succeeded of pl_1, ask",
		mollieBody("capture.succeeded", "cpt_1", ""):                                  "succeeded, ask",
		mollieBody("capture.failed", "cpt_1", ""):                                     "authorized, ask",
		mollieBody("refund.queued", "re_1", ""):                                       "refund_pending by re_1/, ask",
		mollieBody("refund.pending", "re_1", ""):                                      "refund_pending by re_1/, ask",
		mollieBody("refund.processing", "re_1", ""):                                   "refund_pending by re_1/, ask",
		mollieBody("refund.refunded", "re_1", mollieSnapshot):                         "refund_succeeded 1999 EUR of att_1 by re_1/ref_1",
		mollieBody("refund.failed", "re_1", `"paymentId":"tr_1"`):                     "refund_failed of tr_1 by re_1/ for provider_rejected/, ask",
		mollieBody("refund.canceled", "re_1", ""):                                     "refund_failed by re_1/ for canceled/, ask",
		mollieBody("refund.failed", "re_2", `"metadata":"{\"refund_id\":\"ref_2\"}"`): "refund_failed by re_2/ref_2 for provider_rejected/, ask",
		mollieBody("chargeback.received", "chb_1", `"paymentId":"tr_1"`):              "chargeback of tr_1 moving chb_1, ask",
		mollieBody("chargeback.reversed", "chb_1", ""):                                "chargeback_reversed moving chb_1, ask",
		mollieBody("dispute.created", "dp_1", ""):                                     "disputed, ask",
		mollieBody("dispute.updated", "dp_1", ""):                                     "disputed, ask",
		mollieBody("dispute.resolved", "dp_1", ""):                                    "ignored",
		mollieBody("sales-invoice.paid", "invoice_1", ""):                             "ignored",
		`{"id":"tr_12345","event_type":"payment-link.paid"}`:                          "ignored",
	})
}

// A partly captured hold is paid once the rest is given up. Its amount does not change.
func TestPaidIsWhatWasCaptured(t *testing.T) {
	t.Parallel()
	const hold = `"amount":{"value":"19.99","currency":"EUR"},"amountCaptured":`
	providertest.Says(t, newVerifier(t), map[string]string{
		mollieBody("payment.paid", "tr_1", hold+`{"value":"10.00","currency":"EUR"}`):                                                   "succeeded 1000 EUR of tr_1",
		mollieBody("payment.paid", "tr_1", hold+`{"value":"0.00","currency":"EUR"}`):                                                    "succeeded 1999 EUR of tr_1",
		mollieBody("payment.paid", "tr_1", hold+`null`):                                                                                 "succeeded 1999 EUR of tr_1",
		mollieBody("capture.succeeded", "cpt_1", `"paymentId":"tr_1","status":"succeeded","amount":{"value":"10.00","currency":"EUR"}`): "succeeded 1000 EUR of tr_1",
	})
	providertest.Unreadable(t, newVerifier(t), mollieBody("payment.paid", "tr_1", hold+`{"value":"ten","currency":"EUR"}`))
}

func TestModeTellsATest(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]webhooks.Mode{`"mode":"test"`: webhooks.ModeTest, `"mode":"live"`: webhooks.ModeLive, `"mode":"new"`: "", "": ""} {
		e := providertest.Parsed(t, newVerifier(t), mollieBody("payment.paid", "tr_1", mode))
		require.Equal(t, want, e.Mode, mode)
	}
}

func TestCaptureThatFailedLeavesTheMoneyHeld(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "event_1", IDSource: webhooks.Native, Type: "capture.failed", Kind: webhooks.KindAuthorized, Refuses: webhooks.CommandCapture,
		References: []string{"att_1", "tr_1"}, ProviderPaymentID: "tr_1",
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}, providertest.Parsed(t, newVerifier(t), mollieBody("capture.failed", "cpt_1", mollieSnapshot+`,"paymentId":"tr_1","status":"failed"`)))
}

// Without a snapshot the payment's id is in the address of the resource.
func TestEventWithoutASnapshotNamesThePayment(t *testing.T) {
	t.Parallel()
	thin := func(eventType, id, href string) string {
		return fmt.Sprintf(`{"resource":"event","id":"event_1","type":%q,"entityId":%q,"_links":{"entity":{"href":%q,"type":"application/hal+json"}}}`,
			eventType, id, href)
	}
	providertest.Says(t, newVerifier(t), map[string]string{
		thin("refund.refunded", "re_1", "/v2/payments/tr_1/refunds/re_1"):                                   "refund_succeeded of tr_1 by re_1/, ask",
		thin("refund.failed", "re_1", "https://api.mollie.com/v2/payments/tr_1/refunds/re_1?testmode=true"): "refund_failed of tr_1 by re_1/ for provider_rejected/, ask",
		thin("capture.succeeded", "cpt_1", "/v2/payments/tr_1/captures/cpt_1"):                              "succeeded of tr_1, ask",
		thin("capture.failed", "cpt_1", "/v2/payments/tr_1/captures/cpt_1"):                                 "authorized of tr_1",
		thin("chargeback.received", "chb_1", "/v2/payments/tr_1/chargebacks/chb_1"):                         "chargeback of tr_1 moving chb_1, ask",
		thin("payment.paid", "tr_2", "/v2/payments/tr_1/"):                                                  "succeeded of tr_2, ask",
		thin("refund.refunded", "re_1", "/v2/payments/tr_1%2f..%2fx/refunds/re_1"):                          "refund_succeeded by re_1/, ask",
		thin("refund.refunded", "re_1", "/v2/payments/../refunds/re_1"):                                     "refund_succeeded by re_1/, ask",
		thin("refund.refunded", "re_1", "/v2/refunds/re_1"):                                                 "refund_succeeded by re_1/, ask",
	})
}

func TestClassic(t *testing.T) {
	t.Parallel()
	classicOnly, err := mollie.New(webhooks.Config{})
	require.NoError(t, err)
	for _, v := range []*mollie.Verifier{classicOnly, newVerifier(t)} {
		first := mollieNotice(t, v, providertest.Now)
		require.Equal(t, webhooks.Event{
			ID: first.ID, IDSource: webhooks.Derived, Kind: webhooks.KindNotice, References: []string{"tr_1"},
			ProviderPaymentID: "tr_1", NeedsFetch: true, SecretIndex: -1,
		}, first)
		require.NotEqual(t, first.ID, mollieNotice(t, v, providertest.Now.Add(time.Millisecond)).ID, "a notice is never a duplicate")
		for _, body := range []string{"", "id=", "id=tr_", "id=../../v2/profiles", "id=tr_1&id=tr_2", "id=tr_1%2f", "id=%", "[]", "x"} {
			require.ErrorIs(t, providertest.Refused(t, v, webhooks.Delivery{Body: []byte(body)}), webhooks.ErrPayload, body)
		}
	}
	require.ErrorIs(t, classicOnly.Sign(&webhooks.Delivery{}), webhooks.ErrConfig)
}

func mollieNotice(t *testing.T, v webhooks.Verifier, at time.Time) webhooks.Event {
	t.Helper()
	events, err := v.Verify(t.Context(), webhooks.Delivery{Body: []byte("id=tr_1"), ReceivedAt: at})
	require.NoError(t, err)
	providertest.RequireSound(t, events[0])
	return events[0]
}

func TestSignature(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, "new-secret", "old-secret")
	body := mollieBody("payment.paid", "tr_1", "")
	made := providertest.Signed(t, newVerifier(t, "new-secret"), body).Header.Get("X-Mollie-Signature")
	other := providertest.Signed(t, newVerifier(t, "other-secret"), body).Header.Get("X-Mollie-Signature")
	classicOnly, err := mollie.New(webhooks.Config{})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		v      webhooks.Verifier
		header []string
		body   string
		want   error
	}{
		"once":                          {v, []string{made}, body, nil},
		"twice, the second good":        {v, []string{other, made}, body, nil},
		"without the prefix":            {v, []string{made[len("sha256="):]}, body, nil},
		"twice, none good":              {v, []string{other, other}, body, webhooks.ErrSignatureInvalid},
		"none":                          {v, nil, body, webhooks.ErrSignatureMissing},
		"empty":                         {v, []string{""}, body, webhooks.ErrSignatureMissing},
		"beside a form":                 {v, []string{made}, "id=tr_1", webhooks.ErrSignatureInvalid},
		"JSON where only forms are due": {classicOnly, []string{made}, body, webhooks.ErrSignatureInvalid},
		"JSON, unsigned":                {classicOnly, nil, body, webhooks.ErrSignatureMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.v.Verify(t.Context(), webhooks.Delivery{
				Body: []byte(test.body), Header: http.Header{"X-Mollie-Signature": test.header}, ReceivedAt: providertest.Now,
			})
			require.ErrorIs(t, err, test.want)
		})
	}
	_, err = mollie.New(webhooks.Config{Secrets: []string{""}})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestSignedForm(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), "id=tr_1")
	require.Equal(t, webhooks.KindNotice, e.Kind)
	require.Zero(t, e.SecretIndex)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), `{`, `{}`, mollieBody("payment.paid", "", ""), mollieBody("payment.paid", "../x", ""),
		mollieBody("payment.paid", "tr_1", `"amount":{"value":"1,5","currency":"EUR"}`), mollieBody("payment.paid", "tr_1", `"amount":5`))
}

func ExampleVerifier_Verify() {
	mollie, err := mollie.New(webhooks.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte("id=tr_7UhSN1zuXS"), ReceivedAt: time.Unix(1773500966, 0)}
	events, err := mollie.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, e.NeedsFetch)
	}
	d.Body = []byte("id=../../v2/profiles")
	_, err = mollie.Verify(context.Background(), d)
	fmt.Println(errors.Is(err, webhooks.ErrPayload))
	// Output:
	// <nil>
	// notice [tr_7UhSN1zuXS] true
	// true
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		mollieBody("payment.paid", "tr_1", mollieSnapshot), mollieBody("refund.failed", "re_1", ""), "id=tr_1", "id=../x", `{}`, ``,
		`{"id":"whe_1","type":"payment-link.paid","entityId":"pl_1","_embedded":{"entity":{"amount":{"value":"1.5","currency":"JPY"}}}}`,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"X-Mollie-Signature"}, place, mask)
		if events, err := v.Verify(t.Context(), webhooks.Delivery{Body: body, ReceivedAt: providertest.Now}); err == nil {
			require.True(t, events[0].NeedsFetch, "what nobody signed is only a hint")
		}
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, mollie.FailureCode, map[string]string{
		"card_declined":      "card_declined|card_expired|inactive_card|invalid_card_holder_name|invalid_card_number|invalid_card_type|invalid_cvv|refused_by_issuer",
		"insufficient_funds": "insufficient_funds", "fraud_suspected": "possible_fraud", "provider_rejected": "|new",
		"authentication_failed": "authentication_abandoned|authentication_failed|authentication_required|authentication_unavailable_acs",
	})
}
