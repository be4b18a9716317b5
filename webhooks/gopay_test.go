package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

func newGoPay(tb testing.TB) *webhooks.GoPay {
	tb.Helper()
	v, err := webhooks.NewGoPay(webhooks.Config{})
	require.NoError(tb, err)
	return v
}

// queried makes a delivery of an address: what a scheme without body and
// signature sends.
type queried struct{ webhooks.Verifier }

func (queried) Sign(d *webhooks.Delivery) error {
	d.Method, d.URL, d.Body = http.MethodGet, strings.TrimSpace(string(d.Body)), nil
	return nil
}

func TestGoPayNotice(t *testing.T) {
	t.Parallel()
	first := parsed(t, queried{newGoPay(t)}, "https://pay.example/webhooks/gp?id=3000006529")
	require.Equal(t, webhooks.Event{
		ID: first.ID, IDSource: webhooks.Derived, Kind: webhooks.KindNotice, References: []string{"3000006529"},
		ProviderPaymentID: "3000006529", NeedsFetch: true, SecretIndex: -1,
	}, first)
	again, err := newGoPay(t).Verify(t.Context(), webhooks.Delivery{URL: "/?id=3000006529", ReceivedAt: now.Add(time.Millisecond)})
	require.NoError(t, err)
	require.NotEqual(t, first.ID, again[0].ID, "a notice is never a duplicate")
}

func TestGoPayRefusesWhatIsNoID(t *testing.T) {
	t.Parallel()
	v := newGoPay(t)
	for _, url := range []string{"", "/", "/?id=", "/?id=1x", "/?id=-1", "/?id=1&id=2", "/?id=../1", "/?id=%", "/?ID=1", "/?id=12345678901234567890", "/#?id=1"} {
		require.ErrorIs(t, refused(t, v, webhooks.Delivery{URL: url, Body: []byte("id=1")}), webhooks.ErrPayload, url)
	}
}

func ExampleGoPay_Verify() {
	gopay, err := webhooks.NewGoPay(webhooks.Config{})
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

func FuzzGoPay(f *testing.F) {
	for _, url := range []string{"/notify?id=3000006529", "/?id=1&id=1", "/?id=x", "?id=%31", "", "#?id=1"} {
		f.Add(url)
	}
	v := newGoPay(f)
	f.Fuzz(func(t *testing.T, url string) {
		events, err := v.Verify(t.Context(), webhooks.Delivery{URL: url, ReceivedAt: now})
		if err != nil {
			require.ErrorIs(t, err, webhooks.ErrPayload)
			return
		}
		requireSound(t, events[0])
		require.Regexp(t, `^[0-9]{1,19}$`, events[0].ProviderPaymentID)
		require.True(t, events[0].NeedsFetch)
	})
}
