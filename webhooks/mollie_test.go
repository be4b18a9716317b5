package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func newMollie(tb testing.TB, secrets ...string) *webhooks.Mollie {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{"mollie-secret"}
	}
	v, err := webhooks.NewMollie(webhooks.Config{Secrets: secrets})
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

func TestMollieEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "event_1", IDSource: webhooks.Native, Type: "payment.paid", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "tr_1"}, ProviderPaymentID: "tr_1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Test: true, TestKnown: true,
	}, parsed(t, newMollie(t), mollieBody("payment.paid", "tr_1", mollieSnapshot)))
}

func TestMollieKinds(t *testing.T) {
	t.Parallel()
	checkSays(t, newMollie(t), map[string]string{
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

// A hold of which a part was captured is paid once the rest is given up. Its amount
// stays what it was.
func TestMolliePaidIsWhatWasCaptured(t *testing.T) {
	t.Parallel()
	const hold = `"amount":{"value":"19.99","currency":"EUR"},"amountCaptured":`
	checkSays(t, newMollie(t), map[string]string{
		mollieBody("payment.paid", "tr_1", hold+`{"value":"10.00","currency":"EUR"}`):                                                   "succeeded 1000 EUR of tr_1",
		mollieBody("payment.paid", "tr_1", hold+`{"value":"0.00","currency":"EUR"}`):                                                    "succeeded 1999 EUR of tr_1",
		mollieBody("payment.paid", "tr_1", hold+`null`):                                                                                 "succeeded 1999 EUR of tr_1",
		mollieBody("capture.succeeded", "cpt_1", `"paymentId":"tr_1","status":"succeeded","amount":{"value":"10.00","currency":"EUR"}`): "succeeded 1000 EUR of tr_1",
	})
	checkRefusesPayloads(t, newMollie(t), mollieBody("payment.paid", "tr_1", hold+`{"value":"ten","currency":"EUR"}`))
}

func TestMollieModeTellsATest(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][2]bool{`"mode":"test"`: {true, true}, `"mode":"live"`: {true, false}, `"mode":"new"`: {}, "": {}} {
		e := parsed(t, newMollie(t), mollieBody("payment.paid", "tr_1", mode))
		require.Equal(t, want, [2]bool{e.TestKnown, e.Test}, mode)
	}
}

func TestMollieCaptureThatFailedLeavesTheMoneyHeld(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "event_1", IDSource: webhooks.Native, Type: "capture.failed", Kind: webhooks.KindAuthorized, CaptureRefused: true,
		References: []string{"att_1", "tr_1"}, ProviderPaymentID: "tr_1",
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Test: true, TestKnown: true,
	}, parsed(t, newMollie(t), mollieBody("capture.failed", "cpt_1", mollieSnapshot+`,"paymentId":"tr_1","status":"failed"`)))
}

// Without a snapshot the address of what happened says to which payment.
func TestMollieEventWithoutASnapshotNamesThePayment(t *testing.T) {
	t.Parallel()
	thin := func(eventType, id, href string) string {
		return fmt.Sprintf(`{"resource":"event","id":"event_1","type":%q,"entityId":%q,"_links":{"entity":{"href":%q,"type":"application/hal+json"}}}`,
			eventType, id, href)
	}
	checkSays(t, newMollie(t), map[string]string{
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

func TestMollieClassic(t *testing.T) {
	t.Parallel()
	classicOnly, err := webhooks.NewMollie(webhooks.Config{})
	require.NoError(t, err)
	for _, v := range []*webhooks.Mollie{classicOnly, newMollie(t)} {
		first := mollieNotice(t, v, now)
		require.Equal(t, webhooks.Event{
			ID: first.ID, IDSource: webhooks.Derived, Kind: webhooks.KindNotice, References: []string{"tr_1"},
			ProviderPaymentID: "tr_1", NeedsFetch: true, SecretIndex: -1,
		}, first)
		require.NotEqual(t, first.ID, mollieNotice(t, v, now.Add(time.Millisecond)).ID, "a notice is never a duplicate")
		for _, body := range []string{"", "id=", "id=tr_", "id=../../v2/profiles", "id=tr_1&id=tr_2", "id=tr_1%2f", "id=%", "[]", "x"} {
			require.ErrorIs(t, refused(t, v, webhooks.Delivery{Body: []byte(body)}), webhooks.ErrPayload, body)
		}
	}
	require.ErrorIs(t, classicOnly.Sign(&webhooks.Delivery{}), webhooks.ErrConfig)
}

func mollieNotice(t *testing.T, v webhooks.Verifier, at time.Time) webhooks.Event {
	t.Helper()
	events, err := v.Verify(t.Context(), webhooks.Delivery{Body: []byte("id=tr_1"), ReceivedAt: at})
	require.NoError(t, err)
	requireSound(t, events[0])
	return events[0]
}

func TestMollieSignature(t *testing.T) {
	t.Parallel()
	v := newMollie(t, "new-secret", "old-secret")
	body := mollieBody("payment.paid", "tr_1", "")
	made := signed(t, newMollie(t, "new-secret"), body).Header.Get("X-Mollie-Signature")
	other := signed(t, newMollie(t, "other-secret"), body).Header.Get("X-Mollie-Signature")
	classicOnly, err := webhooks.NewMollie(webhooks.Config{})
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
				Body: []byte(test.body), Header: http.Header{"X-Mollie-Signature": test.header}, ReceivedAt: now,
			})
			require.ErrorIs(t, err, test.want)
		})
	}
	_, err = webhooks.NewMollie(webhooks.Config{Secrets: []string{""}})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestMollieSignedForm(t *testing.T) {
	t.Parallel()
	e := parsed(t, newMollie(t), "id=tr_1")
	require.Equal(t, webhooks.KindNotice, e.Kind)
	require.Zero(t, e.SecretIndex)
}

func TestMollieRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	checkRefusesPayloads(t, newMollie(t), `{`, `{}`, mollieBody("payment.paid", "", ""), mollieBody("payment.paid", "../x", ""),
		mollieBody("payment.paid", "tr_1", `"amount":{"value":"1,5","currency":"EUR"}`), mollieBody("payment.paid", "tr_1", `"amount":5`))
}

func ExampleMollie_Verify() {
	mollie, err := webhooks.NewMollie(webhooks.Config{})
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

func FuzzMollie(f *testing.F) {
	for i, body := range []string{
		mollieBody("payment.paid", "tr_1", mollieSnapshot), mollieBody("refund.failed", "re_1", ""), "id=tr_1", "id=../x", `{}`, ``,
		`{"id":"whe_1","type":"payment-link.paid","entityId":"pl_1","_embedded":{"entity":{"amount":{"value":"1.5","currency":"JPY"}}}}`,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newMollie(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := signed(t, v, string(body))
		checkParse(t, v, d)
		checkFlip(t, v, d, []string{"X-Mollie-Signature"}, place, mask)
		if events, err := v.Verify(t.Context(), webhooks.Delivery{Body: body, ReceivedAt: now}); err == nil {
			require.True(t, events[0].NeedsFetch, "what nobody signed is only a hint")
		}
	})
}
