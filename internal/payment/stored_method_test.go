package payment_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// TestStoredMethodInAnyOrder applies the events of a stored method in each order, and twice. It ends as by the provider's clock.
func TestStoredMethodInAnyOrder(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	event := func(kind webhooks.Kind, second int, m webhooks.Method) webhooks.Event {
		return webhooks.Event{Kind: kind, OccurredAt: at(second), Method: &m}
	}
	updated, removed := webhooks.KindMethodUpdated, webhooks.KindMethodRemoved
	for name, c := range map[string]struct {
		events  []webhooks.Event
		removed *time.Time
		expires string // empty: as the order has it
	}{
		"updates": {[]webhooks.Event{
			event(updated, 1, webhooks.Method{Expires: "2030-01"}), event(updated, 2, webhooks.Method{Expires: "2031-01"}), event(updated, 3, webhooks.Method{Expires: "2032-01"}),
		}, nil, "2032-01"},
		"removed":  {[]webhooks.Event{event(updated, 1, webhooks.Method{Expires: "2030-01"}), event(removed, 2, webhooks.Method{}), event(updated, 3, webhooks.Method{})}, new(at(2)), ""},
		"restored": {[]webhooks.Event{event(removed, 1, webhooks.Method{}), event(updated, 2, webhooks.Method{Restored: true})}, nil, ""},
		"removed again": {[]webhooks.Event{
			event(removed, 1, webhooks.Method{}), event(updated, 2, webhooks.Method{Restored: true}), event(removed, 3, webhooks.Method{}),
		}, new(at(3)), ""},
	} {
		for _, order := range orders(len(c.events)) {
			m := payment.StoredMethod{}
			for _, n := range append(slices.Clone(order), order...) {
				was := m
				verdict := m.Change(c.events[n], at(9))
				if was.RemovedAt != nil && c.events[n].Kind == updated && !c.events[n].Method.Restored {
					require.Equal(t, fsm.Stale, verdict, "%s %v", name, order)
				}
				if verdict != fsm.Applied {
					require.Equal(t, was, m, "%s %v: %s", name, order, verdict)
				}
			}
			require.Equal(t, c.removed, m.RemovedAt, "%s %v", name, order)
			if c.expires != "" {
				require.Equal(t, c.expires, m.Expires, "%s %v", name, order)
			}
		}
	}
}

// orders are the orders of n things.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, p := range orders(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
