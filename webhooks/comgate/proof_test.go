package comgate_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/comgate"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB) *comgate.Verifier {
	tb.Helper()
	v, err := comgate.New(webhooks.Config{Secrets: []string{"comgate-secret"}})
	require.NoError(tb, err)
	return v
}

const comgateForm = "merchant=1&price=19900&curr=CZK&refId=att_1&transId=AB12-EF34&label=x&"

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "AB12-EF34:PAID", IDSource: webhooks.Derived, Type: "PAID", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "AB12-EF34"}, ProviderPaymentID: "AB12-EF34", Payee: "1", BrowserMark: true,
		Money: &webhooks.Money{Minor: 19900, Currency: "CZK"},
		Mode:  webhooks.ModeTest, NeedsFetch: true,
	}, providertest.Parsed(t, newVerifier(t), comgateForm+"test=true&status=PAID"))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	providertest.Says(t, newVerifier(t), map[string]string{
		comgateForm + "status=PENDING":    "processing 19900 CZK of att_1 AB12-EF34, ask",
		comgateForm + "status=AUTHORIZED": "authorized 19900 CZK of att_1 AB12-EF34, ask",
		comgateForm + "status=CANCELLED":  "failed 19900 CZK of att_1 AB12-EF34 for canceled/, ask",
		comgateForm + "status=NEW":        "ignored of att_1 AB12-EF34",
		"transId=A&status=PAID":           "succeeded of A, ask",
	})
	e := providertest.Parsed(t, newVerifier(t), comgateForm+"test=false&status=PAID")
	require.Equal(t, webhooks.ModeLive, e.Mode)
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"transId=A&secret=comgate-secret&label=%20x+y": "transId=A&secret=&label=%20x+y",
		"secret=comgate-secret&secret=comgate-secret":  "secret=&secret=",
		"%73ecret=comgate-secret&status=PAID":          "%73ecret=&status=PAID",
		"secret=a=b&status=secret":                     "secret=&status=secret",
		"status=PAID":                                  "status=PAID",
	} {
		require.Equal(t, want, string(newVerifier(t).Redacted(webhooks.Delivery{Body: []byte(body)})), body)
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	providertest.Rotation(t, comgate.New, comgateForm+"status=PAID", webhooks.Config{})
	v := newVerifier(t)
	for body, want := range map[string]error{
		comgateForm:                                        webhooks.ErrSignatureMissing,
		comgateForm + "secret=":                            webhooks.ErrSignatureMissing,
		comgateForm + "secret=comgate-secre":               webhooks.ErrSignatureInvalid,
		comgateForm + "secret=Comgate-secret":              webhooks.ErrSignatureInvalid,
		comgateForm + "secret=comgate-secret&secret=other": webhooks.ErrSignatureMalformed,
		comgateForm + "status=PAID&label=y&secret=x":       webhooks.ErrSignatureInvalid,
		"%": webhooks.ErrSignatureMalformed,
	} {
		require.ErrorIs(t, providertest.Refused(t, v, webhooks.Delivery{Body: []byte(body)}), want, body)
	}
	providertest.Unreadable(t, v, "", "transId=A&status=PAID&price=1.5&curr=EUR", "transId=A&status=PAID&price=-1&curr=EUR",
		"transId=A&status=PAID&price=1&curr=XYZ", "transId=A",
		"transId=A&status=PAID&status=CANCELLED")
	require.Equal(t, webhooks.KindSucceeded, providertest.Parsed(t, v, comgateForm+"status=PAID&label=y").Kind)
	require.Error(t, v.Sign(&webhooks.Delivery{Body: []byte("%")}))
}

func ExampleVerifier_Verify() {
	comgate, err := comgate.New(webhooks.Config{Secrets: []string{"shop-secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte("transId=AB12-EF34&refId=att_1&status=PAID&price=19900&curr=CZK&test=false&secret=shop-secret")}
	events, err := comgate.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money, e.NeedsFetch)
	}
	ack := comgate.Ack(d, events)
	fmt.Println(ack.Status, string(ack.Body))
	// Output:
	// <nil>
	// succeeded [att_1 AB12-EF34] {19900 CZK} true
	// 200 code=0&message=OK
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{comgateForm + "status=PAID&test=true", "transId=A&status=CANCELLED", "price=x", "%", ""} {
		f.Add([]byte(body), uint(i*3), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			require.ErrorIs(t, providertest.Refused(t, v, webhooks.Delivery{Body: body}), webhooks.ErrSignatureMalformed)
			return
		}
		d := webhooks.Delivery{Body: []byte(form.Encode())}
		require.NoError(t, v.Sign(&d))
		if _, err := v.Verify(t.Context(), d); err != nil {
			providertest.RequireSentinel(t, err)
		}
		secret := []byte("comgate-secret")
		secret[place%uint(len(secret))] ^= mask
		if mask == 0 {
			return
		}
		form.Set("secret", string(secret))
		providertest.Forged(t, v, webhooks.Delivery{Body: []byte(form.Encode())})
	})
}
