package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/payment"
)

// An unsigned delivery about an unknown payment is not stored. The sender gets the acknowledgement all the same.
func TestAnUnsignedDeliveryOfNoKnownPaymentIsNotStored(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t)
	v.unsigned, b.payments.unknown = true, true
	got := b.send(http.MethodPost, "/webhooks/sandbox", "{}")
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, "unmatched,unmatched", got.Header.Get("Webhook-Result"))
	require.Empty(t, b.payments.received)
	require.Equal(t, []string{"sandbox 127.0.0.0/24: evt_1"}, b.payments.early)
	b.send(http.MethodPost, "/webhooks/sandbox", strings.Repeat("a", 32<<10+1)).is(t, 413, "body-too-large")
	b.payments.err = payment.ErrOverloaded
	got = b.send(http.MethodPost, "/webhooks/sandbox", "{}")
	require.True(t, got.is(t, 503, "overloaded").Retryable)
	require.Empty(t, got.Header.Get("Webhook-Result"))
}

// A network has lanes of its own, and a share of its own of the deliveries about existing payments.
func TestUnsignedDeliveriesAreLimitedByNetwork(t *testing.T) {
	t.Parallel()
	b, v := newReceiver(t, func(o *api.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	v.unsigned = true
	from := func(address string) int {
		return b.send(http.MethodPost, "/webhooks/sandbox", "{}", "X-Forwarded-For: "+address).StatusCode
	}
	for i := range 500 {
		require.Equal(t, 200, from("192.0.2."+strconv.Itoa(i%250+1)))
	}
	require.Equal(t, 503, from("192.0.2.9"))
	require.Equal(t, 200, from("198.51.100.9"))

	held, free := make(chan struct{}), make(chan struct{})
	b.payments.intake = func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error) {
		held <- struct{}{}
		<-free
		return []fsm.Verdict{fsm.Applied}, nil
	}
	answers := make(chan int, 32)
	for range 32 {
		go func() { answers <- from("203.0.113.1") }()
		<-held
	}
	require.Equal(t, 503, from("203.0.113.2"), "half of the places are one network's")
	go func() { answers <- from("198.51.100.9") }()
	<-held
	close(free)
	for range 33 {
		require.Equal(t, 200, <-answers)
	}
}
