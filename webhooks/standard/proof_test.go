package standard_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const (
	standardSecret = "whsec_cGF5bGF0Y2gtdGVzdHMtb25seS1zZWNyZXQ="
	standardOther  = "whsec_cGF5bGF0Y2gtYW5vdGhlci10ZXN0LXNlY3JldA=="
)

// newVerifier returns a verifier by the tests' own secret.
func newVerifier(tb testing.TB, secrets ...string) *standard.Verifier {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{standardSecret}
	}
	v, err := standard.New(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

const chargeSucceeded = `{"id":"evt_1","type":"charge.succeeded","created":"2026-03-14T15:09:20Z",` +
	`"data":{"charge_id":"ch_1","refund_id":null,"reference":"att_1","amount":1999,"currency":"eur","failure_code":null}}`

// keyPair returns the whsk_ and whpk_ texts of a key made from seed.
func keyPair(seed byte) (private, public string) {
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	encode := base64.StdEncoding.EncodeToString
	return "whsk_" + encode(key), "whpk_" + encode(key[ed25519.SeedSize:])
}

func TestCharge(t *testing.T) {
	t.Parallel()
	require.Equal(t, webhooks.Event{
		ID: "evt_1", IDSource: webhooks.Native, Type: "charge.succeeded", Kind: webhooks.KindSucceeded,
		References: []string{"att_1", "ch_1"}, ProviderPaymentID: "ch_1",
		Money:      &webhooks.Money{Minor: 1999, Currency: "EUR"},
		OccurredAt: time.Date(2026, 3, 14, 15, 9, 20, 0, time.UTC),
	}, providertest.Parsed(t, newVerifier(t), chargeSucceeded))
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body       string
		kind       webhooks.Kind
		code, said string
	}{
		"authorized":           {`{"type":"charge.authorized","data":{}}`, webhooks.KindAuthorized, "", ""},
		"pending":              {`{"type":"charge.pending","data":{}}`, webhooks.KindProcessing, "", ""},
		"declined":             {`{"type":"charge.failed","data":{"failure_code":"insufficient_funds"}}`, webhooks.KindFailed, "insufficient_funds", "insufficient_funds"},
		"fraud":                {`{"type":"charge.failed","data":{"failure_code":"fraud_suspected"}}`, webhooks.KindFailed, "fraud_suspected", "fraud_suspected"},
		"failed, own code":     {`{"type":"charge.failed","data":{"failure_code":"E-17"}}`, webhooks.KindFailed, "provider_rejected", "E-17"},
		"failed, no code":      {`{"type":"charge.failed","data":{"failure_code":null}}`, webhooks.KindFailed, "provider_rejected", ""},
		"canceled":             {`{"type":"charge.canceled","data":{}}`, webhooks.KindFailed, "canceled", ""},
		"refund pending":       {`{"type":"refund.pending","data":{}}`, webhooks.KindRefundPending, "", ""},
		"refund":               {`{"type":"refund.succeeded","data":{}}`, webhooks.KindRefundSucceeded, "", ""},
		"refund failed":        {`{"type":"refund.failed","data":{}}`, webhooks.KindRefundFailed, "provider_rejected", ""},
		"no data":              {`{"type":"charge.succeeded"}`, webhooks.KindSucceeded, "", ""},
		"data null":            {`{"type":"charge.succeeded","data":null}`, webhooks.KindSucceeded, "", ""},
		"unknown type":         {`{"type":"invoice.paid","data":[]}`, webhooks.KindIgnored, "", ""},
		"another shape":        {`{"test":1}`, webhooks.KindIgnored, "", ""},
		"type is not text":     {`{"type":1}`, webhooks.KindIgnored, "", ""},
		"not an object":        {`[1]`, webhooks.KindIgnored, "", ""},
		"null":                 {`null`, webhooks.KindIgnored, "", ""},
		"created is a number":  {`{"type":"x","created":1}`, webhooks.KindIgnored, "", ""},
		"created is something": {`{"type":"charge.succeeded","created":{},"data":{}}`, webhooks.KindSucceeded, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), test.body)
			require.Equal(t, test.kind, e.Kind)
			require.Equal(t, test.code, string(e.FailureCode))
			require.Equal(t, test.said, e.ProviderCode)
			require.Empty(t, e.References)
			require.Nil(t, e.Money)
		})
	}
}

func TestRefundIsKnownByBothItsIDs(t *testing.T) {
	t.Parallel()
	e := providertest.Parsed(t, newVerifier(t), `{"type":"refund.succeeded","data":{"charge_id":"ch_1","refund_id":"re_1",`+
		`"refund_reference":"rf_1","reference":"att_1","amount":500,"currency":"EUR"}}`)
	require.Equal(t, "re_1", e.RefundID)
	require.Equal(t, "rf_1", e.RefundReference)
	require.Equal(t, []string{"att_1", "ch_1"}, e.References)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, body := range map[string]string{
		"empty":           ``,
		"not JSON":        `charge.succeeded`,
		"trailing data":   `{"type":"charge.succeeded"}{}`,
		"data is a list":  `{"type":"charge.succeeded","data":[]}`,
		"amount is text":  `{"type":"charge.succeeded","data":{"amount":"1999","currency":"EUR"}}`,
		"amount is 1e3":   `{"type":"charge.succeeded","data":{"amount":1e3,"currency":"EUR"}}`,
		"amount is 1.0":   `{"type":"charge.succeeded","data":{"amount":1.0,"currency":"EUR"}}`,
		"amount negative": `{"type":"charge.succeeded","data":{"amount":-1,"currency":"EUR"}}`,
		"no currency":     `{"type":"charge.succeeded","data":{"amount":5}}`,
		"currency null":   `{"type":"charge.authorized","data":{"amount":5,"currency":null}}`,
		"no amount":       `{"type":"refund.succeeded","data":{"currency":"EUR"}}`,
		"amount too big":  `{"type":"charge.succeeded","data":{"amount":9223372036854775808,"currency":"EUR"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.RequireUnreadable(t, v, providertest.Signed(t, v, body))
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for name, test := range map[string]struct {
		change func(http.Header)
		want   error
	}{
		"no signature":        {func(h http.Header) { h.Del("webhook-signature") }, webhooks.ErrSignatureMissing},
		"empty signature":     {func(h http.Header) { h.Set("webhook-signature", "") }, webhooks.ErrSignatureMissing},
		"unknown version":     {func(h http.Header) { h.Set("webhook-signature", "v9,AAAA") }, webhooks.ErrSignatureMissing},
		"no id":               {func(h http.Header) { h.Del("webhook-id") }, webhooks.ErrSignatureMalformed},
		"no time":             {func(h http.Header) { h.Del("webhook-timestamp") }, webhooks.ErrSignatureMalformed},
		"time with a sign":    {func(h http.Header) { h.Set("webhook-timestamp", "+1773500966") }, webhooks.ErrSignatureMalformed},
		"time out of range":   {func(h http.Header) { h.Set("webhook-timestamp", "177350096600000") }, webhooks.ErrSignatureMalformed},
		"two ids":             {func(h http.Header) { h.Add("webhook-id", "evt_2") }, webhooks.ErrSignatureMalformed},
		"an id in lower case": {func(h http.Header) { h["webhook-id"] = []string{"evt_2"} }, webhooks.ErrSignatureMalformed},
		"too many signatures": {func(h http.Header) { h.Add("webhook-signature", strings.Repeat("v1a,AAAA ", 16)) }, webhooks.ErrSignatureMalformed},
		"svix id, own signature": {func(h http.Header) {
			h.Set("svix-id", h.Get("webhook-id"))
			h.Del("webhook-id")
		}, webhooks.ErrSignatureMalformed},
		"the same id twice":     {func(h http.Header) { h.Add("webhook-id", "evt_1") }, nil},
		"bad, then good":        {func(h http.Header) { h["Webhook-Signature"] = append([]string{"v1,!"}, h["Webhook-Signature"]...) }, nil},
		"a foreign svix beside": {func(h http.Header) { h.Set("svix-signature", "v1,AAAA") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Signed(t, v, chargeSucceeded)
			test.change(d.Header)
			if test.want != nil {
				require.ErrorIs(t, providertest.Refused(t, v, d), test.want)
				return
			}
			_, err := v.Verify(t.Context(), d)
			require.NoError(t, err)
		})
	}
}

func TestTolerance(t *testing.T) {
	t.Parallel()
	providertest.Ages(t, standard.New, standardSecret, map[string]providertest.Age{
		"five minutes old":     {Tolerance: 0, Age: 5 * time.Minute, Want: nil},
		"older":                {Tolerance: 0, Age: 5*time.Minute + time.Second, Want: webhooks.ErrTooOld},
		"five minutes ahead":   {Tolerance: 0, Age: -5 * time.Minute, Want: nil},
		"further ahead":        {Tolerance: 0, Age: -5*time.Minute - time.Second, Want: webhooks.ErrTooNew},
		"tighter, old":         {Tolerance: time.Second, Age: 2 * time.Second, Want: webhooks.ErrTooOld},
		"tighter, ahead":       {Tolerance: time.Second, Age: -2 * time.Second, Want: webhooks.ErrTooNew},
		"switched off":         {Tolerance: -1, Age: 24 * 365 * time.Hour, Want: nil},
		"switched off, future": {Tolerance: -1, Age: -24 * 365 * time.Hour, Want: nil},
	})
}

func TestForgeryIsNeverTooOld(t *testing.T) {
	t.Parallel()
	d := providertest.Signed(t, newVerifier(t, standardOther), chargeSucceeded)
	d.ReceivedAt = providertest.Now.Add(time.Hour)
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t), d), webhooks.ErrSignatureInvalid)
}

func TestTellsWhichSecretMatched(t *testing.T) {
	t.Parallel()
	private, public := keyPair('a')
	_, stranger := keyPair('b')
	v := newVerifier(t, standardOther, stranger, public, standardSecret)
	for signer, want := range map[string]int{standardOther: 0, private: 2, standardSecret: 3} {
		events, err := v.Verify(t.Context(), providertest.Signed(t, newVerifier(t, signer), chargeSucceeded))
		require.NoError(t, err)
		require.Equal(t, want, events[0].SecretIndex)
	}
}

func TestPublicKeyIsNoSecret(t *testing.T) {
	t.Parallel()
	_, public := keyPair('a')
	d := providertest.Signed(t, newVerifier(t, "whsec_"+strings.TrimPrefix(public, "whpk_")), chargeSucceeded)
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t, public), d), webhooks.ErrSignatureInvalid)
	require.ErrorIs(t, newVerifier(t, public).Sign(&d), webhooks.ErrConfig)
	empty := hmac.New(sha256.New, nil)
	empty.Write([]byte(d.Header.Get("webhook-id") + "." + d.Header.Get("webhook-timestamp") + "." + chargeSucceeded))
	d.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(empty.Sum(nil)))
	require.ErrorIs(t, providertest.Refused(t, newVerifier(t, public), d), webhooks.ErrSignatureInvalid, "nor is nothing its secret")
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	private, public := keyPair('a')
	other, _ := keyPair('b')
	for name, secret := range map[string]string{
		"empty":           "",
		"only a prefix":   "whsec_",
		"not base64":      "whsec_!!",
		"unknown prefix":  "whxx_" + strings.TrimPrefix(public, "whpk_"),
		"short public":    "whpk_AAAA",
		"short private":   "whsk_" + strings.TrimPrefix(public, "whpk_"),
		"halves of two":   private[:len("whsk_")+40] + other[len("whsk_")+40:],
		"unused bits set": standardSecret[:len(standardSecret)-2] + "V=",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := standard.New(webhooks.Config{Secrets: []string{standardOther, secret}})
			require.ErrorIs(t, err, webhooks.ErrConfig)
			require.Nil(t, v)
			if len(secret) > len("whsec_") {
				require.NotContains(t, err.Error(), secret[len("whsec_"):])
			}
		})
	}
	_, err := standard.New(webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestSignNeeds(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	require.ErrorIs(t, v.Sign(&webhooks.Delivery{ReceivedAt: providertest.Now}), webhooks.ErrSignatureMalformed)
	require.Error(t, v.Sign(&webhooks.Delivery{Header: http.Header{"Webhook-Id": {"evt_1"}}}), "no time")
}

// TestSignReproducesWhatWasPublished signs the published messages again.
func TestSignReproducesWhatWasPublished(t *testing.T) {
	t.Parallel()
	for _, v := range providertest.Published(t, "standardwebhooks") {
		if v.ID != "stdwh-sign" && v.ID != "stdwh-v1a-ed25519" {
			continue
		}
		if v.PrivateKey == "" {
			v.PrivateKey = v.Secret
		}
		d := v.Delivery(t)
		d.Header = http.Header{"webhook-id": v.Headers["webhook-id"]}
		d.ReceivedAt = time.Unix(1614265330, 0)
		require.NoError(t, newVerifier(t, v.PrivateKey).Sign(&d))
		require.Equal(t, v.Headers["webhook-signature"][0], d.Header.Get("webhook-signature"))
	}
}
