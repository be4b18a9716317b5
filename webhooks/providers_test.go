package webhooks_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// say tells what an event says, in one line.
func say(e webhooks.Event) string {
	text := string(e.Kind)
	if e.Money != nil {
		text += fmt.Sprintf(" %d %s", e.Money.Minor, e.Money.Currency)
	}
	if e.Cumulative {
		text += " so far"
	}
	if len(e.References) > 0 {
		text += " of " + strings.Join(e.References, " ")
	}
	if e.RefundID+e.RefundReference != "" {
		text += " by " + e.RefundID + "/" + e.RefundReference
	}
	if e.MovementID != "" {
		text += " moving " + e.MovementID
	}
	if e.FailureCode != "" {
		text += " for " + e.FailureCode + "/" + e.ProviderCode
	}
	if e.NeedsFetch {
		text += ", ask"
	}
	return text
}

// checkSays signs each body and compares what its one event says.
func checkSays(t *testing.T, v verifySigner, bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		require.Equal(t, want, say(parsed(t, v, body)), body)
	}
}

// checkRefusesPayloads requires that genuine deliveries of the bodies are not
// understood.
func checkRefusesPayloads(t *testing.T, v verifySigner, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		require.ErrorIs(t, refused(t, v, signed(t, v, body)), webhooks.ErrPayload, body)
	}
}

// TestATimeWithoutATextIsLeftOut: in UTC a time may lie in a year that neither RFC
// 3339 nor JSON can write. The news counts all the same.
func TestATimeWithoutATextIsLeftOut(t *testing.T) {
	t.Parallel()
	const usual = "2026-03-14T15:09:20Z"
	standard := func(created string) time.Time {
		return parsed(t, newStandard(t), strings.Replace(chargeSucceeded, `"`+usual+`"`, created, 1)).OccurredAt
	}
	xml := braintreeSale("transaction_settled", "")
	form := strings.Replace(cloudPayment, "2026-03-14+15%3a09%3a20", usual, 1) + "&Status=Completed"
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	for created, want := range map[string]time.Time{
		"9999-12-31T23:59:59-01:00": {}, "0000-01-01T00:00:00+01:00": {}, "0000-06-01T00:00:00Z": {}, "0001-01-01T00:00:00+01:00": {},
		"9999-12-31T22:59:59-01:00": last, "0000-12-31T23:00:01-01:00": time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
	} {
		require.Equal(t, want, standard(`"`+created+`"`), created)
		require.Equal(t, want, parsed(t, newBraintree(t), strings.Replace(xml, usual, created, 1)).OccurredAt, created)
		fields := strings.Replace(form, usual, url.QueryEscape(created), 1)
		require.Equal(t, want, cloudPaymentsEvent(t, newCloudPayments(t), "pay", fields).OccurredAt, created)
	}
	for _, seconds := range []string{"253402300800", "1000000000000000000", "1e18", "9223372036854775808", "-1"} {
		require.Zero(t, standard(seconds), seconds)
	}
	require.Equal(t, last, standard("253402300799"))
}

// checkRotation requires that each secret is accepted, told apart and needed.
func checkRotation(t *testing.T, kind, body string, c webhooks.Config) {
	t.Helper()
	both := c
	both.Secrets = []string{"new-secret", "old-secret"}
	v := made(t, kind, both)
	for want, secret := range both.Secrets {
		one := c
		one.Secrets = []string{secret}
		events, err := v.Verify(t.Context(), signed(t, made(t, kind, one), body))
		require.NoError(t, err)
		for _, e := range events {
			require.Equal(t, want, e.SecretIndex)
		}
	}
	older := c
	older.Secrets = []string{"older-secret"}
	require.ErrorIs(t, refused(t, v, signed(t, made(t, kind, older), body)), webhooks.ErrSignatureInvalid)
	for _, secrets := range [][]string{nil, {""}, {"one", ""}} {
		c.Secrets = secrets
		_, err := webhooks.New(kind, c)
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
}

// ageCase is what becomes of a delivery that was signed so long ago, at a
// configured tolerance.
type ageCase struct {
	tolerance, age time.Duration
	want           error
}

// checkAges signs a delivery for each case and verifies it that much later.
func checkAges(t *testing.T, kind, secret string, cases map[string]ageCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := made(t, kind, webhooks.Config{Secrets: []string{secret}, Tolerance: test.tolerance})
			d := signed(t, v, `{"id":"evt_1","type":"x","event_id":"evt_1","event_type":"x"}`)
			d.ReceivedAt = now.Add(test.age)
			_, err := v.Verify(t.Context(), d)
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestNewRefusesAnUnknownKind(t *testing.T) {
	t.Parallel()
	_, err := webhooks.New("cash", webhooks.Config{})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

func TestProvidersAcknowledge(t *testing.T) {
	t.Parallel()
	for _, v := range []webhooks.Verifier{
		newMollie(t), newSquare(t), newRazorpay(t), newCheckout(t), newGoCardless(t), newPaddle(t), newBraintree(t),
		newGoPay(t), newLemonSqueezy(t), newStandard(t), newStripe(t), newPayPal(t), newYooKassa(t),
	} {
		require.Equal(t, webhooks.OK(), v.Ack(webhooks.Delivery{}, nil))
	}
}

func made(tb testing.TB, kind string, c webhooks.Config) verifySigner {
	tb.Helper()
	v, err := webhooks.New(kind, c)
	require.NoError(tb, err)
	both, ok := v.(verifySigner)
	require.True(tb, ok)
	return both
}
