package paddle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paddle"
)

func newVerifier(tb testing.TB) *paddle.Verifier {
	tb.Helper()
	v, err := paddle.New(webhooks.Config{Secrets: []string{"pdl_ntfset_tests"}})
	require.NoError(tb, err)
	return v
}

// paddleBody returns an event with these members in its data.
func paddleBody(eventType, members string) string {
	return fmt.Sprintf(`{"event_id":"evt_1","event_type":%q,"occurred_at":"2026-03-14T15:09:20.000001Z","notification_id":"ntf_1","data":{%s}}`,
		eventType, members)
}

const (
	paddleTransaction = `"id":"txn_1","custom_data":{"payment_attempt_id":"att_1"},"currency_code":"USD","details":{"totals":{"grand_total":"1999"}}`
	paddleAdjustment  = `"id":"adj_1","transaction_id":"txn_1","currency_code":"JPY","totals":{"total":"500"}`
)

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "evt_1", IDSource: webhooks.Native, Type: "transaction.completed", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "txn_1"}, ProviderPaymentID: "txn_1", BrowserMark: true,
		Money:      &webhooks.Money{Minor: 1999, Currency: "USD"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 1000, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), paddleBody("transaction.completed", paddleTransaction)))
}

// A later charge of a subscription has the mark of its first transaction, but is another sale.
func TestRenewalsBearNoMark(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string][]string{
		"api": {"att_1", "txn_1"}, "web": {"att_1", "txn_1"}, "subscription_recurring": {"txn_1"}, "subscription_charge": {"txn_1"},
	} {
		e := providertest.Parsed(t, newVerifier(t), paddleBody("transaction.paid", paddleTransaction+`,"origin":"`+origin+`"`))
		require.Equal(t, want, e.References, origin)
		require.Equal(t, len(want) == 2, e.BrowserMark)
		declined := providertest.Parsed(t, newVerifier(t), paddleBody("transaction.payment_failed", paddleTransaction+`,"origin":"`+origin+`"`))
		require.Equal(t, len(want) == 2, declined.PageOpen, "a renewal has no page")
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	updated := func(status string) string {
		return paddleBody("transaction.updated", paddleTransaction+`,"status":"`+status+`"`)
	}
	failed := func(code string) string {
		return paddleBody("transaction.payment_failed", paddleTransaction+`,"payments":[{"status":"error","error_code":"`+code+`"},{"error_code":"old"}]`)
	}
	adjusted := func(action, status string) string {
		return paddleBody("adjustment.updated", paddleAdjustment+`,"action":"`+action+`","status":"`+status+`"`)
	}
	providertest.Says(t, newVerifier(t), map[string]string{
		paddleBody("transaction.paid", paddleTransaction):                        "succeeded 1999 USD of att_1 txn_1",
		paddleBody("transaction.canceled", paddleTransaction):                    "failed 1999 USD of att_1 txn_1 for canceled/",
		paddleBody("transaction.past_due", paddleTransaction):                    "soft_failed 1999 USD of att_1 txn_1 for provider_rejected/",
		paddleBody("transaction.ready", paddleTransaction+`,"status":"ready"`):   "processing 1999 USD of att_1 txn_1",
		paddleBody("transaction.paid", `"id":"txn_1","custom_data":null`):        "succeeded of txn_1",
		paddleBody("transaction.revised", paddleTransaction):                     "ignored",
		paddleBody("transaction.created", paddleTransaction+`,"status":"draft"`): "processing 1999 USD of att_1 txn_1",
		paddleBody("transaction.billed", paddleTransaction+`,"status":"billed"`): "processing 1999 USD of att_1 txn_1",
		updated("billed"):                                  "processing 1999 USD of att_1 txn_1",
		updated("paid"):                                    "succeeded 1999 USD of att_1 txn_1",
		updated("completed"):                               "succeeded 1999 USD of att_1 txn_1",
		updated("canceled"):                                "failed 1999 USD of att_1 txn_1 for canceled/",
		updated("new"):                                     "ignored",
		failed("declined"):                                 "soft_failed 1999 USD of att_1 txn_1 for card_declined/declined, page open",
		failed("declined_not_retryable"):                   "soft_failed 1999 USD of att_1 txn_1 for card_declined/declined_not_retryable, page open",
		failed("expired_card"):                             "soft_failed 1999 USD of att_1 txn_1 for card_declined/expired_card, page open",
		failed("invalid_payment_details"):                  "soft_failed 1999 USD of att_1 txn_1 for card_declined/invalid_payment_details, page open",
		failed("blocked_card"):                             "soft_failed 1999 USD of att_1 txn_1 for fraud_suspected/blocked_card, page open",
		failed("fraud"):                                    "soft_failed 1999 USD of att_1 txn_1 for fraud_suspected/fraud, page open",
		failed("authentication_failed"):                    "soft_failed 1999 USD of att_1 txn_1 for authentication_failed/authentication_failed, page open",
		failed("canceled"):                                 "soft_failed 1999 USD of att_1 txn_1 for canceled/canceled, page open",
		failed("not_enough_balance"):                       "soft_failed 1999 USD of att_1 txn_1 for insufficient_funds/not_enough_balance, page open",
		failed("new"):                                      "soft_failed 1999 USD of att_1 txn_1 for provider_rejected/new, page open",
		adjusted("refund", "pending_approval"):             "refund_pending 500 JPY of txn_1 by adj_1/",
		adjusted("refund", "approved"):                     "refund_succeeded 500 JPY of txn_1 by adj_1/",
		adjusted("refund", "rejected"):                     "refund_failed 500 JPY of txn_1 by adj_1/ for provider_rejected/rejected",
		adjusted("refund", "reversed"):                     "refund_failed 500 JPY of txn_1 by adj_1/ for provider_rejected/reversed",
		adjusted("chargeback", "approved"):                 "chargeback 500 JPY of txn_1 moving adj_1",
		adjusted("chargeback", "reversed"):                 "chargeback 500 JPY of txn_1 moving adj_1",
		adjusted("chargeback_warning", "approved"):         "disputed 500 JPY of txn_1",
		adjusted("chargeback_warning", "pending_approval"): "disputed 500 JPY of txn_1",
		adjusted("chargeback", "pending_approval"):         "disputed 500 JPY of txn_1",
		adjusted("chargeback_reverse", "approved"):         "chargeback_reversed 500 JPY of txn_1 moving adj_1",
		adjusted("credit", "approved"):                     "ignored",
		paddleBody("price.created", `"id":"pri_1"`):        "ignored",
	})
}

func TestHeader(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	body := paddleBody("price.created", "")
	good := providertest.Signed(t, v, body).Header.Get("Paddle-Signature")
	stamp, sum, _ := strings.Cut(good, ";h1=")
	for name, test := range map[string]struct {
		header []string
		want   error
	}{
		"missing":            {nil, webhooks.ErrSignatureMissing},
		"no h1":              {[]string{stamp}, webhooks.ErrSignatureMissing},
		"empty h1":           {[]string{stamp + ";h1="}, webhooks.ErrSignatureMissing},
		"no time":            {[]string{"h1=" + sum}, webhooks.ErrSignatureMalformed},
		"time not a number":  {[]string{"ts=x;h1=y"}, webhooks.ErrSignatureMalformed},
		"two times":          {[]string{good + ";ts=1"}, webhooks.ErrSignatureMalformed},
		"no equals sign":     {[]string{good + ";h1"}, webhooks.ErrSignatureMalformed},
		"only not hex":       {[]string{stamp + ";h1=zz"}, webhooks.ErrSignatureInvalid},
		"another time":       {[]string{"ts=1773500965;h1=" + sum}, webhooks.ErrSignatureInvalid},
		"in two headers":     {[]string{stamp + ";h1=" + strings.Repeat("0", 64), "h1=" + sum}, nil},
		"not hex, then good": {[]string{stamp + ";h1=zz;h1=" + sum}, nil},
		"any order":          {[]string{"h1=" + sum + "; " + stamp + ";h2=1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Signed(t, v, body)
			d.Header = http.Header{"Paddle-Signature": test.header}
			_, err := v.Verify(t.Context(), d)
			require.ErrorIs(t, err, test.want)
		})
	}
	providertest.Rotation(t, paddle.New, body, webhooks.Config{})
}

func TestTakesTwoH1WhichItsGoSDKRefuses(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, paddleBody("price.created", ""))
	stamp, sum, _ := strings.Cut(d.Header.Get("Paddle-Signature"), ";h1=")
	d.Header.Set("Paddle-Signature", stamp+";h1="+strings.Repeat("0", len(sum))+";h1="+sum)
	_, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	providertest.Ages(t, paddle.New, "s", map[string]providertest.Age{
		"five seconds old": {Tolerance: 0, Age: 5 * time.Second, Want: nil},
		"older":            {Tolerance: 0, Age: 6 * time.Second, Want: webhooks.ErrTooOld},
		"a minute ahead":   {Tolerance: 0, Age: -time.Minute, Want: nil},
		"further ahead":    {Tolerance: 0, Age: -time.Minute - time.Second, Want: webhooks.ErrTooNew},
		"wider":            {Tolerance: time.Minute, Age: time.Minute, Want: nil},
		"switched off":     {Tolerance: -1, Age: -24 * 365 * time.Hour, Want: nil},
	})
	require.Error(t, newVerifier(t).Sign(&webhooks.Delivery{}), "no time")
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	amount := func(text string) string {
		return paddleBody("transaction.paid", `"currency_code":"USD","details":{"totals":{"grand_total":`+text+`}}`)
	}
	providertest.Unreadable(t, newVerifier(t), ``, `{}`, `{"event_id":"e"}`, `{"event_id":"e","event_type":"transaction.paid"}`,
		`{"event_id":"e","event_type":"adjustment.created","data":[]}`,
		amount(`1`), amount(`"1.5"`), amount(`"-1"`), amount(`"99999999999999999999"`))
}

func ExampleVerifier_Verify() {
	paddle, err := paddle.New(webhooks.Config{Secrets: []string{"pdl_ntfset_example"}, Tolerance: 30 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{
		Body: []byte(`{"event_id":"evt_1","event_type":"transaction.completed","data":{"id":"txn_1","currency_code":"EUR",` +
			`"custom_data":{"payment_attempt_id":"att_1"},"details":{"totals":{"grand_total":"1999"}}}}`),
		ReceivedAt: time.Unix(1773500966, 0),
	}
	if err := paddle.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := paddle.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money)
	}
	d.ReceivedAt = d.ReceivedAt.Add(time.Minute)
	_, err = paddle.Verify(context.Background(), d)
	fmt.Println(errors.Is(err, webhooks.ErrTooOld))
	// Output:
	// <nil>
	// succeeded [att_1 txn_1] {1999 EUR}
	// true
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		paddleBody("transaction.completed", paddleTransaction), paddleBody("adjustment.updated", paddleAdjustment+`,"action":"refund","status":"approved"`),
		paddleBody("transaction.payment_failed", paddleTransaction+`,"payments":[{}]`), paddleBody("x", ""), `{}`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"Paddle-Signature"}, place, mask)
	})
}
