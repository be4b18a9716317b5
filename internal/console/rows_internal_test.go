package console

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/support"
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
