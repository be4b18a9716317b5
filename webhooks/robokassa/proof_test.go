package robokassa_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/robokassa"
)

func newVerifier(tb testing.TB, passwords ...string) *robokassa.Verifier {
	tb.Helper()
	if len(passwords) == 0 {
		passwords = []string{"paylatch-tests-only"}
	}
	v, err := robokassa.New(webhooks.Config{Secrets: passwords})
	require.NoError(tb, err)
	return v
}

const robokassaForm = "OutSum=19.990000&InvId=58&Shp_payment_attempt_id=att_1&Shp_a=1&EMail=a%40b.example&Fee=1"

func TestEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "result:58", IDSource: webhooks.Derived, Type: "result", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "58"}, ProviderPaymentID: "58", Money: &webhooks.Money{Minor: 1999, Currency: "RUB"},
	}, providertest.Parsed(t, newVerifier(t), robokassaForm))
	e := providertest.Parsed(t, newVerifier(t), "OutSum=1&InvId=58&IsTest=1")
	require.Equal(t, webhooks.ModeTest, e.Mode)
	require.Equal(t, []string{"58"}, e.References)
}

func TestHashes(t *testing.T) {
	t.Parallel()
	sums := map[string]bool{}
	for _, name := range []string{"", "md5", "SHA1", "sha256", "sha384", "sha512"} {
		v, err := robokassa.New(webhooks.Config{Secrets: []string{"p"}, Params: map[string]string{"hash": name}})
		require.NoError(t, err)
		providertest.Parsed(t, v, robokassaForm)
		form, err := url.ParseQuery(string(providertest.Signed(t, v, robokassaForm).Body))
		require.NoError(t, err)
		sums[form.Get("SignatureValue")] = true
	}
	require.Len(t, sums, 5, "md5 is the default")
	for _, name := range []string{"ripemd160", "crc32"} {
		_, err := robokassa.New(webhooks.Config{Secrets: []string{"p"}, Params: map[string]string{"hash": name}})
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
	_, err := robokassa.New(webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestForms(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := string(providertest.Signed(t, v, robokassaForm).Body)
	form, err := url.ParseQuery(good)
	require.NoError(t, err)
	signature := form.Get("SignatureValue")
	for name, test := range map[string]struct {
		body string
		want error
	}{
		"as sent":              {good, nil},
		"lower case":           {strings.Replace(good, signature, strings.ToLower(signature), 1), nil},
		"old names":            {"out_summ=19.990000&inv_id=58&Shp_a=1&Shp_payment_attempt_id=att_1&crc=" + signature, nil},
		"the same twice":       {good + "&InvId=58", nil},
		"two numbers":          {good + "&InvId=59", webhooks.ErrSignatureMalformed},
		"unsigned fields":      {strings.Replace(good, "Fee=1", "Fee=2", 1), nil},
		"fewer zeros":          {strings.Replace(good, "19.990000", "19.99", 1), webhooks.ErrSignatureInvalid},
		"another order":        {strings.Replace(good, "att_1", "att_2", 1), webhooks.ErrSignatureInvalid},
		"one parameter more":   {good + "&shp_z=1", webhooks.ErrSignatureInvalid},
		"two taken for one":    {"OutSum=19.990000&InvId=58&Shp_a=1:Shp_payment_attempt_id%3datt_1&SignatureValue=" + signature, webhooks.ErrSignatureMalformed},
		"name taken for value": {strings.Replace(string(providertest.Signed(t, v, "OutSum=1&InvId=58&Shp_a=1%3D2").Body), "Shp_a=1%3D2", "Shp_a%3D1=2", 1), webhooks.ErrSignatureMalformed},
		"sum taken for number": {"OutSum=19.990000:58&InvId=1&SignatureValue=" + signature, webhooks.ErrSignatureMalformed},
		"no signature":         {robokassaForm, webhooks.ErrSignatureMissing},
		"not hexadecimal":      {robokassaForm + "&SignatureValue=xyz", webhooks.ErrSignatureInvalid},
		"no number":            {"OutSum=1&SignatureValue=00", webhooks.ErrSignatureInvalid},
		"unsigned field twice": {good + "&EMail=c%40d.example", nil},
		"not a form":           {"%zz", webhooks.ErrSignatureMalformed},
		"empty":                {"", webhooks.ErrSignatureMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := v.Verify(t.Context(), providertest.Unsigned(test.body))
			require.ErrorIs(t, err, test.want)
		})
	}
	providertest.Unreadable(t, v, "OutSum=1.999&InvId=58", "OutSum=1&InvId=5x", "OutSum=1", "InvId=58", "OutSum=1e3&InvId=58")
	d := providertest.Unsigned("%zz")
	require.ErrorIs(t, v.Sign(&d), webhooks.ErrPayload)
}

// TestParametersAreSortedByName: of two names one may begin with the other.
func TestParametersAreSortedByName(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, "p")
	form, err := url.ParseQuery(string(providertest.Signed(t, v, "OutSum=1&InvId=58&Shp_a1=2&Shp_a=1").Body))
	require.NoError(t, err)
	sum := robokassa.Sum("md5", "1", "58", "p", "Shp_a=1", "Shp_a1=2")
	require.Equal(t, strings.ToUpper(hex.EncodeToString(sum)), form.Get("SignatureValue"))
}

func TestByGet(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, "new", "old")
	d := webhooks.Delivery{Method: http.MethodGet, URL: "https://shop.example/webhooks/rk?" + robokassaForm, ReceivedAt: providertest.Now}
	require.NoError(t, newVerifier(t, "old").Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, 1, events[0].SecretIndex)
	require.Equal(t, webhooks.Ack{Status: http.StatusOK, ContentType: "text/plain", Body: []byte("OK58")}, v.Ack(d, events))
	require.Equal(t, "OK", string(v.Ack(webhooks.Delivery{}, nil).Body))
}

func ExampleVerifier_Verify() {
	robokassa, err := robokassa.New(webhooks.Config{Secrets: []string{"password-2"}, Params: map[string]string{"hash": "sha256"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte("OutSum=100.000000&InvId=58&Shp_payment_attempt_id=att_1")}
	if err := robokassa.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := robokassa.Verify(context.Background(), d)
	fmt.Println(err)
	fmt.Println(events[0].Kind, events[0].References, *events[0].Money, string(robokassa.Ack(d, events).Body))
	// Output:
	// <nil>
	// succeeded [att_1 58] {10000 RUB} OK58
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		robokassaForm, "OutSum=1&InvId=0&Shp_a=&shp_B=%3a", "out_summ=5&inv_id=6&IsTest=1", "OutSum=1.999&InvId=1", "%", "",
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Unsigned(string(body))
		if v.Sign(&d) != nil {
			providertest.Refused(t, v, d)
			return
		}
		providertest.Parse(t, v, d)
		providertest.Same(t, v, d, place, mask, func(e *webhooks.Event) { e.Mode = "" })
	})
}
