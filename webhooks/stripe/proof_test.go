package stripe_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

const stripeSecret = "whsec_paylatch_tests_only"

// newVerifier returns a verifier by the tests' own secret.
func newVerifier(tb testing.TB, secrets ...string) *stripe.Verifier {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{stripeSecret}
	}
	v, err := stripe.New(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

const intentSucceeded = `{"id":"evt_1","type":"payment_intent.succeeded","created":1773500960,"livemode":false,` +
	`"data":{"object":{"id":"pi_1","object":"payment_intent","amount":2000,"amount_received":1999,"currency":"eur",` +
	`"latest_charge":"ch_1","metadata":{"payment_attempt_id":"att_1"}}}}`

func TestHeader(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	good := providertest.Signed(t, v, intentSucceeded).Header.Get("Stripe-Signature")
	stamp, sum, _ := strings.Cut(good, ",v1=")
	for name, test := range map[string]struct {
		header []string
		want   error
	}{
		"missing":            {nil, webhooks.ErrSignatureMissing},
		"empty":              {[]string{""}, webhooks.ErrSignatureMissing},
		"no v1":              {[]string{stamp + ",v0=" + sum}, webhooks.ErrSignatureMissing},
		"no time":            {[]string{"v1=" + sum}, webhooks.ErrSignatureMalformed},
		"time not a number":  {[]string{"t=now,v1=" + sum}, webhooks.ErrSignatureMalformed},
		"two times":          {[]string{good + ",t=1"}, webhooks.ErrSignatureMalformed},
		"no equals sign":     {[]string{good + ",v1"}, webhooks.ErrSignatureMalformed},
		"only not hex":       {[]string{stamp + ",v1=zz"}, webhooks.ErrSignatureInvalid},
		"truncated":          {[]string{good[:len(good)-2]}, webhooks.ErrSignatureInvalid},
		"not hex, then good": {[]string{stamp + ",v1=zz,v1=" + sum}, nil},
		"upper case":         {[]string{stamp + ",v1=" + strings.ToUpper(sum)}, nil},
		"any order":          {[]string{"v0=1,v1=" + sum + "," + stamp}, nil},
		"the header twice":   {[]string{good, good}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := providertest.Signed(t, v, intentSucceeded)
			d.Header = http.Header{"Stripe-Signature": test.header}
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
	providertest.Ages(t, stripe.New, stripeSecret, map[string]providertest.Age{
		"five minutes old": {Tolerance: 0, Age: 5 * time.Minute, Want: nil},
		"older":            {Tolerance: 0, Age: 5*time.Minute + time.Second, Want: webhooks.ErrTooOld},
		"an hour ahead":    {Tolerance: 0, Age: -time.Hour, Want: nil},
		"further ahead":    {Tolerance: 0, Age: -time.Hour - time.Second, Want: webhooks.ErrTooNew},
		"tighter":          {Tolerance: time.Second, Age: 2 * time.Second, Want: webhooks.ErrTooOld},
		"tighter, ahead":   {Tolerance: time.Second, Age: -time.Hour, Want: nil},
		"switched off":     {Tolerance: -1, Age: -24 * 365 * time.Hour, Want: nil},
	})
}

func TestTellsWhichSecretMatched(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, "whsec_new", "whsec_old")
	for want, secret := range []string{"whsec_new", "whsec_old"} {
		events, err := v.Verify(t.Context(), providertest.Signed(t, newVerifier(t, secret), intentSucceeded))
		require.NoError(t, err)
		require.Equal(t, want, events[0].SecretIndex)
	}
	require.ErrorIs(t, providertest.Refused(t, v, providertest.Signed(t, newVerifier(t, "whsec_older"), intentSucceeded)), webhooks.ErrSignatureInvalid)
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{nil, {""}, {stripeSecret, ""}} {
		v, err := stripe.New(webhooks.Config{Secrets: secrets})
		require.ErrorIs(t, err, webhooks.ErrConfig)
		require.Nil(t, v)
	}
	require.Error(t, newVerifier(t).Sign(&webhooks.Delivery{}), "no time")
}
