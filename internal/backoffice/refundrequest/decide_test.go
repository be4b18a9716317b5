package refundrequest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/refundrequest"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestApprove(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	r := e.ask(t, id, 500)
	_, err := e.requests.Approve(t.Context(), sue, r.ID, "")
	require.ErrorIs(t, err, payment.ErrForbidden)
	got, err := e.requests.Approve(t.Context(), ada, r.ID, "as agreed")
	require.NoError(t, err)
	require.Equal(t, refundrequest.Approved, got.State)
	require.Equal(t, "ada", got.DecidedBy)
	require.Equal(t, "as agreed", got.DecisionReason)
	require.NotNil(t, got.RefundID)
	require.Equal(t, []string{"ada 500 succeeded"}, e.refunds(t))

	// Again, by the same admin and by another one: nothing more.
	for _, who := range []support.Staff{ada, bob} {
		again, err := e.requests.Approve(t.Context(), who, r.ID, "")
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	_, err = e.requests.Decline(t.Context(), bob, r.ID, "no")
	require.ErrorIs(t, err, refundrequest.ErrDecided)
	require.Equal(t, []string{"ada 500 succeeded"}, e.refunds(t))
	require.Equal(t, []string{
		"sam refund_request.create done", "sue refund_request.approve refused", "ada refund_request.approve done", "bob refund_request.decline refused",
	}, e.audit(t))
}

// The timeline names the requester of the refund and its approver.
func TestApprovedTimeline(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	_, err := e.requests.Approve(t.Context(), ada, e.ask(t, id, 500).ID, "")
	require.NoError(t, err)
	require.NoError(t, e.notes.Flush(t.Context()))
	h, err := e.store.Support().AttemptHistory(t.Context(), id)
	require.NoError(t, err)
	var texts []string
	for _, entry := range h.Timeline() {
		if entry.Kind == support.EntryStaff || entry.Kind == support.EntryRefund {
			texts = append(texts, entry.Actor+": "+entry.Text)
		}
	}
	require.Equal(t, []string{
		"staff:sam: sam requested a refund that an admin must approve. Reason: case 4711",
		"staff:ada: A refund of €5.00 was requested by sam and approved by ada.",
		"staff:ada: ada approved a refund that sam had requested. Reason: case 4711",
		"provider:sandbox: The refund of €5.00 succeeded: the provider returns the money.",
	}, texts)
}

func TestNobodyApprovesTheirOwn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	r, _, err := e.requests.Create(t.Context(), ada, refundrequest.Create{AttemptID: id, Amount: 500, Reason: "r"})
	require.NoError(t, err)
	_, err = e.requests.Approve(t.Context(), ada, r.ID, "")
	require.ErrorIs(t, err, refundrequest.ErrOwn)
	require.Empty(t, e.refunds(t))
	got, err := e.requests.Approve(t.Context(), bob, r.ID, "")
	require.NoError(t, err)
	require.Equal(t, "bob", got.DecidedBy)
	require.Equal(t, []string{"bob 500 succeeded"}, e.refunds(t))
}

// One person may come in by two doors that name people differently. Persons of two doors are not known to be two, so neither approves what
// the other asked for. At one door another subject is another person.
func TestNobodyApprovesTheirOwnByAnotherDoor(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	by := func(who support.Staff, subject, door string) support.Staff {
		who.Subject, who.Door = subject, door
		return who
	}
	for _, tt := range []struct {
		from, to support.Staff
		own      bool
	}{
		{ada, by(ada, "a.lovelace", "https://id.example"), true},
		{by(ada, "a.lovelace", "https://id.example"), ada, true},
		{by(ada, "a.lovelace", "https://id.example"), by(ada, "ada", "HS256"), true},
		{by(ada, "ada", "HS256"), by(bob, "bob", "HS256"), false},
		{ada, bob, false},
	} {
		id := e.paid(t)
		r, _, err := e.requests.Create(t.Context(), tt.from, refundrequest.Create{AttemptID: id, Amount: 500, Reason: "r"})
		require.NoError(t, err)
		require.Equal(t, !tt.own, r.MayApprove(tt.to))
		got, err := e.requests.Approve(t.Context(), tt.to, r.ID, "")
		if tt.own {
			require.ErrorIs(t, err, refundrequest.ErrOwn, "%s and %s", tt.from.Person(), tt.to.Person())
			_, err = e.requests.Decline(t.Context(), tt.from, r.ID, "withdrawn")
			require.NoError(t, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.to.Person(), got.DecidedBy)
	}
}

// The amount left at the approval decides, not the amount left at the request. Later it may suffice again.
func TestApproveWhatIsNotLeft(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	r := e.ask(t, id, 1500)
	e.refundOnce(t, id, 1000)
	for range 2 {
		_, err := e.requests.Approve(t.Context(), ada, r.ID, "")
		require.ErrorIs(t, err, payment.ErrRefundExceeds)
	}
	now, err := e.requests.Request(t.Context(), ada, r.ID)
	require.NoError(t, err)
	require.Equal(t, refundrequest.Open, now.State)
	_, err = e.db.Exec(t.Context(), "UPDATE payment_attempts SET amount_refunded = 0, movements = movements + 1, version = version + 1 WHERE attempt_id = $1", id.String())
	require.NoError(t, err)
	got, err := e.requests.Approve(t.Context(), ada, r.ID, "")
	require.NoError(t, err, "a refusal is not kept with the key")
	require.Equal(t, refundrequest.Approved, got.State)
}

// Two admins in two processes, several times each: one refund, and all of them get it.
func TestApproveAtOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	other := e.another(t)
	r := e.ask(t, e.paid(t), 500)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range 8 {
		who, at := ada, e
		if i%2 == 1 {
			who, at = bob, other
		}
		all.Go(func() {
			<-start
			got, err := at.requests.Approve(context.WithoutCancel(t.Context()), who, r.ID, "")
			if err != nil || got.State != refundrequest.Approved {
				t.Errorf("%s: %v %s", who.Subject, err, got.State)
			}
		})
	}
	close(start)
	all.Wait()
	refunds := e.refunds(t)
	require.Len(t, refunds, 1)
	require.Regexp(t, "^(ada|bob) 500 succeeded$", refunds[0])
	approved := 0
	for _, line := range e.audit(t) {
		if strings.Contains(line, "approve done") {
			approved++
		}
	}
	require.Equal(t, 1, approved)
}

// broken fails where the approval is written, behind it, as a process that dies before the commit does.
type broken struct{ refundrequest.Store }

var errDied = errors.New("the process is gone")

func (b broken) ApproveIn(ctx context.Context, tx commands.Tx, id uuid.UUID, d refundrequest.Decision, e support.AuditEntry) error {
	return errors.Join(b.Store.ApproveIn(ctx, tx, id, d, e), errDied)
}

// Before the commit nothing is there, neither the approval nor the refund; approving again makes both.
func TestApproveDiesBeforeTheCommit(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.ask(t, e.paid(t), 500)
	dying := refundrequest.New(broken{e.store.Requests()}, e.Commands, e.desk)
	_, err := dying.Approve(t.Context(), ada, r.ID, "")
	require.ErrorIs(t, err, errDied)
	require.Empty(t, e.refunds(t))
	require.Equal(t, []string{"open"}, rows[string](t, e, "SELECT status FROM refund_requests"))
	_, err = e.requests.Approve(t.Context(), ada, r.ID, "")
	require.NoError(t, err)
	require.Equal(t, []string{"ada 500 succeeded"}, e.refunds(t))
}

// After the commit both are there, before the provider has heard of it: the database, as a process that dies then leaves it, is read while
// the provider gets the refund. The reconciler finds its operation and goes on with it, and approving again adds nothing: the provider refunds once.
func TestApproveDiesAfterTheCommit(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.ask(t, e.paid(t), 500)
	var calls []string
	seen := func(request *http.Request) {
		if request.Method == http.MethodPost && strings.HasSuffix(request.URL.Path, "/refunds") {
			calls = append(calls, request.Header.Get("Idempotency-Key"))
			if len(calls) == 1 {
				state := rows[string](t, e, "SELECT status FROM refund_requests WHERE refund_id IS NOT NULL UNION ALL SELECT state FROM operations WHERE kind = 'refund'")
				if len(state) != 2 || state[0] != "approved" || state[1] != "sent" {
					t.Errorf("on disk when the provider is called: %v", state)
				}
				panic(http.ErrAbortHandler) // the answer is lost
			}
		}
	}
	e.before.Store(&seen)
	got, err := e.requests.Approve(t.Context(), ada, r.ID, "")
	require.NoError(t, err)
	require.Equal(t, refundrequest.Approved, got.State)
	require.Equal(t, []string{"ada 500 pending"}, e.refunds(t))
	due := rows[string](t, e, "SELECT state FROM operations WHERE kind = 'refund' AND next_at IS NOT NULL")
	require.Equal(t, []string{"unknown"}, due, "the reconciler finds it")

	again, err := e.requests.Approve(t.Context(), ada, r.ID, "")
	require.NoError(t, err)
	require.Equal(t, got, again)
	_, err = e.RecheckRefund(t.Context(), *got.RefundID, payment.Cause{Kind: payment.CauseCheck, ID: "reconciler"})
	require.NoError(t, err)
	require.Equal(t, []string{"ada 500 succeeded"}, e.refunds(t))
	require.Len(t, calls, 2)
	require.Equal(t, calls[0], calls[1], "the provider's key is the same")
}

func TestDecline(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	r := e.ask(t, id, 500)
	_, err := e.requests.Decline(t.Context(), sue, r.ID, "not mine")
	require.ErrorIs(t, err, payment.ErrForbidden)
	_, err = e.requests.Decline(t.Context(), ada, r.ID, "")
	require.ErrorAs(t, err, new(*payment.ValidationError))
	got, err := e.requests.Decline(t.Context(), ada, r.ID, "it was delivered")
	require.NoError(t, err)
	require.Equal(t, refundrequest.Declined, got.State)
	require.False(t, got.Withdrawn())
	again, err := e.requests.Decline(t.Context(), ada, r.ID, "it was delivered")
	require.NoError(t, err)
	require.Equal(t, got, again)
	for _, decide := range []func() (refundrequest.Request, error){
		func() (refundrequest.Request, error) { return e.requests.Approve(t.Context(), ada, r.ID, "") },
		func() (refundrequest.Request, error) { return e.requests.Decline(t.Context(), bob, r.ID, "r") },
	} {
		_, err = decide()
		require.ErrorIs(t, err, refundrequest.ErrDecided)
	}

	mine := e.ask(t, id, 600)
	withdrawn, err := e.requests.Decline(t.Context(), sam, mine.ID, "a mistake")
	require.NoError(t, err)
	require.True(t, withdrawn.Withdrawn())
	require.Empty(t, e.refunds(t))
	_, err = e.requests.Decline(t.Context(), sam, [16]byte{1}, "r")
	require.ErrorIs(t, err, refundrequest.ErrNotFound)
	_, err = e.requests.Approve(t.Context(), ada, [16]byte{1}, "")
	require.ErrorIs(t, err, refundrequest.ErrNotFound)
}

// If an approval and a withdrawal run at once, exactly one counts. The money moves with the approval or not at all.
func TestApproveBesideWithdraw(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	for range 5 {
		r := e.ask(t, id, 100)
		before := len(e.refunds(t))
		var both sync.WaitGroup
		var approved, withdrawn error
		start := make(chan struct{})
		both.Go(func() { <-start; _, approved = e.requests.Approve(t.Context(), ada, r.ID, "") })
		both.Go(func() { <-start; _, withdrawn = e.requests.Decline(t.Context(), sam, r.ID, "r") })
		close(start)
		both.Wait()
		now, err := e.requests.Request(t.Context(), sam, r.ID)
		require.NoError(t, err)
		if now.State == refundrequest.Approved {
			require.NoError(t, approved)
			require.ErrorIs(t, withdrawn, refundrequest.ErrDecided)
			require.Len(t, e.refunds(t), before+1)
			continue
		}
		require.NoError(t, withdrawn)
		require.ErrorIs(t, approved, refundrequest.ErrDecided)
		require.Len(t, e.refunds(t), before)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	id := e.paid(t)
	first, second, third := e.ask(t, id, 1), e.ask(t, id, 2), e.ask(t, id, 3)
	_, err := e.requests.Decline(t.Context(), sam, second.ID, "r")
	require.NoError(t, err)
	page, err := support.ParsePage("", "1")
	require.NoError(t, err)
	list, next, err := e.requests.Requests(t.Context(), sue, refundrequest.Open, page)
	require.NoError(t, err)
	require.Equal(t, []refundrequest.Request{third}, list)
	page, err = support.ParsePage(next, "1")
	require.NoError(t, err)
	list, next, err = e.requests.Requests(t.Context(), sue, refundrequest.Open, page)
	require.NoError(t, err)
	require.Equal(t, []refundrequest.Request{first}, list)
	require.Empty(t, next)
	page, err = support.ParsePage("", "")
	require.NoError(t, err)
	list, _, err = e.requests.Requests(t.Context(), sue, "", page)
	require.NoError(t, err)
	require.Len(t, list, 3)
	_, _, err = e.requests.Requests(t.Context(), sue, "lost", page)
	require.ErrorAs(t, err, new(*payment.ValidationError))
	_, _, err = e.requests.Requests(t.Context(), staff("u1", payment.RoleCustomer), "", page)
	require.ErrorIs(t, err, payment.ErrForbidden)
	require.Contains(t, e.audit(t), "sue refund_requests.view done")
}
