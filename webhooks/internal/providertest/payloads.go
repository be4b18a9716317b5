package providertest

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
)

// payload is the meaning of a sample by its SOURCES.json.
type payload struct {
	Kind       string `json:"kind"`
	JSONValid  *bool  `json:"json_valid"`
	Normalised struct {
		Outcome     string `json:"outcome"`
		EventID     string `json:"event_id"`
		PaymentID   string `json:"payment_id"`
		MerchantRef string `json:"merchant_ref"`
		AmountMinor *int64 `json:"amount_minor"`
		Amount      string `json:"amount"` // in major units
		Currency    string `json:"currency"`
	} `json:"normalised"`
}

// outcomes translates the first word of a sample's outcome into the kinds that say it; "" is a sample without one.
var outcomes = map[string][]webhooks.Kind{
	"":               {webhooks.KindIgnored},
	"informational":  {webhooks.KindIgnored, webhooks.KindDisputed, webhooks.KindDisputeClosed}, // of a dispute
	"ping":           {webhooks.KindIgnored},
	"not":            {webhooks.KindIgnored},
	"pending":        {webhooks.KindProcessing, webhooks.KindActionRequired},
	"open":           {webhooks.KindProcessing, webhooks.KindActionRequired},
	"authorised":     {webhooks.KindAuthorized},
	"authorized":     {webhooks.KindAuthorized},
	"succeeded":      {webhooks.KindSucceeded},
	"captured":       {webhooks.KindSucceeded},
	"paid":           {webhooks.KindSucceeded},
	"attempt_failed": {webhooks.KindSoftFailed, webhooks.KindFailed}, // failed where each try is a payment of its own
	"failed":         {webhooks.KindFailed, webhooks.KindUndone, webhooks.KindSoftFailed},
	"canceled":       {webhooks.KindFailed},
	"expired":        {webhooks.KindFailed},
	"refund_pending": {webhooks.KindRefundPending},
	"refunded":       {webhooks.KindRefundSucceeded},
	"refund_failed":  {webhooks.KindRefundFailed},
	// A failed capture leaves a hold, or reverses its movement.
	"capture_failed": {webhooks.KindSoftFailed, webhooks.KindAuthorized, webhooks.KindReversed},
	"unknown":        {webhooks.KindNotice},
	// Providers differ in when a dispute takes the money, and so in whether one that is won returns any.
	"chargeback":      {webhooks.KindDisputed, webhooks.KindChargeback},
	"chargeback_lost": {webhooks.KindChargeback},
	"chargeback_won":  {webhooks.KindDisputeClosed, webhooks.KindChargebackReversed},

	"authorisation":       {webhooks.KindFailed}, // that expired
	"cancel_failed":       {webhooks.KindProcessing},
	"chargeback_closed":   {webhooks.KindDisputeClosed},
	"chargeback_reversed": {webhooks.KindChargebackReversed},
	"partially":           {webhooks.KindRefundSucceeded}, // refunded
	"shape":               {webhooks.KindIgnored},         // of an unknown status
	"subscription":        {webhooks.KindIgnored},
}

var firstWord = regexp.MustCompile(`^[a-z_]*`)

// paymentOf names the payment if a sample's source names a resource made of the payment: a capture of an authorization.
var paymentOf = map[string]string{"27M47624FP291604U": "7W5147081L658180V"}

// apiAnswers are samples of API responses that only their shape distinguishes from deliveries.
var apiAnswers = []string{"testdata_events.json", "testdata_event_types.json", "testdata_transaction.json"}

// leftOut returns the reason not to read a sample, "" if the sample is a delivery.
func leftOut(name string, sample payload) string {
	switch {
	case strings.Contains(sample.Kind, "API answer"), strings.Contains(sample.Kind, "enum"):
		return sample.Kind
	case slices.Contains(apiAnswers, name):
		return sample.Kind + " (API answer, by its shape)"
	default:
		return ""
	}
}

// Payloads reads every published sample of a provider, if the samples are at hand, and compares the events with the
// sample's source. prepare, if not nil, makes a delivery of a sample that is not a complete body.
func Payloads(t *testing.T, name string, v VerifySigner, prepare func(d *webhooks.Delivery, sample string)) {
	t.Helper()
	folder := published.Path(t, published.Payloads, name)
	var samples map[string]payload
	readJSON(t, filepath.Join(folder, "SOURCES.json"), &samples)
	require.NotEmpty(t, samples)
	for file, sample := range samples {
		if reason := leftOut(file, sample); reason != "" {
			t.Logf("left out %s: %s", file, reason)
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(filepath.Join(folder, file)) //nolint:gosec // a published sample
			require.NoError(t, err)
			d := Unsigned(string(body))
			if prepare != nil {
				prepare(&d, file)
			}
			require.NoError(t, v.Sign(&d))
			checkPayload(t, v, d, sample)
		})
	}
}

// named returns the name at the beginning of a sample's fact, "" if the fact only describes the place of the name.
func named(fact string) string {
	name, _, _ := strings.Cut(fact, " ")
	if !strings.ContainsAny(name, "0123456789") || strings.Contains(fact, "order_ref") {
		return ""
	}
	return name
}

func checkPayload(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, sample payload) {
	t.Helper()
	if sample.JSONValid != nil && !*sample.JSONValid {
		RequireUnreadable(t, v, d)
		return
	}
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	for _, e := range events {
		RequireSound(t, e)
	}
	if len(events) == 1 { // the provider's own test checks the events of a batch
		checkNormalised(t, events[0], sample)
	}
}

func checkNormalised(t *testing.T, e webhooks.Event, sample payload) {
	t.Helper()
	want := sample.Normalised
	word := firstWord.FindString(want.Outcome)
	require.Contains(t, outcomes, word)
	require.Contains(t, outcomes[word], e.Kind)
	if word == "canceled" || word == "expired" {
		require.Equal(t, word, string(e.FailureCode))
	}
	if id := named(want.EventID); id != "" {
		require.Equal(t, id, e.ID)
	}
	if id := named(want.PaymentID); id != "" {
		require.Contains(t, []string{e.ProviderPaymentID, e.Container}, cmp.Or(paymentOf[id], id))
		require.Contains(t, e.References, id)
	}
	if ref := named(want.MerchantRef); ref != "" {
		require.Contains(t, e.References, ref)
	}
	currency, _, _ := strings.Cut(strings.ToUpper(want.Currency), " ")
	if want.AmountMinor != nil {
		require.Equal(t, &webhooks.Money{Minor: *want.AmountMinor, Currency: currency}, e.Money)
	}
	if want.Amount != "" && !e.NeedsFetch {
		money, err := webhooks.ParseDecimal(want.Amount, currency)
		require.NoError(t, err)
		require.Equal(t, &money, e.Money)
	}
}
