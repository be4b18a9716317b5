package paypal_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/paypal"
)

// captures returns movements of 19.99 EUR each.
func captures(ids ...string) (all []payment.MovementReport) {
	for _, id := range ids {
		all = append(all, payment.MovementReport{Kind: payment.MovementCapture, ID: id, Money: euro(1999)})
	}
	return all
}

func TestHowAnOrderStands(t *testing.T) {
	t.Parallel()
	const sum = `"amount":{"currency_code":"EUR","value":"19.99"}`
	eur := new(euro(1999))
	for members, want := range map[string]gateway.Outcome{
		`"status":"CREATED","links":[{"rel":"approve","href":"https://p/a"}]`: {Event: fsm.EventActionRequired, NextAction: payment.Redirect("https://p/a")},
		`"status":"SAVED"`:      {Event: fsm.EventActionRequired},
		`"status":"MARINATING"`: {Event: fsm.EventProcessing},
		`"status":"COMPLETED"`:  {Event: fsm.EventProcessing},
		`"status":"VOIDED"`:     {Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", "")},
		`"status":"APPROVED"`:   {Event: fsm.EventActionRequired, Approved: true},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"REFUNDED",` + sum + `}]}}]`: {
			Event: fsm.EventSucceeded, Money: eur, ProviderPaymentID: "C1", Movements: captures("C1"),
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"DECLINED"},{"id":"C2","status":"COMPLETED",` + sum + `}]}}]`: {
			Event: fsm.EventSucceeded, Money: eur, ProviderPaymentID: "C2", Movements: captures("C2"),
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"COMPLETED",` + sum + `},{"id":"C2","status":"DECLINED"}]}}]`: {
			Event: fsm.EventSucceeded, Money: eur, ProviderPaymentID: "C1", Movements: captures("C1"),
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"authorizations":[{"id":"A1","status":"CAPTURED"}],"captures":[{"id":"C1","status":"COMPLETED",` + sum + `},{"id":"C2","status":"PARTIALLY_REFUNDED",` + sum + `}]}}]`: {
			Event: fsm.EventSucceeded, Money: new(euro(3998)), ProviderPaymentID: "A1", References: []string{"C1", "C2"}, Movements: captures("C1", "C2"),
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"FERMENTING"}]}}]`: {
			Event: fsm.EventProcessing, ProviderPaymentID: "C1",
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"authorizations":[{"id":"A1","status":"DENIED"},{"id":"A2","status":"CREATED",` + sum + `}]}}]`: {
			Event: fsm.EventAuthorized, Money: eur, ProviderPaymentID: "A2",
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"authorizations":[{"id":"A1","status":"VOIDED"}]}}]`: {
			Event: fsm.EventFailed, Failure: payment.NewFailure("canceled", ""), ProviderPaymentID: "A1",
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"authorizations":[{"id":"A1","status":"CAPTURED"}]}}]`: {
			Event: fsm.EventProcessing, ProviderPaymentID: "A1",
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"PENDING","status_details":{"reason":"PENDING_REVIEW"}}]}}]`: {
			Event: fsm.EventProcessing, ProviderPaymentID: "C1", Review: &payment.ReviewReport{Status: payment.ReviewOpen},
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"authorizations":[{"id":"A1","status":"PENDING","status_details":{"reason":"PENDING_REVIEW"}}]}}]`: {
			Event: fsm.EventProcessing, ProviderPaymentID: "A1", Review: &payment.ReviewReport{Status: payment.ReviewOpen},
		},
		`"status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"PENDING","status_details":{"reason":"ECHECK"}}]}}]`: {
			Event: fsm.EventProcessing, ProviderPaymentID: "C1",
		},
	} {
		switch {
		case want.ProviderPaymentID == "":
		case want.Event == fsm.EventSucceeded, want.Event == fsm.EventAuthorized:
			want.Review = &payment.ReviewReport{Status: payment.ReviewApproved, Implied: true}
		case want.Event == fsm.EventFailed:
			want.Review = &payment.ReviewReport{Status: payment.ReviewDeclined, Implied: true}
		}
		got, err := says(t, http.StatusOK, `{"id":"O1",`+members+`}`).Lookup(t.Context(), "O1")
		require.NoError(t, err, members)
		want.Container, want.References = "O1", append(want.References, "O1")
		require.Equal(t, want, got, members)
	}
}

// An amount that is not whole in the currency's own digits is not rounded.
func TestAnAmountThatIsNoneIsUnknown(t *testing.T) {
	t.Parallel()
	for _, sum := range []string{`{"currency_code":"JPY","value":"19.99"}`, `{"currency_code":"EUR"}`, `null`} {
		_, err := says(t, http.StatusOK, `{"id":"O1","status":"COMPLETED","purchase_units":[{"payments":{"captures":[{"id":"C1","status":"COMPLETED","amount":`+sum+`}]}}]}`).
			Lookup(t.Context(), "O1")
		require.Error(t, err, sum)
		_, err = says(t, http.StatusOK, `{"id":"R1","status":"COMPLETED","amount":`+sum+`}`).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "R1"})
		require.Error(t, err, sum)
	}
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]gateway.RefundOutcome{
		"COMPLETED": {Event: fsm.EventSucceeded}, "PENDING": {Event: fsm.EventProcessing}, "RIPENING": {Event: fsm.EventProcessing},
		"FAILED":    {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "ECHECK")},
		"CANCELLED": {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "ECHECK")},
	} {
		c := says(t, http.StatusOK, `{"id":"R1","status":"`+status+`","amount":{"currency_code":"EUR","value":"5.00"},"status_details":{"reason":"ECHECK"}}`)
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "R1"})
		require.NoError(t, err)
		want.ProviderRefundID, want.Money = "R1", new(euro(500))
		require.Equal(t, want, got, status)
	}
}

// A webhook and a lookup of an object must agree, except about an approval: only the lookup decides how long an approved
// order may wait.
func TestLookupsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	const sum = `,"amount":{"currency_code":"EUR","value":"19.99"},"create_time":"2026-03-14T15:09:26Z"`
	for event, c := range map[string]struct{ in, resource string }{
		"CHECKOUT.ORDER.APPROVED":                {"", `{"id":"O1","status":"APPROVED"}`},
		"CHECKOUT.ORDER.VOIDED":                  {"", `{"id":"O1","status":"VOIDED"}`},
		"PAYMENT.CAPTURE.COMPLETED":              {"captures", `{"id":"C1","status":"COMPLETED"` + sum + `}`},
		"PAYMENT.CAPTURE.PENDING":                {"captures", `{"id":"C1","status":"PENDING","status_details":{"reason":"PENDING_REVIEW"}` + sum + `}`},
		"PAYMENT.CAPTURE.DENIED":                 {"captures", `{"id":"C1","status":"DECLINED","status_details":{"reason":"BUYER_COMPLAINT"}` + sum + `}`},
		"PAYMENT.CAPTURE.DECLINED":               {"captures", `{"id":"C1","status":"DECLINED","status_details":{"reason":"OTHER"}` + sum + `}`},
		"PAYMENT.CAPTURE.DENIED of a poor card":  {"captures", `{"id":"C1","status":"DECLINED","processor_response":{"response_code":"5120"}` + sum + `}`},
		"PAYMENT.CAPTURE.DENIED by the bank":     {"captures", `{"id":"C1","status":"FAILED","processor_response":{"response_code":"5650"}` + sum + `}`},
		"PAYMENT.CAPTURE.DENIED for any reason":  {"captures", `{"id":"C1","status":"DECLINED","processor_response":{"response_code":"0500"}` + sum + `}`},
		"PAYMENT.CAPTURE.DENIED as fraud":        {"captures", `{"id":"C1","status":"DECLINED","processor_response":{"response_code":"9500"}` + sum + `}`},
		"PAYMENT.AUTHORIZATION.CREATED":          {"authorizations", `{"id":"A1","status":"CREATED"` + sum + `}`},
		"PAYMENT.AUTHORIZATION.CREATED, pending": {"authorizations", `{"id":"A1","status":"PENDING"` + sum + `}`},
		"PAYMENT.AUTHORIZATION.VOIDED":           {"authorizations", `{"id":"A1","status":"VOIDED","update_time":"2026-03-14T15:09:26Z","expiration_time":"2026-04-14T15:09:26Z"` + sum + `}`},
		"PAYMENT.AUTHORIZATION.VOIDED, late":     {"authorizations", `{"id":"A1","status":"VOIDED","update_time":"2026-03-14T15:09:26Z","expiration_time":"2026-03-14T15:09:26Z"` + sum + `}`},
	} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			told := webhook(t, strings.FieldsFunc(event, func(r rune) bool { return r == ' ' || r == ',' })[0], c.resource)
			order := c.resource
			if c.in != "" {
				order = `{"id":"O1","status":"COMPLETED","purchase_units":[{"payments":{"` + c.in + `":[` + c.resource + `]}}]}`
			}
			found, err := says(t, http.StatusOK, order).Lookup(t.Context(), "O1")
			require.NoError(t, err)
			require.Equal(t, told.Approved, found.Approved)
			if told.Approved {
				require.Equal(t, webhooks.KindProcessing, told.Kind)
				told.Kind = webhooks.KindActionRequired
			}
			require.EqualValues(t, told.Kind, found.Event, "kinds and news have the same words")
			if found.Money != nil {
				require.Equal(t, webhooks.Money{Minor: found.Money.Minor, Currency: string(found.Money.Currency)}, *told.Money)
			}
			if found.Failure != nil || told.FailureCode != "" {
				require.Equal(t, payment.NewFailure(told.FailureCode, told.ProviderCode), found.Failure)
			}
			require.Equal(t, told.ProviderPaymentID, found.ProviderPaymentID)
			require.Contains(t, []string{"", found.Container}, told.Container)
		})
	}
}

// A failed capture of a hold is soft, in the webhook and in the lookup.
func TestADeclinedCaptureOfWhatIsHeldIsSoft(t *testing.T) {
	t.Parallel()
	const capture = `{"id":"C1","status":"DECLINED","processor_response":{"response_code":"5120"},"amount":{"currency_code":"EUR","value":"19.99"},
		"links":[{"rel":"up","href":"https://api-m.paypal.com/v2/payments/authorizations/A1"}]}`
	told := webhook(t, "PAYMENT.CAPTURE.DECLINED", capture)
	found, err := says(t, http.StatusOK, `{"id":"O1","status":"COMPLETED","purchase_units":[{"payments":{
		"authorizations":[{"id":"A1","status":"CREATED"}],"captures":[`+capture+`]}}]}`).Lookup(t.Context(), "O1")
	require.NoError(t, err)
	require.Equal(t, fsm.EventSoftFailed, found.Event)
	require.EqualValues(t, told.Kind, found.Event)
	require.Equal(t, payment.NewFailure(told.FailureCode, told.ProviderCode), found.Failure)
	require.Equal(t, "A1", found.ProviderPaymentID)
	require.Equal(t, told.ProviderPaymentID, found.ProviderPaymentID)
}

// signer signs webhooks that PayPal's verifier accepts.
type signer struct {
	key  *rsa.PrivateKey
	pem  []byte
	pool *x509.CertPool
}

var paypalSigner = sync.OnceValues(func() (signer, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return signer{}, err
	}
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "messageverificationcerts.paypal.com"},
		DNSNames: []string{"messageverificationcerts.paypal.com"}, NotBefore: noon.Add(-time.Hour), NotAfter: noon.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
	if err != nil {
		return signer{}, err
	}
	s := signer{key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), x509.NewCertPool()}
	s.pool.AppendCertsFromPEM(s.pem)
	return s, nil
})

// webhook returns the event that the verifier reads from a genuine delivery.
func webhook(t *testing.T, event, resource string) webhooks.Event {
	t.Helper()
	by, err := paypalSigner()
	require.NoError(t, err)
	v, err := hooks.New(webhooks.Config{
		Params: map[string]string{"webhook_id": "W1"}, Roots: by.pool,
		Certificate: func(context.Context, string) ([]byte, error) { return by.pem, nil },
	})
	require.NoError(t, err)
	body, err := json.Marshal(map[string]any{
		"id": "WH-1", "event_type": event, "create_time": "2026-03-14T15:09:26Z", "resource": json.RawMessage(resource),
	})
	require.NoError(t, err)
	at := noon.Format(time.RFC3339)
	sum := sha256.Sum256(fmt.Appendf(nil, "T1|%s|W1|%d", at, crc32.ChecksumIEEE(body)))
	signature, err := rsa.SignPKCS1v15(rand.Reader, by.key, crypto.SHA256, sum[:])
	require.NoError(t, err)
	events, err := v.Verify(t.Context(), webhooks.Delivery{Method: http.MethodPost, Body: body, ReceivedAt: noon, Header: http.Header{
		"Paypal-Transmission-Id": {"T1"}, "Paypal-Transmission-Time": {at}, "Paypal-Auth-Algo": {"SHA256withRSA"},
		"Paypal-Cert-Url":         {"https://api.paypal.com/v1/notifications/certs/CERT-1"},
		"Paypal-Transmission-Sig": {base64.StdEncoding.EncodeToString(signature)},
	}})
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

func TestRefundsAgreeWithTheWebhooks(t *testing.T) {
	t.Parallel()
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindRefundPending: fsm.EventProcessing, webhooks.KindRefundSucceeded: fsm.EventSucceeded, webhooks.KindRefundFailed: fsm.EventFailed,
	}
	for _, status := range []string{"COMPLETED", "PENDING", "FAILED", "CANCELLED"} {
		const mine = "0196b1a2-0000-7000-8000-000000000001"
		resource := `{"id":"R1","status":"` + status + `","custom_id":"` + mine + `","amount":{"currency_code":"EUR","value":"5.00"},
			"links":[{"rel":"up","href":"https://api-m.paypal.com/v2/payments/captures/C1"}]}`
		told := webhook(t, "PAYMENT.CAPTURE.REFUNDED", resource)
		found, err := says(t, http.StatusOK, resource).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "R1"})
		require.NoError(t, err)
		require.Equal(t, news[told.Kind], found.Event, status)
		require.Equal(t, told.RefundID, found.ProviderRefundID)
		require.Equal(t, mine, told.RefundReference)
	}
}
