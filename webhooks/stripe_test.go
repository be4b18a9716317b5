package webhooks_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

const intentSucceeded = `{"id":"evt_1","type":"payment_intent.succeeded","created":1773500960,"livemode":false,` +
	`"data":{"object":{"id":"pi_1","object":"payment_intent","amount":2000,"amount_received":1999,"currency":"eur",` +
	`"latest_charge":"ch_1","metadata":{"payment_attempt_id":"att_1"}}}}`

func TestStripeHeader(t *testing.T) {
	t.Parallel()
	v := newStripe(t)
	good := signed(t, v, intentSucceeded).Header.Get("Stripe-Signature")
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
			d := signed(t, v, intentSucceeded)
			d.Header = http.Header{"Stripe-Signature": test.header}
			if test.want != nil {
				require.ErrorIs(t, refused(t, v, d), test.want)
				return
			}
			_, err := v.Verify(t.Context(), d)
			require.NoError(t, err)
		})
	}
}

func TestStripeTolerance(t *testing.T) {
	t.Parallel()
	checkAges(t, "stripe", stripeSecret, map[string]ageCase{
		"five minutes old": {0, 5 * time.Minute, nil},
		"older":            {0, 5*time.Minute + time.Second, webhooks.ErrTooOld},
		"an hour ahead":    {0, -time.Hour, nil},
		"further ahead":    {0, -time.Hour - time.Second, webhooks.ErrTooNew},
		"tighter":          {time.Second, 2 * time.Second, webhooks.ErrTooOld},
		"tighter, ahead":   {time.Second, -time.Hour, nil},
		"switched off":     {-1, -24 * 365 * time.Hour, nil},
	})
}

func TestStripeTellsWhichSecretMatched(t *testing.T) {
	t.Parallel()
	v := newStripe(t, "whsec_new", "whsec_old")
	for want, secret := range []string{"whsec_new", "whsec_old"} {
		events, err := v.Verify(t.Context(), signed(t, newStripe(t, secret), intentSucceeded))
		require.NoError(t, err)
		require.Equal(t, want, events[0].SecretIndex)
	}
	require.ErrorIs(t, refused(t, v, signed(t, newStripe(t, "whsec_older"), intentSucceeded)), webhooks.ErrSignatureInvalid)
}

func TestStripeNeeds(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{nil, {""}, {stripeSecret, ""}} {
		v, err := webhooks.New("stripe", webhooks.Config{Secrets: secrets})
		require.ErrorIs(t, err, webhooks.ErrConfig)
		require.Nil(t, v)
	}
	require.Error(t, newStripe(t).Sign(&webhooks.Delivery{}), "no time")
}
