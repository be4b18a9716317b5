package providertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// SayDispute is an event's dispute in one line, beside the event's kind: "none" without one.
func SayDispute(e webhooks.Event) string {
	d := e.Dispute
	if d == nil {
		return string(e.Kind) + ": none"
	}
	text := fmt.Sprintf("%s: %s %s", e.Kind, d.ID, d.Status)
	if d.Reason != "" {
		text += " for " + d.Reason
	}
	if d.Money != nil {
		text += fmt.Sprintf(" of %d %s", d.Money.Minor, d.Money.Currency)
	}
	if !d.DueBy.IsZero() {
		text += " by " + d.DueBy.Format(time.RFC3339)
	}
	return text
}

// Disputes signs each body and compares the dispute of its one event, as [SayDispute] writes it.
func Disputes(t *testing.T, v VerifySigner, bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		require.Equal(t, want, SayDispute(Parsed(t, v, body)), body)
	}
}
