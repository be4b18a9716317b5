package broker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// TestTraceparent: a message has the header where its delivery has a span, and none elsewhere.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		s.up(t)
		b, err := s.open(t.Context())
		require.NoError(t, err)
		defer b.Close()
		n, err := b.Publish(t.Context(), []broker.Message{
			{ID: "1", Type: outbox.OrderPaid, OrderID: "o", Subject: "o", Traceparent: traceparent, Body: []byte("{}")},
			{ID: "2", Type: outbox.OrderPaid, OrderID: "p", Subject: "p", Body: []byte("{}")},
		})
		require.NoError(t, err)
		require.Equal(t, 2, n)
		of := map[string]string{}
		for _, m := range s.stored(t) {
			of[m.id] = m.traceparent
		}
		require.Equal(t, map[string]string{"1": traceparent, "2": ""}, of)
	})
}
