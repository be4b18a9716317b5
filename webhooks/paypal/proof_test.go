package paypal_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/paypal"
)

const (
	paypalWebhookID = "1JE4291016473214C"
	paypalCertURL   = "https://api.paypal.com/v1/notifications/certs/CERT-1"
	paypalName      = "messageverificationcerts.paypal.com"
)

// paypalKey is the key of all the tests' signers: to make one takes a while.
var paypalKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// authority issues certificates as PayPal's would.
type authority struct {
	key    *ecdsa.PrivateKey
	issuer *x509.Certificate
	roots  *x509.CertPool
}

func newAuthority(tb testing.TB) authority {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Tests"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: providertest.Now.AddDate(-10, 0, 0), NotAfter: providertest.Now.AddDate(10, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(tb, err)
	issuer, err := x509.ParseCertificate(raw)
	require.NoError(tb, err)
	a := authority{key: key, issuer: issuer, roots: x509.NewCertPool()}
	a.roots.AddCert(issuer)
	return a
}

// issue returns a certificate that was good for a year around now.
func (a authority) issue(tb testing.TB, name string, key crypto.PublicKey) []byte {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: providertest.Now.AddDate(0, -6, 0), NotAfter: providertest.Now.AddDate(0, 6, 0), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.issuer, key, a.key)
	require.NoError(tb, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

// paypalSigner signs as PayPal does, by a certificate of the tests' own.
type paypalSigner struct{ *paypal.Verifier }

func (paypalSigner) Sign(d *webhooks.Delivery) error {
	return paypalSign(d, strconv.FormatUint(uint64(crc32.ChecksumIEEE(d.Body)), 10))
}

func paypalSign(d *webhooks.Delivery, checksum string) error {
	id, at := "69cd13f0-d67a-11e5-baa3-778b53f4ae55", d.ReceivedAt.Format(time.RFC3339)
	sum := sha256.Sum256([]byte(id + "|" + at + "|" + paypalWebhookID + "|" + checksum))
	signature, err := rsa.SignPKCS1v15(nil, paypalKey(), crypto.SHA256, sum[:])
	if err != nil {
		return err
	}
	d.Header = http.Header{}
	for name, value := range map[string]string{
		"PAYPAL-TRANSMISSION-ID": id, "PAYPAL-TRANSMISSION-TIME": at, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
		"PAYPAL-CERT-URL": paypalCertURL, "PAYPAL-TRANSMISSION-SIG": base64.StdEncoding.EncodeToString(signature),
	} {
		d.Header.Set(name, value)
	}
	return nil
}

// paypalConfig trusts a new authority, which has issued the certificate.
func paypalConfig(tb testing.TB) webhooks.Config {
	tb.Helper()
	a := newAuthority(tb)
	certificate := a.issue(tb, paypalName, &paypalKey().PublicKey)
	return webhooks.Config{
		Params: map[string]string{"webhook_id": paypalWebhookID}, Roots: a.roots,
		Certificate: func(context.Context, string) ([]byte, error) { return certificate, nil },
	}
}

func newVerifier(tb testing.TB) paypalSigner {
	tb.Helper()
	return paypalOf(tb, paypalConfig(tb))
}

func paypalOf(tb testing.TB, c webhooks.Config) paypalSigner {
	tb.Helper()
	v, err := paypal.New(c)
	require.NoError(tb, err)
	return paypalSigner{v}
}

const paypalBody = `{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","create_time":"2026-03-14T15:09:20.000Z",` +
	`"resource":{"id":"CAP1","status":"COMPLETED","custom_id":"att_1","amount":{"currency_code":"EUR","value":"19.99"}}}`

func TestHeaders(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	require.Equal(t, webhooks.OK(), v.Ack(webhooks.Delivery{}, nil))
	for name, test := range map[string]struct {
		change func(http.Header)
		want   error
	}{
		"no signature":       {func(h http.Header) { h.Del("PAYPAL-TRANSMISSION-SIG") }, webhooks.ErrSignatureMissing},
		"not base64":         {func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-SIG", "?") }, webhooks.ErrSignatureMalformed},
		"another signature":  {func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-SIG", "AAAA") }, webhooks.ErrSignatureInvalid},
		"no id":              {func(h http.Header) { h.Del("PAYPAL-TRANSMISSION-ID") }, webhooks.ErrSignatureMalformed},
		"another id":         {func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-ID", "x") }, webhooks.ErrSignatureInvalid},
		"id with a bar":      {func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-ID", "x|y") }, webhooks.ErrSignatureMalformed},
		"two ids":            {func(h http.Header) { h.Add("PAYPAL-TRANSMISSION-ID", "x") }, webhooks.ErrSignatureMalformed},
		"no time":            {func(h http.Header) { h.Del("PAYPAL-TRANSMISSION-TIME") }, webhooks.ErrSignatureMalformed},
		"time of no form":    {func(h http.Header) { h.Set("PAYPAL-TRANSMISSION-TIME", "now") }, webhooks.ErrSignatureMalformed},
		"another algorithm":  {func(h http.Header) { h.Set("PAYPAL-AUTH-ALGO", "SHA1withRSA") }, webhooks.ErrSignatureMalformed},
		"algorithm's case":   {func(h http.Header) { h.Set("PAYPAL-AUTH-ALGO", "SHA256WITHRSA") }, nil},
		"no certificate":     {func(h http.Header) { h.Del("PAYPAL-CERT-URL") }, webhooks.ErrSignatureMalformed},
		"same headers twice": {func(h http.Header) { h.Add("PAYPAL-CERT-URL", paypalCertURL) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Signed(t, v, paypalBody)
			test.change(d.Header)
			_, err := v.Verify(t.Context(), d)
			require.ErrorIs(t, err, test.want)
		})
	}
}

// TestCertificateOfAnotherHostIsNotFetched: PayPal's old libraries fetched it from wherever the sender said, and
// so let him bring his own key.
func TestCertificateOfAnotherHostIsNotFetched(t *testing.T) {
	t.Parallel()
	const path = "/v1/notifications/certs/CERT-1"
	for _, address := range []string{
		"http://api.paypal.com" + path, "https://api.paypal.com.evil.example" + path, "https://evilpaypal.com" + path, "https://api.paypal.com@evil.example" + path,
		"https://user@api.paypal.com" + path, "https://api.paypal.com:8443" + path, "https://evil.example/api.paypal.com" + path, "https:api.paypal.com" + path,
		"//api.paypal.com" + path, "https://evil.example\\.paypal.com" + path, "https://evil.example#.paypal.com" + path, "ftp://api.paypal.com" + path, "%",
		"https://api.paypal.com", "https://api.paypal.com/c", "https://api.paypal.com/v1/notifications/certs/", "https://api.paypal.com/v2" + path,
		"https://api.paypal.com" + path + "?x=1", "https://api.paypal.com" + path + "?", "https://api.paypal.com" + path + "#x", "https://api.paypal.com" + path + "#",
		"https://api.paypal.com/v1/notifications/certs/../../oauth2", "https://api.paypal.com/v1/notifications/certs/%2e%2e%2foauth2",
		"https://api.paypal.com" + path + "/x", "https://api.paypal.com/" + path, "https://api.paypal.com/v1/notifications/certs/" + strings.Repeat("x", 65),
	} {
		c := paypalConfig(t)
		c.Certificate = func(context.Context, string) ([]byte, error) {
			require.Fail(t, "fetched", address)
			return nil, nil
		}
		v := paypalOf(t, c)
		d := providertest.Signed(t, v, paypalBody)
		d.Header.Set("PAYPAL-CERT-URL", address)
		require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid, address)
	}
	for _, address := range []string{"https://paypal.com" + path, "https://API.Sandbox.PayPal.com" + path, "HTTPS://api.paypal.com" + path, "https://api.paypal.com/v1/notifications/test"} {
		v := newVerifier(t)
		d := providertest.Signed(t, v, paypalBody)
		d.Header.Set("PAYPAL-CERT-URL", address)
		_, err := v.Verify(t.Context(), d)
		require.NoError(t, err, address)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	good, stranger := newAuthority(t), newAuthority(t)
	rsaKey := &paypalKey().PublicKey
	elliptic, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		certificate []byte
		at          time.Time
		want        error
	}{
		"trusted":              {good.issue(t, paypalName, rsaKey), providertest.Now, nil},
		"of the sandbox":       {good.issue(t, "messageverificationcerts.sandbox.paypal.com", rsaKey), providertest.Now, nil},
		"with more behind it":  {append(good.issue(t, paypalName, rsaKey), stranger.issue(t, "x", rsaKey)...), providertest.Now, nil},
		"of a stranger":        {stranger.issue(t, paypalName, rsaKey), providertest.Now, webhooks.ErrSignatureInvalid},
		"of another name":      {good.issue(t, "www.paypal.com", rsaKey), providertest.Now, webhooks.ErrSignatureInvalid},
		"not of RSA":           {good.issue(t, paypalName, &elliptic.PublicKey), providertest.Now, webhooks.ErrSignatureInvalid},
		"expired by then":      {good.issue(t, paypalName, rsaKey), providertest.Now.AddDate(0, 7, 0), webhooks.ErrSignatureInvalid},
		"not good yet":         {good.issue(t, paypalName, rsaKey), providertest.Now.AddDate(0, -7, 0), webhooks.ErrSignatureInvalid},
		"not a certificate":    {[]byte("<html>"), providertest.Now, webhooks.ErrSignatureInvalid},
		"a broken certificate": {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")}), providertest.Now, webhooks.ErrSignatureInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := webhooks.Config{
				Params: map[string]string{"webhook_id": paypalWebhookID}, Roots: good.roots, Tolerance: -1,
				Certificate: func(context.Context, string) ([]byte, error) { return test.certificate, nil },
			}
			v := paypalOf(t, c)
			d := providertest.Unsigned(paypalBody)
			d.ReceivedAt = test.at
			require.NoError(t, v.Sign(&d))
			d.ReceivedAt = providertest.Now.AddDate(20, 0, 0)
			events, err := v.Verify(t.Context(), d)
			require.ErrorIs(t, err, test.want)
			if err == nil {
				require.NotEmpty(t, events[0].Mode)
				require.Equal(t, name == "of the sandbox", events[0].Mode == webhooks.ModeTest)
			}
		})
	}
}

func TestKeepsCertificates(t *testing.T) {
	t.Parallel()
	c, fetched := paypalConfig(t), 0
	good := c.Certificate
	c.Certificate = func(ctx context.Context, url string) ([]byte, error) {
		fetched++
		return good(ctx, url)
	}
	v := paypalOf(t, c)
	forged := providertest.Signed(t, v, paypalBody)
	forged.Body = []byte(`{}`)
	for range 3 {
		providertest.Refused(t, v, forged)
	}
	require.Equal(t, 3, fetched, "nothing is kept that proved nothing")
	for range 3 {
		providertest.Parsed(t, v, paypalBody)
	}
	require.Equal(t, 4, fetched)
	for i := range 40 {
		d := providertest.Signed(t, v, paypalBody)
		d.Header.Set("PAYPAL-CERT-URL", fmt.Sprint(paypalCertURL, i))
		_, err := v.Verify(t.Context(), d)
		require.NoError(t, err)
	}
	require.Equal(t, 44, fetched)
	providertest.Parsed(t, v, paypalBody)
	late := providertest.Unsigned(paypalBody)
	late.ReceivedAt = providertest.Now.AddDate(1, 0, 0)
	require.NoError(t, v.Sign(&late))
	require.ErrorIs(t, providertest.Refused(t, v, late), webhooks.ErrSignatureInvalid, "it is kept, and good for its own time only")
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	c := paypalConfig(t)
	for name, test := range map[string]struct{ err, want error }{
		"the network": {fmt.Errorf("%w: timeout", webhooks.ErrUnavailable), webhooks.ErrUnavailable},
		"not found":   {errors.New("404"), webhooks.ErrSignatureInvalid},
	} {
		c.Certificate = func(context.Context, string) ([]byte, error) { return nil, test.err }
		v := paypalOf(t, c)
		require.ErrorIs(t, providertest.Refused(t, v, providertest.Signed(t, v, paypalBody)), test.want, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.Certificate = func(context.Context, string) ([]byte, error) {
		cancel()
		return nil, errors.New("given up")
	}
	impatient := paypalOf(t, c)
	_, err := impatient.Verify(ctx, providertest.Signed(t, impatient, paypalBody))
	require.ErrorIs(t, err, webhooks.ErrUnavailable, "nobody waited for the answer")
	c.Certificate = nil
	v := paypalOf(t, c)
	require.ErrorIs(t, providertest.Refused(t, v, providertest.Signed(t, v, paypalBody)), webhooks.ErrConfig)
	_, err = paypal.New(webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

// TestChecksumHasNoSign: half of all bodies have one of 2^31 or more.
func TestChecksumHasNoSign(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	d := providertest.Unsigned(paypalBody)
	for crc32.ChecksumIEEE(d.Body) < 1<<31 {
		d.Body = slices.Concat(d.Body, []byte(" "))
	}
	require.NoError(t, paypalSign(&d, strconv.Itoa(int(int32(crc32.ChecksumIEEE(d.Body))))))
	require.ErrorIs(t, providertest.Refused(t, v, d), webhooks.ErrSignatureInvalid)
	require.NoError(t, v.Sign(&d))
	_, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	c := paypalConfig(t)
	c.Tolerance = 72 * time.Hour
	c.Params["webhook_id"] = "OTHER, " + paypalWebhookID
	v := paypalOf(t, c)
	for age, want := range map[time.Duration]error{
		72 * time.Hour: nil, 73 * time.Hour: webhooks.ErrTooOld, -73 * time.Hour: webhooks.ErrTooNew,
	} {
		d := providertest.Signed(t, v, paypalBody)
		d.ReceivedAt = providertest.Now.Add(age)
		events, err := v.Verify(t.Context(), d)
		require.ErrorIs(t, err, want)
		if err == nil {
			require.Equal(t, 1, events[0].SecretIndex)
		}
	}
}

func ExampleVerifier_Verify() {
	paypal, err := paypal.New(webhooks.Config{
		Params: map[string]string{"webhook_id": "1JE4291016473214C"},
		Certificate: func(_ context.Context, url string) ([]byte, error) {
			return nil, fmt.Errorf("%w: no answer from %s", webhooks.ErrUnavailable, url)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = paypal.Verify(context.Background(), webhooks.Delivery{
		Header: http.Header{
			"Paypal-Transmission-Id":   {"69cd13f0"},
			"Paypal-Transmission-Time": {"2026-03-14T15:09:20Z"},
			"Paypal-Transmission-Sig":  {"AAAA"},
			"Paypal-Auth-Algo":         {"SHA256withRSA"},
			"Paypal-Cert-Url":          {"https://api.paypal.com/v1/notifications/certs/CERT-1"},
		},
		Body: []byte(`{}`),
	})
	fmt.Println(errors.Is(err, webhooks.ErrUnavailable))
	// Output: true
}

func FuzzVerify(f *testing.F) {
	for i, body := range []string{
		paypalBody, paypalEvent("CUSTOMER.DISPUTE.RESOLVED", `"status":"RESOLVED"`), paypalEvent("PAYMENT.CAPTURE.REFUNDED", `"amount":{"value":"-1","currency_code":"JPY"}`),
		paypalEvent("CHECKOUT.ORDER.COMPLETED", `"purchase_units":[{"payments":{"captures":[{"status":"COMPLETED"}]}}]`), `{`, ``,
	} {
		f.Add([]byte(body), uint(i*13), byte(1)<<(i%8))
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, body []byte, place uint, mask byte) {
		d := providertest.Signed(t, v, string(body))
		providertest.Parse(t, v, d)
		providertest.Flip(t, v, d, []string{"PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-TIME", "PAYPAL-TRANSMISSION-SIG"}, place, mask)
	})
}
