package support_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

func TestTheAuditLogIsPaged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for range 3 { // two entries each
		require.NoError(t, r.desk.Watch(t.Context(), ann, support.Refunded, "order", "A-1", func() error { return nil }))
	}
	_, _, err := r.desk.Search(t.Context(), ann, "A-1", firstPage(t))
	require.NoError(t, err)
	for limit, more := range map[string]bool{"1": true, "6": true, "7": false, "100": false} {
		page, err := support.ParsePage("", limit)
		require.NoError(t, err)
		_, next, err := r.desk.Audit(t.Context(), ada, support.DeedFilter{Actor: "ann"}, page)
		require.NoError(t, err)
		require.Equal(t, more, next != "", "%s of 7", limit)
	}
	var seen []string
	cursor := ""
	for {
		page, err := support.ParsePage(cursor, "3")
		require.NoError(t, err)
		list, next, err := r.desk.Audit(t.Context(), ada, support.DeedFilter{Actor: "ann"}, page)
		require.NoError(t, err)
		for _, d := range list {
			seen = append(seen, d.ID.String())
		}
		if cursor = next; next == "" {
			break
		}
	}
	require.Len(t, seen, 7)
	require.True(t, isDescending(seen), "newest first")
	list, _, err := r.desk.Audit(t.Context(), ada, support.DeedFilter{Action: "audit.view"}, firstPage(t))
	require.NoError(t, err)
	require.Len(t, list, 4+3, "looking at the audit log is in it")
	page, err := support.ParsePage("MTIzIHg", "")
	require.NoError(t, err)
	_, _, err = r.desk.Audit(t.Context(), ada, support.DeedFilter{}, page)
	require.ErrorAs(t, err, new(*payment.ValidationError))
}
