package braintree_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/braintree"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB) *braintree.Verifier {
	tb.Helper()
	v, err := braintree.New(webhooks.Config{
		Secrets: []string{"braintree-private"}, Params: map[string]string{"public_key": "braintree-public"},
	})
	require.NoError(tb, err)
	return v
}

// braintreeXML returns a notification about this subject.
func braintreeXML(kind, subject string) string {
	return `<notification><timestamp type="datetime">2026-03-14T15:09:20Z</timestamp><kind>` + kind +
		`</kind><subject>` + subject + `</subject></notification>`
}

func braintreeSale(kind, members string) string {
	return braintreeXML(kind, `<transaction><id>t1</id><order-id>att_1</order-id><amount>19.99</amount>`+
		`<currency-iso-code>EUR</currency-iso-code>`+members+`</transaction>`)
}

func braintreeDispute(kind, disputeKind string) string {
	return braintreeXML(kind, `<dispute><id>d1</id><amount>250.00</amount><amount-disputed>25.0</amount-disputed><kind>`+disputeKind+
		`</kind><currency-iso-code>USD</currency-iso-code><transaction><id>t1</id><order-id>att_1</order-id></transaction></dispute>`)
}

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "transaction_settled:2026-03-14T15%3A09%3A20Z:t1", IDSource: webhooks.Derived,
		Type: "transaction_settled", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "t1"}, ProviderPaymentID: "t1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), braintreeSale("transaction_settled", "<type>sale</type>")))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	credit := `<type>credit</type><refunded-transaction-id>t0</refunded-transaction-id>`
	local := func(name, members string) string {
		return "<" + name + "><payment-id>p1</payment-id>" + members + "</" + name + ">"
	}
	sale := `<transaction><id>t1</id><status>settled</status><order-id>att_1</order-id><amount>10.00</amount><currency-iso-code>PLN</currency-iso-code></transaction>`
	providertest.Says(t, newVerifier(t), map[string]string{
		braintreeSale("transaction_settlement_declined", "<status>settlement_declined</status>"):      "undone 1999 EUR of att_1 t1 for provider_rejected/settlement_declined",
		braintreeSale("transaction_settled", credit):                                                  "refund_succeeded 1999 EUR of att_1 t0 by t1/",
		braintreeSale("transaction_settlement_declined", credit):                                      "refund_failed 1999 EUR of att_1 t0 by t1/ for provider_rejected/",
		braintreeSale("refund_failed", "<refunded-transaction-fk>t0</refunded-transaction-fk>"):       "refund_failed 1999 EUR of att_1 t0 by t1/ for provider_rejected/",
		braintreeSale("transaction_disbursed", ""):                                                    "ignored",
		braintreeXML("local_payment_completed", local("local-payment", "")):                           "authorized of p1",
		braintreeXML("local_payment_completed", local("local-payment", sale)):                         "succeeded 1000 PLN of att_1 t1 p1",
		braintreeXML("local_payment_funded", local("local-payment-funded", sale)):                     "succeeded 1000 PLN of att_1 t1 p1",
		braintreeXML("local_payment_expired", local("local-payment-expired", "")):                     "failed of p1 for expired/",
		braintreeXML("local_payment_reversed", local("local-payment-reversed", "")):                   "failed of p1 for canceled/",
		braintreeDispute("dispute_opened", "chargeback"):                                              "chargeback 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_opened", "retrieval"):                                               "disputed 2500 USD of att_1 t1",
		braintreeDispute("dispute_disputed", "chargeback"):                                            "disputed 2500 USD of att_1 t1",
		braintreeDispute("dispute_under_review", "chargeback"):                                        "disputed 2500 USD of att_1 t1",
		braintreeDispute("dispute_accepted", "chargeback"):                                            "chargeback 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_auto_accepted", "chargeback"):                                       "chargeback 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_lost", "chargeback"):                                                "chargeback 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_expired", "chargeback"):                                             "chargeback 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_expired", "retrieval"):                                              "disputed 2500 USD of att_1 t1",
		braintreeDispute("dispute_won", "chargeback"):                                                 "chargeback_reversed 2500 USD of att_1 t1 moving d1",
		braintreeDispute("dispute_won", "retrieval"):                                                  "dispute_closed 2500 USD of att_1 t1",
		braintreeXML("check", `<check type="boolean">true</check>`):                                   "ignored",
		braintreeXML("subscription_charged_successfully", `<subscription><id>s1</id></subscription>`): "ignored",
	})
}

// TestLocalPaymentIsWhatItsTransactionIs: that the customer's money has arrived says nothing of a sale that
// was declined.
func TestLocalPaymentIsWhatItsTransactionIs(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"settled": "succeeded", "settlement_confirmed": "succeeded", "settling": "succeeded", "submitted_for_settlement": "succeeded",
		"settlement_pending": "succeeded", "authorizing": "succeeded", "authorized": "authorized",
		"processor_declined": "undone provider_rejected/processor_declined", "gateway_rejected": "undone provider_rejected/gateway_rejected",
		"failed": "undone provider_rejected/failed", "settlement_declined": "undone provider_rejected/settlement_declined",
		"voided": "undone canceled/voided", "authorization_expired": "undone expired/authorization_expired",
		"": "processing", "SETTLED": "processing", "something_new": "processing",
	} {
		kind, code, failed := strings.Cut(want, " ")
		says := kind + " 1000 PLN of att_1 t1 p1"
		if failed {
			says += " for " + code
		}
		for _, event := range []string{"local_payment_completed", "local_payment_funded"} {
			name := strings.TrimSuffix(strings.ReplaceAll(event, "_", "-"), "-completed")
			providertest.Says(t, newVerifier(t), map[string]string{
				braintreeXML(event, `<`+name+`><payment-id>p1</payment-id><transaction><id>t1</id><status>`+status+`</status><order-id>att_1</order-id>`+
					`<amount>10.00</amount><currency-iso-code>PLN</currency-iso-code></transaction></`+name+`>`): says,
			})
		}
	}
	for _, none := range []string{`<transaction nil="true"/>`, `<transaction><amount>10.00</amount><status>settled</status></transaction>`} {
		providertest.Says(t, newVerifier(t), map[string]string{
			braintreeXML("local_payment_completed", `<local-payment><payment-id>p1</payment-id>`+none+`</local-payment>`):               "authorized of p1",
			braintreeXML("local_payment_expired", `<local-payment-expired><payment-id>p1</payment-id>`+none+`</local-payment-expired>`): "failed of p1 for expired/",
		})
	}
}

// TestTellsApartWhatHappensAtOnce: the time of a notification is in seconds.
func TestTellsApartWhatHappensAtOnce(t *testing.T) {
	t.Parallel()
	v, ids := newVerifier(t), map[string]bool{}
	for _, subject := range []string{
		"<transaction><id>%s</id></transaction>", "<dispute><id>%s</id></dispute>", "<local-payment><payment-id>%s</payment-id></local-payment>",
		"<local-payment-funded><payment-id>f%s</payment-id></local-payment-funded>", "<subscription><id>s%s</id></subscription>",
		"<transaction-review><transaction-id>r%s</transaction-id></transaction-review>",
	} {
		for _, id := range []string{subject[1:3] + "1", subject[1:3] + "2"} {
			ids[providertest.Parsed(t, v, braintreeXML("something_new", fmt.Sprintf(subject, id))).ID] = true
		}
	}
	require.Len(t, ids, 12)
}

func TestSignature(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Signed(t, v, braintreeXML("check", ""))
	form, err := url.ParseQuery(string(d.Body))
	require.NoError(t, err)
	payload, signature := form.Get("bt_payload"), form.Get("bt_signature")
	_, sum, _ := strings.Cut(signature, "|")
	for name, test := range map[string]struct {
		signature, payload string
		want               error
	}{
		"as it is":           {signature, payload, nil},
		"its line feed lost": {signature, strings.TrimSuffix(payload, "\n"), nil},
		"beside another key": {"other|" + sum + "&" + signature, payload, nil},
		"twice, one good":    {"braintree-public|00&" + signature, payload, nil},
		"twice, good first":  {signature + "&braintree-public|00", payload, nil},
		"of another key":     {"other|" + sum, payload, webhooks.ErrSignatureInvalid},
		"no key":             {sum, payload, webhooks.ErrSignatureInvalid},
		"not hex":            {"braintree-public|zz", payload, webhooks.ErrSignatureInvalid},
		"another payload":    {signature, "A" + payload, webhooks.ErrSignatureInvalid},
		"none":               {"", payload, webhooks.ErrSignatureMissing},
		"no payload":         {signature, "", webhooks.ErrSignatureMalformed},
		"illegal characters": {signature, "<" + payload, webhooks.ErrSignatureMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := url.Values{"bt_signature": {test.signature}, "bt_payload": {test.payload}}.Encode()
			_, err := v.Verify(t.Context(), webhooks.Delivery{Body: []byte(body)})
			require.ErrorIs(t, err, test.want)
		})
	}
	for _, body := range []string{"%", "bt_signature=a&bt_signature=b"} {
		require.ErrorIs(t, providertest.Refused(t, v, webhooks.Delivery{Body: []byte(body)}), webhooks.ErrSignatureMalformed)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	body := braintreeXML("check", "")
	providertest.Rotation(t, braintree.New, body, webhooks.Config{Params: map[string]string{"public_key": "one-for-all"}})
	pairs := providertest.Made(t, braintree.New, webhooks.Config{Secrets: []string{"a", "b"}, Params: map[string]string{"public_key": "pa, pb"}})
	for public, want := range map[string]error{"pb": nil, "pa": webhooks.ErrSignatureInvalid} {
		single := providertest.Made(t, braintree.New, webhooks.Config{Secrets: []string{"b"}, Params: map[string]string{"public_key": public}})
		_, err := pairs.Verify(t.Context(), providertest.Signed(t, single, body))
		require.ErrorIs(t, err, want, "a secret counts with its own public key only")
	}
	for _, public := range []string{"", "a,b,c", "a,"} {
		_, err := braintree.New(webhooks.Config{Secrets: []string{"a", "b"}, Params: map[string]string{"public_key": public}})
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
}

// A signature that the challenge has given to a stranger proves nothing.
func TestChallengeSignsNoPayload(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, challenge := range []string{"00112233445566778899", "00112233445566778899aabbccddeeff"} {
		ack, ok := v.Challenge(webhooks.Delivery{Method: http.MethodGet, URL: "/?bt_challenge=" + challenge})
		require.True(t, ok)
		for _, payload := range []string{challenge, challenge + "\n", "\n" + challenge} {
			form := url.Values{"bt_payload": {payload}, "bt_signature": {string(ack.Body)}}
			_, err := v.Verify(t.Context(), webhooks.Delivery{Method: http.MethodPost, URL: "/", Body: []byte(form.Encode())})
			require.ErrorIs(t, err, webhooks.ErrSignatureMalformed, "%q", payload)
		}
	}
}

func TestChallenge(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for query, status := range map[string]int{
		"?bt_challenge=00112233445566778899aabbccddeeff": http.StatusOK,
		"?bt_challenge=00112233445566778899":             http.StatusOK,
		"?bt_challenge=0011223344556677889":              http.StatusBadRequest,
		"?bt_challenge=00112233445566778899AA":           http.StatusBadRequest,
		"?bt_challenge=PG5vdGlmaWNhdGlvbj4KICAg":         http.StatusBadRequest,
		"?bt_challenge=":                                 http.StatusBadRequest,
	} {
		ack, ok := v.Challenge(webhooks.Delivery{Method: http.MethodGet, URL: "https://pay.example/webhooks/bt" + query})
		require.True(t, ok)
		require.Equal(t, status, ack.Status, query)
	}
	for _, d := range []webhooks.Delivery{{URL: "https://pay.example/"}, {URL: "/?bt_challenge=%"}, {Body: []byte("bt_challenge=0")}} {
		_, ok := v.Challenge(d)
		require.False(t, ok)
	}
	ack, _ := v.Challenge(webhooks.Delivery{Method: http.MethodPost, URL: "/?bt_challenge=00112233445566778899"})
	require.Equal(t, http.StatusBadRequest, ack.Status)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	providertest.Unreadable(t, newVerifier(t), `<`, `<other/>`, `<notification/>`, `{}`,
		braintreeXML("transaction_settled", `<transaction><amount>1,5</amount><currency-iso-code>EUR</currency-iso-code></transaction>`),
		`<!DOCTYPE x [<!ENTITY e "check">]><notification><kind>&e;</kind></notification>`)
}

func ExampleVerifier_Challenge() {
	braintree, err := braintree.New(webhooks.Config{
		Secrets: []string{"integration_private_key"}, Params: map[string]string{"public_key": "integration_public_key"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ack, ok := braintree.Challenge(webhooks.Delivery{
		Method: http.MethodGet, URL: "https://pay.example/webhooks/bt?bt_challenge=20f9f8ed05f77439fe955c977e4c8a53",
	})
	fmt.Println(ok, ack.Status, string(ack.Body))
	// Output: true 200 integration_public_key|d9b899556c966b3f06945ec21311865d35df3ce4
}

func ExampleVerifier_Verify() {
	braintree, err := braintree.New(webhooks.Config{
		Secrets: []string{"private-key"}, Params: map[string]string{"public_key": "public-key"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`<notification><timestamp>2026-03-14T15:09:20Z</timestamp><kind>transaction_settled</kind><subject>` +
		`<transaction><id>t1</id><order-id>att_1</order-id><amount>19.99</amount><currency-iso-code>EUR</currency-iso-code></transaction>` +
		`</subject></notification>`)}
	if err := braintree.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := braintree.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money)
	}
	// Output:
	// <nil>
	// succeeded [att_1 t1] {1999 EUR}
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		braintreeSale("transaction_settled", ""), braintreeDispute("dispute_lost", "chargeback"), braintreeXML("check", ""),
		braintreeXML("local_payment_expired", "<local-payment-expired><payment-id>p</payment-id></local-payment-expired>"), `<`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		form, err := url.ParseQuery(string(d.Body))
		require.NoError(t, err)
		name := []string{"bt_payload", "bt_signature"}[place%2]
		original := form.Get(name)
		value := []byte(original)
		value[place/2%uint(len(value))] ^= mask
		if mask == 0 || name == "bt_signature" && strings.EqualFold(original, string(value)) {
			return // hex may be in either case
		}
		form.Set(name, string(value))
		d.Body = []byte(form.Encode())
		providertest.Forged(t, v, d)
	})
}
