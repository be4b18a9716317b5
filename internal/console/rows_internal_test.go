package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

func TestRows(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(kind support.EntryKind, refund, status, text string) support.Entry {
		at = at.Add(time.Second)
		return support.Entry{At: at, Kind: kind, Actor: text, Text: text, Detail: map[string]any{"refund_id": refund, "status": status}}
	}
	got := rows([]support.Entry{
		entry(support.EntryPay, "", "", "Pay."),
		entry(support.EntryRequest, "r1", "", "Press."),
		entry(support.EntryRefund, "r1", "", "First."),
		entry(support.EntryRefund, "r2", "", "Second."),
		entry(support.EntryWebhook, "", "", "Webhook."),
		entry(support.EntryCall, "r1", "", "Call."),
		entry(support.EntryRefund, "r1", "succeeded", "Done."),
		entry(support.EntryCall, "r3", "", "Of a refund without a request."),
	})
	texts, courses := []string{}, [][]string{}
	for i, r := range got {
		texts = append(texts, r.Text)
		courses = append(courses, nil)
		for _, e := range r.course {
			courses[i] = append(courses[i], e.Text)
		}
		if i > 0 {
			require.True(t, r.At.After(got[i-1].At))
		}
	}
	require.Equal(t, []string{"Pay.", "First. Done.", "Second.", "Webhook.", "Of a refund without a request."}, texts)
	require.Equal(t, [][]string{nil, {"Press.", "First.", "Call.", "Done."}, {"Second."}, nil, nil}, courses)
	require.Equal(t, "good", got[1].tone)
	require.Equal(t, support.EntryRefund, got[1].Kind)
	require.Empty(t, got[2].tone)
}

// A line name is unique in a page: a second row with the same key has no name. Only requests, refunds and webhooks have one.
func TestRowLines(t *testing.T) {
	t.Parallel()
	entry := func(kind support.EntryKind, detail map[string]any) support.Entry {
		return support.Entry{Kind: kind, Detail: detail}
	}
	var got []Line
	for _, r := range rows([]support.Entry{
		entry(support.EntryPay, map[string]any{"version": 1}),
		entry(support.EntryRefused, map[string]any{"key": "key-00000001"}),
		entry(support.EntryReuse, map[string]any{"key": "key-00000001"}),
		entry(support.EntryRequest, map[string]any{"key": "key-00000002"}),
		entry(support.EntryCall, map[string]any{"key": "key-00000003"}),
		entry(support.EntryWebhook, map[string]any{"event_id": "e1"}),
		entry(support.EntryRequest, map[string]any{"key": "key-00000004", "refund_id": "r1"}),
		entry(support.EntryRefund, map[string]any{"refund_id": "r1"}),
	}) {
		got = append(got, r.line)
	}
	require.Equal(t, []Line{"", "key-key-00000001", "", "key-key-00000002", "", "event-e1", "refund-r1"}, got)
}
