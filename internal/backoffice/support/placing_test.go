package support_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/activity"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestTimelineOfLongCall has a webhook during a call: the call stands behind the webhook, at its end, and before the change that it made,
// by either clock.
func TestTimelineOfLongCall(t *testing.T) {
	t.Parallel()
	for name, ended := range map[string]float64{"clocks_agree": 2.9, "clock_ahead": 3.4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := begun(state(fsm.Processing))
			call := note(activity.NoteCall, "charge", "", "processing", 1, 0.1, ended)
			call.Key = "k-1"
			h.Activity = append(h.Activity, call)
			h.Events = append(h.Events, told("processing", fsm.Applied, 1, true))
			h.Transitions = []payment.Transition{
				move(1, fsm.Requested, fsm.Requested, payment.CausePay, "pay-key-1", 0, payment.Facts{}),
				move(2, fsm.Requested, fsm.Processing, payment.CauseCall, "k-1", 3, payment.Facts{}),
			}
			kinds := []support.EntryKind{}
			for _, e := range h.Timeline() {
				kinds = append(kinds, e.Kind)
			}
			require.Equal(t, []support.EntryKind{support.EntryPay, support.EntryWebhook, support.EntryCall, support.EntryTransition}, kinds)
		})
	}
}
