package console

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestHitPath(t *testing.T) {
	t.Parallel()
	one, two := payment.AttemptID(uuid.Must(uuid.NewV7())), payment.AttemptID(uuid.Must(uuid.NewV7()))
	order, other := finder.Hit{Type: "order", ID: "A/1", OrderID: "A/1"}, finder.Hit{Type: "order", ID: "B", OrderID: "B"}
	first := finder.Hit{Type: "attempt", ID: one.String(), OrderID: "A/1", AttemptID: &one}
	second := finder.Hit{Type: "attempt", ID: two.String(), OrderID: "A/1", AttemptID: &two}
	parked := finder.Hit{Type: "event", ID: "e"}
	leads := func(hits []finder.Hit) string { return SearchResults{Found: finder.Found{Hits: hits}}.Only() }
	for want, hits := range map[string][]finder.Hit{
		AttemptPath(one):           {order, first},
		"/support/orders?id=A%2F1": {order, first, second},
		"":                         {order, other},
	} {
		require.Equal(t, want, leads(hits))
	}
	require.Equal(t, "/support/orders?id=A%2F1", leads([]finder.Hit{order}))
	require.Empty(t, leads(nil))
	require.Empty(t, leads([]finder.Hit{parked}), "a webhook of no payment that is known")
	require.Empty(t, leads([]finder.Hit{order, first, parked}))
	require.Equal(t, "/support/events/e", pathOf(parked))
	require.Equal(t, "/support/events/e", pathOf(finder.Hit{Type: "event", ID: "e", OrderID: "A/1", AttemptID: &one}))
	require.Equal(t, AttemptPath(one)+"#refund-r", pathOf(finder.Hit{Type: "refund", ID: "r", OrderID: "A/1", AttemptID: &one}))
}

// A key leads to the line of its requests.
func TestHitLine(t *testing.T) {
	t.Parallel()
	id, other := payment.AttemptID(uuid.Must(uuid.NewV7())), payment.AttemptID(uuid.Must(uuid.NewV7()))
	of := func(kind, matched, key string, rank finder.Rank, attempt *payment.AttemptID) finder.Hit {
		h := finder.Hit{Type: kind, ID: "i", OrderID: "A/1", AttemptID: attempt, Matched: matched, Key: key, Rank: rank}
		if kind == "attempt" {
			h.ID = attempt.String()
		}
		return h
	}
	refused := of("attempt", "idempotency_key", "k-00000<1", finder.Exact, &id)
	own := of("attempt", "client_request_id", "", finder.Exact, &id)
	refund := of("refund", "provider_refund_id", "", finder.Exact, &id)
	second := refund
	second.ID = "j"
	event := of("event", "provider_event_id", "", finder.Exact, &id)
	whole := of("order", "idempotency_key", "k-00000001", finder.Exact, nil)
	longer := of("attempt", "client_request_id", "", finder.Alike, &other)
	for name, tt := range map[string]struct {
		hits []finder.Hit
		want string
	}{
		"a refused request":              {[]finder.Hit{refused}, AttemptPath(id) + "#key-k-00000%3C1"},
		"the payment's own":              {[]finder.Hit{own}, AttemptPath(id)},
		"its own, and repeated":          {[]finder.Hit{own, refused}, AttemptPath(id)},
		"a refund, and its request":      {[]finder.Hit{refused, refund}, AttemptPath(id) + "#refund-i"},
		"a refund, and its webhook":      {[]finder.Hit{event, refund}, AttemptPath(id) + "#refund-i"},
		"two refunds":                    {[]finder.Hit{refund, second}, AttemptPath(id)},
		"a webhook":                      {[]finder.Hit{event}, AttemptPath(id) + "#event-i"},
		"of the order as a whole":        {[]finder.Hit{whole}, "/support/orders?id=A%2F1#key-k-00000001"},
		"exactly, and another's longer":  {[]finder.Hit{refund, longer}, AttemptPath(id) + "#refund-i"},
		"the beginning of two payments'": {[]finder.Hit{longer, of("attempt", "client_request_id", "", finder.Alike, &id)}, "/support/orders?id=A%2F1"},
	} {
		require.Equal(t, tt.want, SearchResults{Found: finder.Found{Hits: tt.hits}}.Only(), name)
	}
	require.Equal(t, "/support/orders?id=A%2F1#key-k-00000001", pathOf(whole))
	require.Equal(t, AttemptPath(id)+"#key-k-00000%3C1", pathOf(refused))
}
