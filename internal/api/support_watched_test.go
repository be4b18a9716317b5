package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestSearchIsLimitedForEachPerson(t *testing.T) {
	t.Parallel()
	b, _ := newDesk(t)
	search := func(who string) answer {
		return b.send(http.MethodGet, "/v1/support/search?q=A-1", "", "Authorization: Bearer "+who)
	}
	for range 50 {
		require.Equal(t, 200, search("support").StatusCode)
	}
	require.True(t, search("support").is(t, 429, "rate-limited").Retryable)
	require.Equal(t, 200, search("admin").StatusCode, "somebody else")
}

func TestStaffIsWatchedElsewhere(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	b.payments.view, b.payments.refund = payment.View{Attempt: succeeded()}, commands.RefundReply{Refund: pendingRefund(), Result: idempotency.Created}
	b.send(http.MethodGet, attemptPath, "", "Authorization: Bearer support")
	b.command(attemptPath+"/refunds", `{}`, "Authorization: Bearer admin")
	b.send(http.MethodGet, attemptPath, "", "Authorization: Bearer u1")
	require.Equal(t, []string{"support readAttempt.view attempt " + attemptID.String(), "admin createRefund attempt " + attemptID.String()}, d.watched)
	calls := b.payments.calls
	d.err = payment.ErrUnavailable
	b.command(attemptPath+"/refunds", `{}`, "Authorization: Bearer admin").is(t, 503, "storage-unavailable")
	require.Equal(t, calls, b.payments.calls, "who can't be written down does nothing")
}

func TestWithoutSupportItsCallsAreNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.invented = true
	b.send(http.MethodGet, "/v1/support/audit", "", "Authorization: Bearer admin").is(t, 404, "not-found")
}

// Texts and searches of staff are in the audit log, not in the program's log.
func TestTheLogNamesNobody(t *testing.T) {
	t.Parallel()
	b, _ := newDesk(t)
	for call := range supportCalls() {
		line := strings.SplitN(call, " ", 3)
		b.send(line[0], strings.ReplaceAll(line[1], "A-1", "secret-user@example.com"), line[2], "Authorization: Bearer support")
	}
	for _, secret := range []string{"secret-user", "case 4711", "Bearer", "alert(", "evt_1"} {
		require.NotContains(t, b.log.String(), secret)
	}
}

// A text that can't be an id is audited like the id of a missing object.
func TestATextInPlaceOfAnIDIsWrittenDown(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	for call, want := range map[string]string{
		"GET /v1/support/attempts/none ":                                                     "attempt.view attempt none",
		"GET /v1/support/attempts/%00%FF ":                                                   "attempt.view attempt \x00\xff",
		"POST /v1/support/attempts/none/recheck " + because:                                  "attempt.recheck attempt none",
		"GET /v1/support/events/none ":                                                       "event.view event none",
		"POST /v1/support/events/none/reveal " + because:                                     "event.reveal event none",
		"GET /v1/support/jobs/none ":                                                         "job.view job none",
		"POST /v1/support/jobs/none/stop " + because:                                         "job.stop job none",
		"POST /v1/support/events/none/replay " + because:                                     "event.replay event none",
		"GET /v1/support/refund-requests/none ":                                              "refund_request.view refund_request none",
		"POST /v1/support/refund-requests/none/approve {}":                                   "refund_request.approve refund_request none",
		"POST /v1/support/refund-requests/none/decline " + because:                           "refund_request.decline refund_request none",
		`POST /v1/support/refund-requests {"payment_attempt_id":"none","amount":1}`:          "refund_request.create attempt none",
		`POST /v1/support/events/none/replay {"reason":"r","dry_run":true}`:                  "event.replay.view event none",
		`POST /v1/support/discrepancies/none/resolve {"reason":"r","resolution":"accepted"}`: "discrepancy.resolve discrepancy none",
	} {
		line := strings.SplitN(call, " ", 3)
		b.send(line[0], line[1], line[2], "Authorization: Bearer support").is(t, 404, "not-found")
		require.Equal(t, []string{"support " + want}, d.refused, call)
		d.refused = nil
	}
	require.Empty(t, d.asked)
}
