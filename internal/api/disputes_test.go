package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

var disputeID = payment.DisputeID(uuid.MustParse("01980d3f-1c20-7d44-9e1b-7a8b9c0d1e2f"))

func dispute() payment.Dispute {
	return payment.Dispute{
		ID: disputeID, OrderID: "A-1", AttemptID: attemptID, Account: "sandbox", ProviderDisputeID: "dp_<1>", State: fsm.DisputeOpen,
		Reason: "fraudulent", Money: &payment.Money{Minor: 500, Currency: "EUR"}, DueBy: now, Version: 1, OpenedAt: now, UpdatedAt: now,
	}
}

func TestReadDispute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.dispute = dispute()
	got := b.send(http.MethodGet, "/v1/disputes/"+strings.ToUpper(disputeID.String()), "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	want := `{"dispute_id":"01980d3f-1c20-7d44-9e1b-7a8b9c0d1e2f","payment_attempt_id":"01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d",` +
		`"provider_dispute_id":"dp_<1>","status":"open","reason":"fraudulent","amount":500,"currency":"EUR",` +
		`"due_by":"2026-03-01T09:30:00.120000Z","opened_at":"2026-03-01T09:30:00.120000Z","closed_at":null}` + "\n"
	require.Equal(t, want, string(got.text), "to the byte")
	require.Equal(t, disputeID.String(), b.payments.named)
	require.Contains(t, b.log.String(), `"dispute_id":"`+disputeID.String()+`"`)

	closed := dispute()
	closed.State, closed.ClosedAt, closed.Money, closed.Reason, closed.DueBy = fsm.DisputeLost, &now, nil, "", time.Time{}
	b.payments.dispute = closed
	o := b.send(http.MethodGet, "/v1/disputes/"+disputeID.String(), "").object(t)
	require.Equal(t, "2026-03-01T09:30:00.120000Z", o["closed_at"])
	for _, unstated := range []string{"amount", "currency", "reason", "due_by"} {
		require.Contains(t, o, unstated)
		require.Nil(t, o[unstated])
	}

	b.payments.err = payment.ErrDisputeNotFound
	b.send(http.MethodGet, "/v1/disputes/"+disputeID.String(), "").is(t, 404, "not-found")
	b.payments.err = payment.ErrForbidden
	b.send(http.MethodGet, "/v1/disputes/"+disputeID.String(), "").is(t, 403, "forbidden")
	calls := b.payments.calls
	b.send(http.MethodGet, "/v1/disputes/dp_1", "", "Authorization: Bearer service-1", "On-Behalf-Of: u1").is(t, 404, "not-found")
	require.Equal(t, calls, b.payments.calls)
}

// TestAttemptShowsItsDisputes shows them oldest first, and an empty list where there are none.
func TestAttemptShowsItsDisputes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	read := func() []any {
		disputes, ok := b.send(http.MethodGet, attemptPath, "").object(t)["disputes"].([]any)
		require.True(t, ok)
		return disputes
	}
	b.payments.shows(succeeded())
	require.Empty(t, read())
	second := dispute()
	second.ProviderDisputeID = "dp_2"
	paid := succeeded()
	paid.Disputes = []payment.Dispute{dispute(), second}
	b.payments.shows(paid)
	shown := read()
	require.Len(t, shown, 2)
	require.Equal(t, "dp_<1>", shown[0].(map[string]any)["provider_dispute_id"])
	require.Equal(t, "dp_2", shown[1].(map[string]any)["provider_dispute_id"])
}
