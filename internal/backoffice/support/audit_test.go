package support_test

import (
	"crypto/rand"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestAuditPages(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	for range 3 { // two entries each
		require.NoError(t, r.desk.Watch(t.Context(), ann, support.Refunded, "order", "A-1", func() error { return nil }))
	}
	require.NoError(t, r.desk.Watch(t.Context(), ann, support.Searched, "search", "A-1", func() error { return nil }))
	for limit, more := range map[string]bool{"1": true, "6": true, "7": false, "100": false} {
		page, err := support.ParsePage("", limit)
		require.NoError(t, err)
		_, next, err := r.desk.Audit(t.Context(), ada, support.AuditFilter{Actor: "ann"}, page)
		require.NoError(t, err)
		require.Equal(t, more, next != "", "%s of 7", limit)
	}
	var seen []string
	cursor := ""
	for {
		page, err := support.ParsePage(cursor, "3")
		require.NoError(t, err)
		list, next, err := r.desk.Audit(t.Context(), ada, support.AuditFilter{Actor: "ann"}, page)
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
	list, _, err := r.desk.Audit(t.Context(), ada, support.AuditFilter{Action: "audit.view"}, firstPage(t))
	require.NoError(t, err)
	require.Len(t, list, 4+3, "looking at the audit log is in it")
	page, err := support.ParsePage("MTIzIHg", "")
	require.NoError(t, err)
	_, _, err = r.desk.Audit(t.Context(), ada, support.AuditFilter{}, page)
	require.ErrorAs(t, err, new(*payment.ValidationError))
}

// Refusals of staff before an action began are in the audit log; refusals of other callers are not.
func TestRefuse(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	_, _, err := r.desk.Audit(t.Context(), ann, support.AuditFilter{}, firstPage(t))
	require.ErrorIs(t, err, payment.ErrForbidden)
	require.ErrorIs(t, r.desk.Refuse(t.Context(), ann, support.Rechecked, "attempt", "none", payment.ErrAttemptNotFound), payment.ErrAttemptNotFound)
	stranger := support.Staff{Actor: customer}
	require.ErrorIs(t, r.desk.Refuse(t.Context(), stranger, support.Rechecked, "attempt", "none", payment.ErrAttemptNotFound), payment.ErrForbidden)
	require.Equal(t, []string{"ann audit.view refused", "ann attempt.recheck refused"}, r.audit(t))
	require.Equal(t, []string{"audit  forbidden: it takes the role admin", "attempt none payment attempt not found"},
		rows[string](t, r, "SELECT target_type || ' ' || target || ' ' || (detail ->> 'refusal') FROM staff_audit ORDER BY entry_id"))
}

// A command that is answered with a refusal has not failed, whether for its key or for
// how the payment stands.
func TestWatchRefused(t *testing.T) {
	t.Parallel()
	for outcome, errs := range map[support.Outcome][]error{
		support.Refused: {
			payment.ErrAttemptFinal, payment.ErrNotCapturable, payment.ErrCaptureExceeds, payment.ErrRefundNotFound,
			idempotency.ErrKeyReused, idempotency.ErrInProgress, &idempotency.ReplayError{}, &idempotency.QuotaError{},
		},
		support.Failed: {io.ErrUnexpectedEOF},
	} {
		r := newEnv(t)
		for _, err := range errs {
			require.ErrorIs(t, r.desk.Watch(t.Context(), ada, "confirm", "attempt", "none", func() error { return err }), err)
		}
		require.Equal(t, []int{len(errs)}, rows[int](t, r, "SELECT count(*) FROM staff_audit WHERE outcome = '"+string(outcome)+"'"))
	}
}

// A target may be any text; an index must hold it.
func TestRefuseAnyTarget(t *testing.T) {
	t.Parallel()
	r := newEnv(t)
	long := strings.Repeat("ü", 100) + rand.Text()
	for len(long) < 8000 {
		long += rand.Text()
	}
	for named, want := range map[string]string{
		long: long[:512] + "…", long[:512]: long[:512], "x" + strings.Repeat("ü", 256): "x" + strings.Repeat("ü", 255) + "…", "a\x00\xff": "a\uFFFD\uFFFD",
	} {
		err := r.desk.Watch(t.Context(), ann, "readOrder.view", "order", named, func() error { return payment.ErrOrderNotFound })
		require.ErrorIs(t, err, payment.ErrOrderNotFound)
		require.Equal(t, []string{want}, rows[string](t, r, "SELECT target FROM staff_audit ORDER BY entry_id DESC LIMIT 1"))
	}
}
