package engine_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"math/big"
	"math/bits"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
	"github.com/paylatch/paylatch/webhooks"
	paypalhooks "github.com/paylatch/paylatch/webhooks/paypal"
)

// PayPal signs a CRC-32 of the body. A genuine delivery is enough to make another body for its
// headers: that is refused where the delivery is stored, moves nothing where it is not, and is
// too old after four days.
func TestPayPalReplay(t *testing.T) { //nolint:tparallel // the order of the parts counts
	t.Parallel()
	p := newPayPalRig(t)
	victim := p.paid(t, "A-1", "paypal").Attempt
	require.Equal(t, fsm.AwaitingCustomer, victim.State)
	genuine := p.delivery(t, time.Now(), capture("WH-1", "CAP-2", "another", "7.00"))
	forged := genuine
	forged.Body = forge(t, capture("WH-2", "CAP-1", victim.ID.String(), "19.99"), genuine.Body)

	t.Run("known_delivery", func(t *testing.T) { //nolint:paralleltest // the order counts
		_, err := p.notify(t, genuine)
		require.NoError(t, err)
		_, err = p.notify(t, forged)
		require.ErrorIs(t, err, payment.ErrDeliveryReplayed)
		verdicts, err := p.notify(t, genuine)
		require.NoError(t, err)
		require.Equal(t, []fsm.Verdict{payment.VerdictDuplicate}, verdicts)
		p.still(t, victim)
	})
	t.Run("unknown_delivery", func(t *testing.T) { //nolint:paralleltest // the order counts
		for name, body := range map[string]string{
			"paid":              capture("WH-3", "O-1", victim.ID.String(), "19.99"),
			"paid, no such":     capture("WH-4", "CAP-1", victim.ID.String(), "19.99"),
			"paid by another":   capture("WH-5", "CAP-2", victim.ID.String(), "19.99"),
			"held by another":   strings.Replace(capture("WH-6", "CAP-2", victim.ID.String(), "19.99"), "CAPTURE.COMPLETED", "AUTHORIZATION.CREATED", 1),
			"failed":            strings.Replace(capture("WH-7", "O-1", victim.ID.String(), "19.99"), "CAPTURE.COMPLETED", "CAPTURE.DENIED", 1),
			"under way, named":  strings.Replace(capture("WH-8", "CAP-2", victim.ID.String(), "19.99"), "CAPTURE.COMPLETED", "CAPTURE.PENDING", 1),
			"approved, named":   strings.Replace(capture("WH-9", "CAP-2", victim.ID.String(), "19.99"), "PAYMENT.CAPTURE.COMPLETED", "CHECKOUT.ORDER.APPROVED", 1),
			"sold by version 1": strings.Replace(capture("WH-10", "CAP-2", victim.ID.String(), "19.99"), "CAPTURE.COMPLETED", "SALE.COMPLETED", 1),
		} {
			d := p.delivery(t, time.Now(), capture("WH-0", "CAP-2", "another", "7.00"))
			d.Body = forge(t, body, d.Body)
			_, err := p.notify(t, d)
			require.NoError(t, err, name)
			p.retry(t, true)
			p.still(t, victim)
		}
	})
	t.Run("four_days", func(t *testing.T) { //nolint:paralleltest // the order counts
		_, err := p.notify(t, p.delivery(t, time.Now().Add(-4*24*time.Hour-time.Minute), capture("WH-11", "CAP-2", "another", "7.00")))
		require.ErrorIs(t, err, webhooks.ErrTooOld)
		_, err = p.notify(t, p.delivery(t, time.Now().Add(-4*24*time.Hour+time.Minute), capture("WH-12", "CAP-2", "another", "7.00")))
		require.NoError(t, err)
	})
	t.Run("genuine", func(t *testing.T) { //nolint:paralleltest // the order counts
		p.done = true
		_, err := p.notify(t, p.delivery(t, time.Now(), capture("WH-13", "CAP-9", victim.ID.String(), "19.99")))
		require.NoError(t, err)
		p.retry(t, true)
		require.Equal(t, succeeded, standingOf(p.attempt(t, victim.ID).Attempt))
		require.Empty(t, p.verify(t))
	})
}

// paypalEnv is an env with PayPal, where O-1 waits for its customer until it is done and O-2 has
// been paid.
type paypalEnv struct {
	*env
	*paypalhooks.Verifier

	key    *rsa.PrivateKey
	serial int
	done   bool
}

const paypalWebhook = "1JE4291016473214C"

func newPayPalRig(t *testing.T) *paypalEnv {
	t.Helper()
	p := &paypalEnv{}
	taken := func(id, order, custom, value string) string {
		return `{"id":"` + id + `","status":"COMPLETED","custom_id":"` + custom + `","amount":{"currency_code":"EUR","value":"` + value + `"},` +
			`"supplementary_data":{"related_ids":{"order_id":"` + order + `"}}}`
	}
	paid := func(id, capture, custom, value string) string {
		return `{"id":"` + id + `","status":"COMPLETED","purchase_units":[{"custom_id":"` + custom + `","payments":{"captures":[` + taken(capture, id, custom, value) + `]}}]}`
	}
	const waits = `{"id":"O-1","status":"PAYER_ACTION_REQUIRED","links":[{"rel":"payer-action","href":"https://paypal.example/1"}]}`
	const nothing = `{"name":"RESOURCE_NOT_FOUND"}`
	said := map[string]func() string{
		"POST /v1/oauth2/token":    func() string { return `{"access_token":"a","token_type":"Bearer","expires_in":3600}` },
		"POST /v2/checkout/orders": func() string { return waits },
		"GET /v2/checkout/orders/O-1": func() string {
			if p.done {
				return paid("O-1", "CAP-9", "", "19.99")
			}
			return waits
		},
		"GET /v2/checkout/orders/O-2":     func() string { return paid("O-2", "CAP-2", "another", "19.99") },
		"GET /v2/payments/captures/CAP-2": func() string { return taken("CAP-2", "O-2", "another", "19.99") },
		"GET /v2/payments/captures/CAP-9": func() string { return taken("CAP-9", "O-1", "", "19.99") },
	}
	s := answers(t, said)
	s.Config.Handler = missing(s.Config.Handler, nothing, "/CAP-1", "/orders/CAP-2", "/orders/CAP-9", "/captures/O-1")
	p.env = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return paypal.New(s.URL, "id", "secret", s.Client(), time.Now)
	}})
	p.Verifier, p.key = paypalVerifier(t)
	return p
}

// missing answers with 404 to paths that end so.
func missing(next http.Handler, body string, ends ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, end := range ends {
			if strings.HasSuffix(r.URL.Path, end) {
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(body))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// paypalVerifier trusts a certificate of the test's own.
func paypalVerifier(t *testing.T) (*paypalhooks.Verifier, *rsa.PrivateKey) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	const name = "messageverificationcerts.paypal.com"
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})))
	v, err := paypalhooks.New(webhooks.Config{
		Params: map[string]string{"webhook_id": paypalWebhook}, Roots: roots,
		Certificate: func(context.Context, string) ([]byte, error) {
			return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), nil
		},
	})
	require.NoError(t, err)
	return v, key
}

// delivery is one as PayPal makes it.
func (p *paypalEnv) delivery(t *testing.T, at time.Time, body string) webhooks.Delivery {
	t.Helper()
	p.serial++
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)}
	id, sent := fmt.Sprintf("69cd13f0-d67a-11e5-baa3-%012d", p.serial), at.UTC().Format(time.RFC3339)
	signed := sha256.Sum256([]byte(id + "|" + sent + "|" + paypalWebhook + "|" + strconv.FormatUint(uint64(crc32.ChecksumIEEE(d.Body)), 10)))
	signature, err := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, signed[:])
	require.NoError(t, err)
	for name, value := range map[string]string{
		"PAYPAL-TRANSMISSION-ID": id, "PAYPAL-TRANSMISSION-TIME": sent, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
		"PAYPAL-CERT-URL":         "https://api.paypal.com/v1/notifications/certs/CERT-1",
		"PAYPAL-TRANSMISSION-SIG": base64.StdEncoding.EncodeToString(signature),
	} {
		d.Header.Set(name, value)
	}
	return d
}

func (p *paypalEnv) notify(t *testing.T, d webhooks.Delivery) ([]fsm.Verdict, error) {
	t.Helper()
	d.ReceivedAt = time.Now()
	events, err := p.Verify(t.Context(), d)
	if err != nil {
		return nil, err
	}
	return p.Intake(t.Context(), received(d.Body, events...))
}

// still asserts that nothing became of an attempt.
func (p *paypalEnv) still(t *testing.T, was payment.Attempt) {
	t.Helper()
	is := p.attempt(t, was.ID)
	require.Equal(t, was.Version, is.Version)
	require.Equal(t, was.State, is.State)
	require.Equal(t, was.ProviderPaymentID, is.ProviderPaymentID)
	require.Empty(t, p.discrepancies(t, was.ID))
}

func capture(event, id, custom, value string) string {
	return `{"id":"` + event + `","event_type":"PAYMENT.CAPTURE.COMPLETED","create_time":"2026-03-14T15:09:20.000Z","resource":{"id":"` + id +
		`","status":"COMPLETED","custom_id":"` + custom + `","amount":{"currency_code":"EUR","value":"` + value + `"}}}`
}

// forge adds a member to a body so that its CRC-32 equals the CRC-32 of another body. The sum is linear. Each of 48
// letters has two possible values, and elimination finds the right values.
func forge(t *testing.T, body string, like []byte) []byte {
	t.Helper()
	const letters = 48
	made := []byte(strings.TrimSuffix(body, "}") + `,"summary":"` + strings.Repeat("A", letters) + `"}`)
	at := len(made) - letters - 2
	want := crc32.ChecksumIEEE(made) ^ crc32.ChecksumIEEE(like)
	type row struct {
		sum  uint32
		from uint64
	}
	var basis [32]row
	reduce := func(r row) row {
		for r.sum != 0 {
			top := 31 - bits.LeadingZeros32(r.sum)
			if basis[top].sum == 0 {
				break
			}
			r = row{r.sum ^ basis[top].sum, r.from ^ basis[top].from}
		}
		return r
	}
	for i := range letters {
		other := bytes.Clone(made)
		other[at+i] = 'C'
		if r := reduce(row{crc32.ChecksumIEEE(other) ^ crc32.ChecksumIEEE(made), 1 << i}); r.sum != 0 {
			basis[31-bits.LeadingZeros32(r.sum)] = r
		}
	}
	found := reduce(row{want, 0})
	require.Zero(t, found.sum)
	for i := range letters {
		if found.from>>i&1 == 1 {
			made[at+i] = 'C'
		}
	}
	require.Equal(t, crc32.ChecksumIEEE(like), crc32.ChecksumIEEE(made))
	return made
}
