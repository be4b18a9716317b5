package lemonsqueezy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/lemonsqueezy"
)

func newVerifier(tb testing.TB) *lemonsqueezy.Verifier {
	tb.Helper()
	v, err := lemonsqueezy.New(webhooks.Config{Secrets: []string{"lemon-secret"}})
	require.NoError(tb, err)
	return v
}

// lemonBody returns an event with these members in its attributes.
func lemonBody(name, attributes string) string {
	return fmt.Sprintf(`{"meta":{"event_name":%q,"test_mode":true,"custom_data":{"payment_attempt_id":"att_1"}},`+
		`"data":{"type":"orders","id":"7","attributes":{"currency":"USD","total":1199,"updated_at":"2026-03-14T15:09:20.000000Z"%s}}}`,
		name, attributes)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "order_created:orders:7:paid::2026-03-14T15%3A09%3A20.000000Z", IDSource: webhooks.Derived,
		Type: "order_created", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "7", "id-1"}, ProviderPaymentID: "7", BrowserMark: true,
		Money:      &webhooks.Money{Minor: 1199, Currency: "USD"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}, providertest.Parsed(t, newVerifier(t), lemonBody("order_created", `,"status":"paid","identifier":"id-1"`)))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	providertest.Says(t, newVerifier(t), map[string]string{
		lemonBody("order_created", `,"status":"pending"`):                                          "processing 1199 USD of att_1 7",
		lemonBody("order_created", `,"status":"failed"`):                                           "failed 1199 USD of att_1 7 for provider_rejected/failed, page open",
		lemonBody("order_created", `,"status":"fraudulent"`):                                       "failed 1199 USD of att_1 7 for fraud_suspected/fraudulent",
		lemonBody("order_refunded", `,"status":"refunded"`):                                        "refund_succeeded 1199 USD so far of att_1 7",
		lemonBody("order_refunded", `,"refunded_amount":300`):                                      "refund_succeeded 300 USD so far of att_1 7",
		lemonBody("order_created", `,"status":"refunded"`):                                         "succeeded 1199 USD of att_1 7",
		lemonBody("order_created", `,"status":"partial_refund"`):                                   "succeeded 1199 USD of att_1 7",
		lemonBody("subscription_payment_refunded", `,"refunded_amount":300`):                       "refund_succeeded 300 USD so far of att_1 7",
		lemonBody("subscription_payment_recovered", `,"status":"paid"`):                            "succeeded 1199 USD of att_1 7",
		lemonBody("subscription_payment_success", `,"status":"paid"`):                              "succeeded 1199 USD of att_1 7",
		lemonBody("subscription_payment_failed", `,"status":"pending"`):                            "soft_failed 1199 USD of att_1 7 for provider_rejected/pending",
		lemonBody("subscription_created", `,"status":"active"`):                                    "ignored",
		`{"meta":{"event_name":"license_key_created"},"data":{"attributes":{"status":1}}}`:         "ignored",
		`{"meta":{"event_name":"order_created"},"data":{"id":"7","attributes":{"status":"paid"}}}`: "succeeded of 7",
	})
}

// Orders and a subscription's invoices are numbered apart. The first invoice is its order's money; a renewal has the mark
// of the first, and is another sale.
func TestInvoices(t *testing.T) {
	t.Parallel()
	invoice := func(reason string) webhooks.Event {
		body := strings.Replace(lemonBody("subscription_payment_success", `,"status":"paid","store_id":101,"billing_reason":"`+reason+`"`), `"type":"orders"`, `"type":"subscription-invoices"`, 1)
		return providertest.Parsed(t, newVerifier(t), body)
	}
	require.Equal(t, webhooks.KindIgnored, invoice("initial").Kind)
	e := invoice("renewal")
	require.Equal(t, webhooks.KindSucceeded, e.Kind)
	require.Equal(t, []string{"subscription-invoices/7"}, e.References)
	require.Equal(t, []string{"subscription-invoices/7", "101"}, []string{e.ProviderPaymentID, e.Payee})
	require.False(t, e.BrowserMark)
}

func TestTestModeIsOfTheObjectToo(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), `{"meta":{"event_name":"order_created"},"data":{"id":"7","attributes":{"status":"paid","test_mode":true}}}`)
	require.Equal(t, webhooks.ModeTest, e.Mode)
	e = providertest.Parsed(t, newVerifier(t), `{"meta":{"event_name":"order_created"},"data":{"id":"7","attributes":{"status":"paid"}}}`)
	require.Empty(t, e.Mode)
}

func TestTellsRefundsApart(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, members := range []string{`,"refunded_amount":300`, `,"refunded_amount":600`, `,"refunded_amount":600,"status":"refunded"`} {
		for range 2 {
			ids[providertest.Parsed(t, newVerifier(t), lemonBody("order_refunded", members)).ID] = true
		}
	}
	require.Len(t, ids, 3)
}

func TestSignature(t *testing.T) {
	t.Parallel()
	body := lemonBody("order_created", `,"status":"paid"`)
	providertest.Rotation(t, lemonsqueezy.New, body, webhooks.Config{})
	v := newVerifier(t)
	d := providertest.Signed(t, v, body)
	d.Header.Set("X-Event-Name", "order_refunded")
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, "order_created", events[0].Type, "the header is not signed")
	d.Header = nil
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureMissing)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), ``, `{}`, `{"meta":[]}`, lemonBody("order_created", `,"status":1`),
		lemonBody("order_refunded", `,"refunded_amount":-1`), lemonBody("order_refunded", `,"refunded_amount":"1"`))
}

func ExampleVerifier_Verify() {
	lemon, err := lemonsqueezy.New(webhooks.Config{Secrets: []string{"signing-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{"meta":{"event_name":"order_created","custom_data":{"payment_attempt_id":"att_1"}},` +
		`"data":{"type":"orders","id":"7","attributes":{"status":"paid","currency":"USD","total":1199}}}`)}
	if err := lemon.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := lemon.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// succeeded [att_1 7] {1199 USD}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		lemonBody("order_created", `,"status":"paid"`), lemonBody("order_refunded", `,"refunded_amount":5`),
		lemonBody("order_created", `,"status":"fraudulent"`), `{"meta":{"event_name":"x"}}`, `{}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"X-Signature"}, place, mask)
	})
}
