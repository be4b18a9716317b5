package gopay_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/gopay"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func newVerifier(tb testing.TB) *gopay.Verifier {
	tb.Helper()
	v, err := gopay.New(webhooks.Config{})
	require.NoError(tb, err)
	return v
}

// queried makes a delivery of an address, as a scheme without body and signature sends it.
type queried struct{ webhooks.Verifier }

func (queried) Sign(d *webhooks.Delivery) error {
	d.Method, d.URL, d.Body = http.MethodGet, strings.TrimSpace(string(d.Body)), nil
	return nil
}

func TestNotice(t *testing.T) {
	t.Parallel()
	first := providertest.Parsed(t, queried{newVerifier(t)}, "https://pay.example/webhooks/gp?id=3000006529")
	require.Equal(t, webhooks.Event{
		ID: first.ID, IDSource: webhooks.Derived, Kind: webhooks.KindNotice, References: []string{"3000006529"},
		ProviderPaymentID: "3000006529", NeedsFetch: true, SecretIndex: -1,
	}, first)
	again, err := newVerifier(t).Verify(t.Context(), webhooks.Delivery{URL: "/?id=3000006529", ReceivedAt: providertest.Now.Add(time.Millisecond)})
	require.NoError(t, err)
	require.NotEqual(t, first.ID, again[0].ID, "a notice is never a duplicate")
}

func TestRefusesWhatIsNoID(t *testing.T) {
	t.Parallel()
	v := newVerifier(t)
	for _, url := range []string{"", "/", "/?id=", "/?id=1x", "/?id=-1", "/?id=1&id=2", "/?id=../1", "/?id=%", "/?ID=1", "/?id=12345678901234567890", "/#?id=1"} {
		require.ErrorIs(t, providertest.Refused(t, v, webhooks.Delivery{URL: url, Body: []byte("id=1")}), webhooks.ErrPayload, url)
	}
}

// TestQueryOfTheShop: GoPay adds its id to the query of the shop's address.
func TestQueryOfTheShop(t *testing.T) {
	t.Parallel()
	v := queried{newVerifier(t)}
	for query, want := range map[string][]string{
		"tag=a&tag=b&payment_attempt_id=att_1&id=5":                   {"att_1", "5"},
		"payment_attempt_id=att_1&payment_attempt_id=att_2&id=5&id=5": {"5"},
	} {
		e := providertest.Parsed(t, v, "https://pay.example/webhooks/gp?"+query)
		require.Equal(t, want, e.References, query)
		require.Equal(t, len(want) == 2, e.BrowserMark, "anybody can call the address")
	}
}

func ExampleVerifier_Verify() {
	gopay, err := gopay.New(webhooks.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	events, err := gopay.Verify(context.Background(), webhooks.Delivery{
		Method: http.MethodGet, URL: "https://pay.example/webhooks/gopay?id=3000006529", ReceivedAt: time.Unix(1773500966, 0),
	})
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, e.NeedsFetch)
	}
	// Output:
	// <nil>
	// notice [3000006529] true
}

func FuzzVerify(f *testing.F) {
	for _, url := range []string{"/notify?id=3000006529", "/?id=1&id=1", "/?id=x", "?id=%31", "", "#?id=1"} {
		f.Add(url)
	}
	v := newVerifier(f)
	f.Fuzz(func(t *testing.T, url string) {
		events, err := v.Verify(t.Context(), webhooks.Delivery{URL: url, ReceivedAt: providertest.Now})
		if err != nil {
			require.ErrorIs(t, err, webhooks.ErrPayload)
			return
		}
		providertest.RequireSound(t, events[0])
		require.Regexp(t, `^[0-9]{1,19}$`, events[0].ProviderPaymentID)
		require.True(t, events[0].NeedsFetch)
	})
}
