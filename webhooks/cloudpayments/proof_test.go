package cloudpayments_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/cloudpayments"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB, secrets ...string) *cloudpayments.Verifier {
	tb.Helper()
	secrets = append(secrets, "paylatch-tests-only")
	v, err := cloudpayments.New(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

// cloudPaymentsSample turns the fields of a sample, which stand in JSON, into the form that is sent, and takes the
// topic from its name.
func cloudPaymentsSample(d *webhooks.Delivery, name string) {
	var fields map[string]string
	if json.Unmarshal(d.Body, &fields) != nil {
		return
	}
	form := url.Values{}
	for key, value := range fields {
		form.Set(key, value)
	}
	d.Body = []byte(form.Encode())
	d.Topic, _, _ = strings.Cut(name, ".")
	d.Topic, _, _ = strings.Cut(d.Topic, "_")
}

const cloudPayment = "TransactionId=17&Amount=19.99&Currency=RUB&InvoiceId=att_1&DateTime=2026-03-14+15%3a09%3a20&TestMode=1"

// cloudPaymentsEvent returns the event of a genuine delivery to a topic.
func cloudPaymentsEvent(t *testing.T, v *cloudpayments.Verifier, topic, body string) webhooks.Event {
	t.Helper()
	d := providertest.Signed(t, v, body)
	d.Topic = topic
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	providertest.RequireSound(t, events[0])
	return events[0]
}

func TestEvent(t *testing.T) {
	t.Parallel()
	want := webhooks.Event{
		ID: "pay:17", IDSource: webhooks.Derived, Type: "pay", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "17"}, ProviderPaymentID: "17", BrowserMark: true,
		Money:      &webhooks.Money{Minor: 1999, Currency: "RUB"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC), Mode: webhooks.ModeTest,
	}
	require.Equal(t, want, cloudPaymentsEvent(t, newVerifier(t), "pay", cloudPayment+"&Status=Completed"))
	require.Equal(t, want, cloudPaymentsEvent(t, newVerifier(t), "pay", `{"TransactionId":17,"Amount":19.99,"Currency":"RUB",`+
		`"InvoiceId":"order_1","DateTime":"2026-03-14 15:09:20","TestMode":1,"Status":"Completed","Data":{"payment_attempt_id":"att_1"}}`))
	require.Equal(t, want.References, cloudPaymentsEvent(t, newVerifier(t), "pay",
		`TransactionId=17&InvoiceId=order_1&Status=Completed&Data={"payment_attempt_id":"att_1"}`).References)
	const other = "0195b3a0-0000-7000-8000-000000000002"
	require.Equal(t, []string{"att_1", "17", other}, cloudPaymentsEvent(t, newVerifier(t), "pay",
		`TransactionId=17&InvoiceId=`+other+`&Status=Completed&Data={"payment_attempt_id":"att_1"}`).References, "the id of another attempt")
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		topic, fields string
		kind          webhooks.Kind
		failure       string
	}{
		"question":             {"check", "&Status=Completed", webhooks.KindQuestion, ""},
		"paid":                 {"pay", "&Status=Completed", webhooks.KindSucceeded, ""},
		"held":                 {"pay", "&Status=Authorized", webhooks.KindAuthorized, ""},
		"3-D Secure":           {"pay", "&Status=AwaitingAuthentication", webhooks.KindActionRequired, ""},
		"paid, unknown status": {"pay", "&Status=New", webhooks.KindIgnored, ""},
		"captured":             {"confirm", "", webhooks.KindSucceeded, ""},
		"try failed":           {"fail", "&ReasonCode=5051", webhooks.KindFailed, "insufficient_funds"},
		"try failed, unknown":  {"fail", "&ReasonCode=7", webhooks.KindFailed, "provider_rejected"},
		"hold released":        {"cancel", "", webhooks.KindFailed, "canceled"},
		"refunded":             {"refund", "&PaymentTransactionId=9", webhooks.KindRefundSucceeded, ""},
		"subscription":         {"recurrent", "&Status=PastDue", webhooks.KindIgnored, ""},
		"receipt":              {"receipt", "", webhooks.KindIgnored, ""},
		"no topic":             {"", "&Status=Completed", webhooks.KindIgnored, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := cloudPaymentsEvent(t, newVerifier(t), test.topic, cloudPayment+test.fields)
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.failure, string(e.FailureCode))
			require.Equal(t, test.topic, e.Type)
			require.Equal(t, test.topic == "fail", e.PageOpen, "the payer may try again")
		})
	}
}

// Payouts and refunds use the addresses of payments, too, under whatever InvoiceId the merchant gave them: they are no
// payments, and not for paylatch to decline.
func TestTellsOperationsApart(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	const body = cloudPayment + "&Status=Completed&OperationType="
	for operation, kinds := range map[string][5]webhooks.Kind{
		"":           {webhooks.KindQuestion, webhooks.KindSucceeded, webhooks.KindFailed, webhooks.KindSucceeded, webhooks.KindFailed},
		"Payment":    {webhooks.KindQuestion, webhooks.KindSucceeded, webhooks.KindFailed, webhooks.KindSucceeded, webhooks.KindFailed},
		"CardPayout": {webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored},
		"Refund":     {webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored},
		"Barter":     {webhooks.KindQuestion, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored, webhooks.KindIgnored},
	} {
		for i, topic := range []string{"check", "pay", "fail", "confirm", "cancel"} {
			e := cloudPaymentsEvent(t, v, topic, body+operation)
			require.Equal(t, kinds[i], e.Kind, "%s of %s", topic, operation)
			require.Equal(t, topic, e.Type)
			code := map[bool]string{false: `{"code":0}`, true: `{"code":13}`}[e.Kind == webhooks.KindQuestion]
			require.JSONEq(t, code, string(v.Ack(webhooks.Delivery{}, []webhooks.Event{e}).Body))
		}
		e := cloudPaymentsEvent(t, v, "refund", body+operation+"&PaymentTransactionId=9")
		require.Equal(t, webhooks.KindRefundSucceeded, e.Kind, operation)
	}
}

func TestRefund(t *testing.T) {
	t.Parallel()
	const body = "TransactionId=18&PaymentTransactionId=17&Amount=5.00&InvoiceId=att_1"
	e := cloudPaymentsEvent(t, newVerifier(t), "refund", body)
	require.Equal(t, []string{"17", "18"}, []string{e.ProviderPaymentID, e.RefundID})
	require.Equal(t, []string{"att_1", "17"}, e.References)
	require.Nil(t, e.Money, "no currency, no amount")
	for currency, minor := range map[string]int64{"RUB": 500, "JPY": 5} {
		money, err := e.MoneyIn(currency)
		require.NoError(t, err)
		require.Equal(t, &webhooks.Money{Minor: minor, Currency: currency}, money, "the payment's currency is meant")
	}
	require.Empty(t, cloudPaymentsEvent(t, newVerifier(t), "refund", body+"&Currency=RUB").Amount)
	v, err := cloudpayments.New(webhooks.Config{Secrets: []string{"s"}, Params: map[string]string{"currency": "KZT"}})
	require.NoError(t, err)
	require.Equal(t, &webhooks.Money{Minor: 500, Currency: "KZT"}, cloudPaymentsEvent(t, v, "refund", body).Money)
}

func TestTestModeInAnySpelling(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]webhooks.Mode{
		"1": webhooks.ModeTest, "true": webhooks.ModeTest, "True": webhooks.ModeTest, "0": webhooks.ModeLive, "False": webhooks.ModeLive,
	} {
		e := cloudPaymentsEvent(t, newVerifier(t), "confirm", strings.Replace(cloudPayment, "TestMode=1", "TestMode="+mode, 1))
		require.Equal(t, want, e.Mode, mode)
	}
}

func TestSignsEitherForm(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, cloudPayment+"&Description=%d0%be+%26")
	raw, decoded := d.Header.Get("Content-HMAC"), d.Header.Get("X-Content-HMAC")
	require.NotEqual(t, raw, decoded)
	for name, test := range map[string]struct {
		body   string
		header http.Header
		want   error
	}{
		"raw":                                   {string(d.Body), http.Header{"Content-Hmac": {raw}}, nil},
		"raw by the other":                      {string(d.Body), http.Header{"X-Content-Hmac": {raw}}, nil},
		"one good, one bad":                     {string(d.Body), http.Header{"X-Content-Hmac": {raw}, "Content-Hmac": {"AAAA"}}, nil},
		"decoded, with an ampersand in a value": {string(d.Body), http.Header{"X-Content-Hmac": {decoded}}, webhooks.ErrSignatureMalformed},
		"decoded, split in another way":         {cloudPayment + "&Description=%d0%be+&", http.Header{"X-Content-Hmac": {decoded}}, nil},
		"neither":                               {string(d.Body), http.Header{"Content-Hmac": {"AAAA"}}, webhooks.ErrSignatureInvalid},
		"empty":                                 {string(d.Body), http.Header{"Content-Hmac": {""}}, webhooks.ErrSignatureMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := providertest.Unsigned(test.body)
			other.Header = test.header
			_, err := v.Verify(t.Context(), other)
			require.ErrorIs(t, err, test.want)
		})
	}
}

// TestDecodedFormHidesNoParameter: where only the decoded form is signed, a value could be another amount,
// and nobody the wiser.
func TestDecodedFormHidesNoParameter(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, hidden := range []string{"&Description=a%26Amount%3d1", "&a%26Amount=1", "&a%3d1%26Amount=1"} {
		d := providertest.Signed(t, v, cloudPayment+hidden)
		d.Header.Del("Content-HMAC")
		require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureMalformed, hidden)
	}
}

// TestIsDecodedOnce: an attacker encodes a signed body once more, so that its decoded form equals the signed text. The
// verifier must refuse it.
func TestIsDecodedOnce(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, body := range []string{cloudPayment + "&Description=a%20b", cloudPayment + "&Description=a+b", `{"TransactionId":17}`} {
		d := providertest.Signed(t, v, body)
		d.Header.Del("X-Content-HMAC")
		d.Body = []byte(strings.NewReplacer("%", "%25", "+", "%2b", "{", "%7b").Replace(body))
		err := providertest.Refused(t, v, d)
		require.True(t, errors.Is(err, webhooks.ErrSignatureMalformed) || errors.Is(err, webhooks.ErrSignatureInvalid), "%v", err)
	}
}

func TestByGet(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := webhooks.Delivery{
		Method: http.MethodGet, URL: "https://shop.example/webhooks/cp/pay?" + cloudPayment + "&Status=Completed",
		Topic: "pay", ReceivedAt: providertest.Now,
	}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, webhooks.KindSucceeded, events[0].Kind)
	d.URL += "&x=1"
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid)
}

func TestTellsWhichSecretMatched(t *testing.T) {
	t.Parallel()
	e := cloudPaymentsEvent(t, newVerifier(t), "pay", cloudPayment)
	require.Equal(t, 0, e.SecretIndex)
	events, err := newVerifier(t, "new").Verify(t.Context(), providertest.Signed(t, newVerifier(t), cloudPayment))
	require.NoError(t, err)
	require.Equal(t, 1, events[0].SecretIndex)
}

// TestUnreadableQuestion: a question that can't be read is answered by a refusal.
func TestUnreadableQuestion(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, "TransactionId=1&Amount=1,5&Currency=RUB")
	d.Topic = "check"
	e := providertest.RequireUnreadable(t, v, d)
	require.JSONEq(t, `{"code":13}`, string(v.Ack(d, []webhooks.Event{e}).Body))
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, body := range map[string]string{
		"no transaction":    "Amount=1&Status=Completed",
		"amount is no sum":  "TransactionId=1&Amount=1,5&Currency=RUB&Status=Completed",
		"two amounts":       cloudPayment + "&Status=Completed&Amount=20",
		"not a form":        "%zz",
		"JSON, but broken":  `{"TransactionId":`,
		"no sum at all":     "TransactionId=1&Amount=1e3&Status=Completed",
		"currency of noone": "TransactionId=1&Amount=1&Currency=XXQ&Status=Completed",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Signed(t, v, body)
			d.Topic = "pay"
			require.Equal(t, "pay", providertest.RequireUnreadable(t, v, d).Type)
		})
	}
	_, err := cloudpayments.New(webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	var v webhooks.Answerer = newVerifier(t)
	for answer, code := range map[webhooks.Answer]int{
		webhooks.AnswerAccept: 0, webhooks.AnswerUnknown: 10, webhooks.AnswerAmount: 12,
		webhooks.AnswerExpired: 20, webhooks.AnswerRefuse: 13, "?": 13,
	} {
		ack := v.Answer(webhooks.Delivery{}, answer)
		require.JSONEq(t, fmt.Sprintf(`{"code":%d}`, code), string(ack.Body))
		require.Equal(t, http.StatusOK, ack.Status)
	}
	require.JSONEq(t, `{"code":0}`, string(v.Ack(webhooks.Delivery{}, nil).Body))
	question := []webhooks.Event{{Kind: webhooks.KindQuestion}}
	require.JSONEq(t, `{"code":13}`, string(v.Ack(webhooks.Delivery{}, question).Body), "nobody has looked at the order")
}

// A question is answered by whoever can look at the order.
func ExampleVerifier_Answer() {
	cloudpayments, err := cloudpayments.New(webhooks.Config{Secrets: []string{"api-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Topic: "check", Body: []byte("TransactionId=17&Amount=19.99&Currency=RUB&InvoiceId=att_1")}
	if err := cloudpayments.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := cloudpayments.Verify(context.Background(), d)
	fmt.Println(err)
	answer := webhooks.AnswerAccept
	if *events[0].Money != (webhooks.Money{Minor: 2999, Currency: "RUB"}) {
		answer = webhooks.AnswerAmount
	}
	fmt.Println(events[0].Kind, events[0].References, string(cloudpayments.Answer(d, answer).Body))
	// Output:
	// <nil>
	// question [att_1 17] {"code":12}
}

func ExampleVerifier_Verify() {
	cloudpayments, err := cloudpayments.New(webhooks.Config{Secrets: []string{"api-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Topic: "fail", Body: []byte("TransactionId=17&Amount=19.99&Currency=RUB&InvoiceId=att_1&ReasonCode=5051")}
	if err := cloudpayments.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := cloudpayments.Verify(context.Background(), d)
	fmt.Println(err)
	fmt.Println(events[0].ID, events[0].Kind, events[0].FailureCode, string(cloudpayments.Ack(d, events).Body))
	// Output:
	// <nil>
	// fail:17 failed insufficient_funds {"code":0}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		cloudPayment + "&Status=Completed", cloudPayment + "&Description=%d0%be%26%3d+x", "TransactionId=1&Amount=1e3",
		`{"TransactionId":17,"Amount":19.99,"Currency":"RUB","Data":{"payment_attempt_id":7}}`, "%", ``,
	} {
		for _, topic := range []string{"check", "pay", "fail", "refund", "recurrent"} {
			f.Add(topic, []byte(body), uint(i*13), byte(1)<<(i%8))
		}
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, topic string, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		d.Topic = topic
		providertest.Parse(t, v, d)
		providertest.Same(t, v, d, place, mask, func(*webhooks.Event) {})
		for _, name := range []string{"Content-HMAC", "X-Content-HMAC"} {
			one := d
			one.Header = http.Header{}
			one.Header.Set(name, d.Header.Get(name))
			providertest.Same(t, v, one, place, mask, func(*webhooks.Event) {})
			providertest.Flip(t, v, one, []string{name}, uint(len(d.Body))+place%uint(len(d.Header.Get(name))), mask)
		}
	})
}

// TestFailureCode: a shop's page shows the customer the next step by this code.
func TestFailureCode(t *testing.T) {
	t.Parallel()
	providertest.Reasons(t, cloudpayments.FailureCode, map[string]string{
		"card_declined": "5001|5005|5014|5054|5057|5062|5082", "insufficient_funds": "5051|5061", "authentication_failed": "5206|5207",
		"fraud_suspected": "5034|5041|5043|5059|5300", "provider_rejected": "|5999",
	})
}
