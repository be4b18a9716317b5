package engine_test

import (
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
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

func TestChargeback(t *testing.T) {
	t.Parallel()
	t.Run("equal_ones_count_each", chargebackEqualOnesCountEach)
	t.Run("equal_ones_beside_totals", chargebackEqualOnesBesideTotals)
	t.Run("of_two_attempts", chargebackOfTwoAttempts)
	t.Run("returns_late_money", chargebackReturnsLateMoney)
	t.Run("in_another_currency", chargebackInAnotherCurrency)
	t.Run("found_by_a_lookup", chargebackFoundByALookup)
}

// disputing is how a provider reports money that a chargeback took, and money that came back:
// the body of a delivery about a dispute of 5.00 of a payment. A provider that does not report
// money that comes back has no returns.
type disputing struct {
	config      webhooks.Config
	takes, back func(dispute, payment string) string
	takesAgain  func(dispute, payment string) string
}

// serial makes the id of an event another one each time that it is sent.
func serial() string { return "evt_" + uuid.NewString() }

func adyenItem(code string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"live":"false","notificationItems":[{"NotificationRequestItem":{"amount":{"currency":"EUR","value":500},"eventCode":"` + code +
			`","eventDate":"2026-01-01T01:00:00+01:00","merchantAccountCode":"M","merchantReference":"","originalReference":"` + payment +
			`","pspReference":"` + dispute + `","reason":"","success":"true","additionalData":{}}}]}`
	}
}

func stripeDispute(event string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"id":"` + serial() + `","type":"charge.dispute.` + event + `","created":1767225600,"livemode":false,"data":{"object":{"id":"` + dispute +
			`","object":"dispute","amount":500,"currency":"eur","charge":"` + payment + `","status":"needs_response"}}}`
	}
}

func squareDispute(state string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"event_id":"` + serial() + `","type":"dispute.state.updated","created_at":"2026-01-01T00:00:00Z","data":{"object":{"dispute":{"dispute_id":"` +
			dispute + `","id":"` + dispute + `","state":"` + state + `","amount_money":{"amount":500,"currency":"EUR"},"disputed_payment":{"payment_id":"` + payment + `"}}}}}`
	}
}

func checkoutDispute(event string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"id":"` + serial() + `","type":"` + event + `","timestamp":"2026-01-01T00:00:00Z","data":{"id":"` + dispute + `","payment_id":"` + payment +
			`","amount":500,"currency":"EUR"}}`
	}
}

func mollieChargeback(event string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"resource":"event","id":"` + serial() + `","type":"chargeback.` + event + `","entityId":"chb_` + dispute + `","createdAt":"2026-01-01T00:00:00Z",` +
			`"_embedded":{"entity":{"resource":"chargeback","id":"chb_` + dispute + `","amount":{"currency":"EUR","value":"5.00"},"paymentId":"` + payment + `"}}}`
	}
}

func paddleAdjustment(action string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"event_id":"` + serial() + `","event_type":"adjustment.updated","occurred_at":"2026-01-01T00:00:00Z","data":{"id":"` + action + dispute + `","action":"` +
			action + `","status":"approved","transaction_id":"` + payment + `","currency_code":"EUR","totals":{"total":"500"}}}`
	}
}

func braintreeDispute(kind string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `<notification><timestamp>2026-01-01T00:00:00Z</timestamp><kind>` + kind + `</kind><subject><dispute><id>` + dispute +
			`</id><kind>chargeback</kind><amount>5.00</amount><amount-disputed>5.00</amount-disputed><amount-won>5.00</amount-won><currency-iso-code>EUR</currency-iso-code>` +
			`<transaction><id>` + payment + `</id></transaction></dispute></subject></notification>`
	}
}

func razorpayDispute(event string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"entity":"event","event":"payment.dispute.` + event + `","contains":["payment","dispute"],"payload":{"payment":{"entity":{"id":"` + payment +
			`","captured":true}},"dispute":{"entity":{"id":"` + dispute + `","payment_id":"` + payment + `","amount":500,"amount_deducted":500,"currency":"EUR"}}},"created_at":1589908238}`
	}
}

func paypalDispute(outcome string) func(dispute, payment string) string {
	return func(dispute, payment string) string {
		return `{"id":"` + serial() + `","event_type":"CUSTOMER.DISPUTE.RESOLVED","create_time":"2026-01-01T00:00:00Z","resource":{"dispute_id":"` + dispute +
			`","status":"RESOLVED","dispute_amount":{"currency_code":"EUR","value":"5.00"},"dispute_outcome":{"outcome_code":"` + outcome +
			`"},"disputed_transactions":[{"seller_transaction_id":"` + payment + `"}]}}`
	}
}

var textSecret = webhooks.Config{Secrets: []string{"a secret of the tests"}, PublicURL: "https://pay.example/webhooks", Params: map[string]string{"public_key": "pk"}}

// disputingProviders are the providers that report chargebacks by their webhooks.
var disputingProviders = map[string]disputing{
	"adyen": {
		config: webhooks.Config{Secrets: []string{"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"}},
		takes:  adyenItem("CHARGEBACK"), back: adyenItem("CHARGEBACK_REVERSED"), takesAgain: adyenItem("SECOND_CHARGEBACK"),
	},
	"adyen, before arbitration": {
		config: webhooks.Config{Secrets: []string{"44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"}},
		takes:  adyenItem("CHARGEBACK"), back: adyenItem("PREARBITRATION_WON"),
	},
	"stripe":    {config: textSecret, takes: stripeDispute("funds_withdrawn"), back: stripeDispute("funds_reinstated")},
	"square":    {config: textSecret, takes: squareDispute("EVIDENCE_REQUIRED"), back: squareDispute("WON")},
	"checkout":  {config: textSecret, takes: checkoutDispute("dispute_evidence_required"), back: checkoutDispute("dispute_won")},
	"mollie":    {config: textSecret, takes: mollieChargeback("received"), back: mollieChargeback("reversed")},
	"paddle":    {config: textSecret, takes: paddleAdjustment("chargeback"), back: paddleAdjustment("chargeback_reverse")},
	"braintree": {config: textSecret, takes: braintreeDispute("dispute_opened"), back: braintreeDispute("dispute_won")},
	"razorpay":  {config: textSecret, takes: razorpayDispute("lost")},
	"paypal":    {takes: paypalDispute("RESOLVED_BUYER_FAVOUR")},
}

// Three chargebacks of 5.00 with different ids sum up to 15.00. A won chargeback comes back. A repeated report, by
// another event, changes nothing. This holds in any order.
func chargebackEqualOnesCountEach(t *testing.T) {
	t.Parallel()
	for name, p := range disputingProviders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newEnv(t, setup{silent: true})
			kind, _, _ := strings.Cut(name, ",")
			v, sign := signer(t, kind, p.config)
			for i, order := range sample(permutations(6)) {
				a := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", i)), "tok_success").Attempt
				one, two, three := fmt.Sprintf("D%dA", i), fmt.Sprintf("D%dB", i), fmt.Sprintf("D%dC", i)
				steps := []func() string{
					func() string { return p.takes(one, a.ProviderPaymentID) },
					func() string { return p.takes(two, a.ProviderPaymentID) },
					func() string { return p.takes(two, a.ProviderPaymentID) },
					func() string { return p.takes(three, a.ProviderPaymentID) },
				}
				want := int64(price - 1500)
				if p.back != nil {
					steps = append(steps, func() string { return p.back(one, a.ProviderPaymentID) })
					want += 500
				}
				if p.takesAgain != nil {
					steps = append(steps, func() string { return p.takesAgain(one, a.ProviderPaymentID) })
					want -= 500
				}
				for _, n := range order {
					if n < len(steps) {
						r.notify(t, v, sign(t, steps[n]()))
					}
				}
				r.retry(t, true) // PayPal's events are hints: the payment is looked up
				require.Equal(t, want, r.attempt(t, a.ID).Held(), "%v", order)
			}
			require.Empty(t, r.verify(t))
		})
	}
}

// A total beside named chargebacks counts the part that their names do not cover. A return may arrive before its
// chargeback. In any order and number of reports, the sums are the same.
func chargebackEqualOnesBesideTotals(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		a := r.paid(t, payment.OrderID(fmt.Sprintf("A-%d", n)), "tok_success").Attempt
		told := rapid.SliceOfN(anyMovement, 1, 8).Draw(rt, "told")
		again := rapid.SliceOfN(rapid.SampledFrom(told), 0, 4).Draw(rt, "told again")
		for _, m := range rapid.Permutation(append(told, again...)).Draw(rt, "in this order") {
			r.tell(t, m.event(a))
		}
		got := r.attempt(t, a.ID)
		require.Equal(rt, [2]int64{sumOf(told, webhooks.KindReversed), sumOf(told, webhooks.KindChargeback) - sumOf(told, webhooks.KindChargebackReversed)}, [2]int64{got.Reversed, got.Disputed})
		require.Equal(rt, max(0, price-got.Reversed-max(0, got.Disputed)), got.Held())
		require.Empty(rt, differencesOf(r.verify(t), a.ID))
	})
}

// moved is the money of an event: by a name, which is always of one amount, or a total.
type moved struct {
	Kind   webhooks.Kind
	ID     string
	Amount int64
}

var anyMovement = rapid.Custom(func(t *rapid.T) moved {
	m := moved{Kind: rapid.SampledFrom([]webhooks.Kind{webhooks.KindChargeback, webhooks.KindChargeback, webhooks.KindChargebackReversed, webhooks.KindReversed}).Draw(t, "kind")}
	m.ID = rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "id")
	m.Amount = map[string]int64{"one": 500, "two": 500, "three": 300}[m.ID]
	if m.ID == "" {
		m.Amount = rapid.SampledFrom([]int64{0, 300, 500, 700, 1000, 1300}).Draw(t, "total")
	}
	return m
})

func (m moved) event(a payment.Attempt) webhooks.Event {
	e := event(m.Kind, a.ID.String())
	e.Money = &webhooks.Money{Minor: m.Amount, Currency: "EUR"}
	if m.ID != "" {
		e.MovementID = m.ID + a.ID.String()
	}
	return e
}

// sumOf is the larger of the named sum and the largest total.
func sumOf(told []moved, kind webhooks.Kind) int64 {
	var named, total int64
	seen := map[string]bool{}
	for _, m := range told {
		switch {
		case m.Kind != kind:
		case m.ID == "":
			total = max(total, m.Amount)
		case !seen[m.ID]:
			seen[m.ID] = true
			named += m.Amount
		}
	}
	return max(named, total)
}

func differencesOf(all []verify.Difference, id payment.AttemptID) (of []verify.Difference) {
	for _, d := range all {
		if d.AttemptID == id {
			of = append(of, d)
		}
	}
	return of
}

// A dispute that is reported of two payments needs review, and counts once.
func chargebackOfTwoAttempts(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	one, two := r.paid(t, "A-1", "tok_success").Attempt, r.paid(t, "A-2", "tok_success").Attempt
	of := func(a payment.Attempt) webhooks.Event {
		e := moved{webhooks.KindChargeback, "", 500}.event(a)
		e.MovementID = "dp_1"
		return e
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, of(one)))
	require.Equal(t, []fsm.Verdict{fsm.Conflict, fsm.Repeat}, r.tell(t, of(two), of(one)))
	for _, verdict := range []fsm.Verdict{fsm.Applied, fsm.Repeat} {
		back := of(one)
		back.Kind = webhooks.KindChargebackReversed
		require.Equal(t, []fsm.Verdict{verdict}, r.tell(t, back))
	}
	require.EqualValues(t, price, r.attempt(t, one.ID).Held())
	require.EqualValues(t, price, r.attempt(t, two.ID).Held())
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, two.ID))
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, one.ID))
	require.Empty(t, r.verify(t))
}

// Money that comes back of a chargeback to an attempt that failed, and that held nothing
// any more, is late money.
func chargebackReturnsLateMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_decline").Attempt
	whole := func(kind webhooks.Kind) webhooks.Event {
		e := moved{kind, "one", price}.event(a)
		e.Money.Minor = price
		return e
	}
	r.tell(t, event(webhooks.KindSucceeded, a.ID.String()), whole(webhooks.KindChargeback))
	require.Zero(t, r.attempt(t, a.ID).Held())
	second := r.pay(t, "A-1", "second-key", "tok_success")
	require.Equal(t, succeeded, standingOf(second.Attempt))
	r.tell(t, whole(webhooks.KindChargebackReversed))
	require.EqualValues(t, price, r.attempt(t, a.ID).Held())
	require.Equal(t, []string{"double_success", "late_success", "payment_reversed"}, r.discrepancies(t, a.ID))
	require.Empty(t, r.verify(t))
}

// A chargeback in another currency is kept and is in no sum.
func chargebackInAnotherCurrency(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success").Attempt
	for range 2 {
		e := moved{webhooks.KindChargeback, "one", 500}.event(a)
		e.Money.Currency = "USD"
		require.Equal(t, []fsm.Verdict{fsm.Conflict}, r.tell(t, e))
	}
	require.EqualValues(t, price, r.attempt(t, a.ID).Held())
	require.Equal(t, []string{"currency_mismatch"}, r.discrepancies(t, a.ID))
	require.Equal(t, []string{"500 USD"}, rows[string](t, r, "SELECT amount || ' ' || currency FROM money_movements WHERE kind = 'chargeback'"))
	require.Empty(t, r.verify(t))
}

// sample is some of many orders.
func sample(orders [][]int) (some [][]int) {
	for i := 0; i < len(orders); i += 37 {
		some = append(some, orders[i])
	}
	return some
}

// signer is the verifier of a kind, and the function that makes valid deliveries for it.
func signer(t *testing.T, kind string, c webhooks.Config) (webhooks.Verifier, func(t *testing.T, body string) webhooks.Delivery) {
	t.Helper()
	sign := func(*webhooks.Delivery) error { return nil }
	if kind == "paypal" {
		c, sign = paypalSigner(t)
	}
	v, err := all.New(kind, c)
	require.NoError(t, err)
	if s, ok := v.(webhooks.Signer); ok {
		sign = s.Sign
	}
	return v, func(t *testing.T, body string) webhooks.Delivery {
		t.Helper()
		d := webhooks.Delivery{ReceivedAt: time.Now(), URL: c.PublicURL, Body: []byte(body), Header: http.Header{}}
		if kind == "standard" || kind == "sandbox" {
			d.Header.Set("Webhook-Id", serial())
		}
		require.NoError(t, sign(&d))
		return d
	}
}

// paypalSigner signs by a certificate of the test's own.
func paypalSigner(t *testing.T) (webhooks.Config, func(*webhooks.Delivery) error) {
	t.Helper()
	const webhookID, name = "1JE4291016473214C", "messageverificationcerts.paypal.com"
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	root, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(root)
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	config := webhooks.Config{
		Params: map[string]string{"webhook_id": webhookID}, Roots: roots,
		Certificate: func(context.Context, string) ([]byte, error) { return chain, nil },
	}
	return config, func(d *webhooks.Delivery) error {
		id, at := uuid.NewString(), d.ReceivedAt.UTC().Format(time.RFC3339)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%d", id, at, webhookID, crc32.ChecksumIEEE(d.Body)))
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
		for member, value := range map[string]string{
			"PAYPAL-TRANSMISSION-ID": id, "PAYPAL-TRANSMISSION-TIME": at, "PAYPAL-AUTH-ALGO": "SHA256withRSA",
			"PAYPAL-CERT-URL": "https://api.paypal.com/v1/notifications/certs/CERT-1", "PAYPAL-TRANSMISSION-SIG": base64.StdEncoding.EncodeToString(signature),
		} {
			d.Header.Set(member, value)
		}
		return err
	}
}

// A notice that names only the payment, with a lookup that lists a chargeback.
func chargebackFoundByALookup(t *testing.T) {
	t.Parallel()
	back := &charger{}
	r := newEnv(t, setup{silent: true, provider: back.on})
	paid := r.paid(t, "A-1", "tok_success")
	for range 2 {
		notice := event(webhooks.KindNotice, paid.ProviderPaymentID)
		notice.NeedsFetch, notice.ProviderPaymentID = true, paid.ProviderPaymentID
		require.Equal(t, []fsm.Verdict{payment.VerdictDeferred}, r.tell(t, notice))
		r.exec(t, "UPDATE provider_events SET next_try_at = now() WHERE next_try_at IS NOT NULL")
		_, err := r.RetryParked(t.Context(), 10)
		require.NoError(t, err)
	}
	a := r.attempt(t, paid.ID)
	require.Equal(t, succeeded, standingOf(a.Attempt))
	require.EqualValues(t, 700, a.AmountDisputed())
	require.Equal(t, []string{"payment_reversed"}, r.discrepancies(t, paid.ID))
	require.ElementsMatch(t, []string{"applied", "repeat"}, r.verdicts(t, paid.ID))
}

// charger is a provider with a chargeback in its lookups.
type charger struct{ gateway.Provider }

func (p *charger) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *charger) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	out, err := p.Provider.Lookup(ctx, id)
	out.Movements = []payment.MovementReport{{Kind: payment.MovementChargeback, Money: payment.Money{Minor: 700, Currency: "EUR"}}}
	return out, err
}
