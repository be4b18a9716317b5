package support_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// ledger keeps the entries of the audit log, unless it is closed.
type ledger struct {
	support.Store

	entries []support.AuditEntry
	closed  error
}

func (l *ledger) AuditInsert(_ context.Context, d support.AuditEntry) error {
	if l.closed == nil {
		l.entries = append(l.entries, d)
	}
	return l.closed
}

func refused(address, reason string) support.Refusal {
	return support.Refusal{Action: support.RefusedToken, Staff: support.Staff{Address: address}, Call: "GET /v1/orders", Reason: reason}
}

func TestAccessLogRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kept := &ledger{}
	r := support.NewAccessLog(kept, func() time.Time { return now })
	flush := func() []support.AuditEntry {
		t.Helper()
		kept.entries = nil
		require.NoError(t, r.Flush(t.Context()))
		return kept.entries
	}
	for range 1000 {
		r.Refused(refused("203.0.113.1", "expired"))
	}
	r.Refused(refused("203.0.113.1", "forged"))
	list := flush()
	require.Len(t, list, 5+1, "of each peer a few for each reason")
	require.Equal(t, support.Refused, list[0].Outcome)
	require.Equal(t, []string{"", "token.refused", "call", "GET /v1/orders", "203.0.113.1"},
		[]string{list[0].Actor, string(list[0].Action), list[0].TargetType, list[0].Target, list[0].Address})
	require.Equal(t, map[string]any{"refusal": "expired"}, list[0].Detail)

	for i := range 1000 {
		r.Refused(refused(fmt.Sprintf("2001:db8:0:1::%x", i), "expired"))
	}
	require.Len(t, flush(), 5, "a network of IPv6 is one peer")
	for i := range 5000 {
		r.Refused(refused(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "expired"))
	}
	require.Len(t, flush(), 40-5-5, "and of all peers not many")
	require.Empty(t, flush())

	now = now.Add(time.Hour)
	list = flush()
	require.Len(t, list, 1, "the rest is counted when the hour is over")
	require.Equal(t, 1000+1000+5000-40, list[0].Detail["more"])
	require.Equal(t, 1000, list[0].Detail["peers"])
	require.Equal(t, 1000, list[0].Detail["most"].(map[string]int)["203.0.113.1"])
	require.Len(t, list[0].Detail["most"], 10)
	require.Equal(t, "2026-03-01T12:00:00Z", list[0].Detail["since"])
	r.Refused(refused("203.0.113.1", "expired"))
	require.Len(t, flush(), 1, "a new hour")
}

// Reasons are texts of the program; were they not, they would not fill the memory.
func TestAccessLogRefusedBounds(t *testing.T) {
	t.Parallel()
	kept := &ledger{}
	r := support.NewAccessLog(kept, time.Now)
	for i := range 10_000 {
		r.Refused(refused(fmt.Sprintf("10.0.%d.%d", i/250, i%250), fmt.Sprint("reason ", i)))
	}
	require.NoError(t, r.Flush(t.Context()))
	require.Len(t, kept.entries, 64+40)
	kept.entries = nil
	require.NoError(t, r.Close(t.Context()))
	require.Len(t, kept.entries, 1, "a stop counts the rest of the hour that is not over")
}

func TestAccessLogSignedOut(t *testing.T) {
	t.Parallel()
	kept := &ledger{}
	l := support.NewAccessLog(kept, time.Now)
	for range 100 {
		l.SignedOut(ann)
	}
	require.NoError(t, l.Flush(t.Context()))
	require.Len(t, kept.entries, 100)
	require.Equal(t, []string{"ann", "sign_out", "done"}, []string{kept.entries[0].Actor, string(kept.entries[0].Action), string(kept.entries[0].Outcome)})
}

func TestAccessLogFlushRetries(t *testing.T) {
	t.Parallel()
	kept := &ledger{closed: payment.ErrUnavailable}
	r := support.NewAccessLog(kept, time.Now)
	for _, reason := range []string{"a", "b"} {
		r.Refused(refused("203.0.113.1", reason))
	}
	require.ErrorIs(t, r.Flush(t.Context()), payment.ErrUnavailable)
	kept.closed = nil
	require.NoError(t, r.Flush(t.Context()))
	require.Len(t, kept.entries, 2)
	require.Equal(t, map[string]any{"refusal": "a"}, kept.entries[0].Detail)

	// Entries that the storage refuses are not retried for ever.
	r.Refused(refused("203.0.113.1", "c"))
	kept.closed = errors.New("refused")
	require.Error(t, r.Flush(t.Context()))
	kept.closed = nil
	require.NoError(t, r.Flush(t.Context()))
	require.Len(t, kept.entries, 2)
}
