package found

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/finder"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestHitPath(t *testing.T) {
	t.Parallel()
	one, two := payment.AttemptID(uuid.Must(uuid.NewV7())), payment.AttemptID(uuid.Must(uuid.NewV7()))
	order, other := finder.Hit{Type: "order", ID: "A/1", OrderID: "A/1"}, finder.Hit{Type: "order", ID: "B", OrderID: "B"}
	first := finder.Hit{Type: "attempt", ID: one.String(), OrderID: "A/1", AttemptID: &one}
	second := finder.Hit{Type: "attempt", ID: two.String(), OrderID: "A/1", AttemptID: &two}
	parked := finder.Hit{Type: "event", ID: "e"}
	leads := func(hits []finder.Hit) string { return Results{Found: finder.Found{Hits: hits}}.Only() }
	for want, hits := range map[string][]finder.Hit{
		layout.AttemptPath(one):    {order, first},
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
	require.Equal(t, layout.AttemptPath(one), pathOf(finder.Hit{Type: "refund", ID: "r", OrderID: "A/1", AttemptID: &one}))
}
