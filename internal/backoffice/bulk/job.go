package bulk

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Kind is the kind of work of a job.
type Kind string

// The kinds.
const (
	Replay  Kind = "replay"
	Resolve Kind = "resolve"
)

// State is the state of a job. All but Running are final.
type State string

// The states.
const (
	Running State = "running"
	Done    State = "done"
	Stopped State = "stopped"
)

// Order describes a job before it begins.
type Order struct {
	Kind   Kind
	Filter Filter
	// Resolution is empty for a replay.
	Resolution payment.Resolution
	Reason     string
}

// Job is an order that was begun.
type Job struct {
	Order

	ID uuid.UUID
	// ActionID is the action id of the two entries in the audit log.
	ActionID uuid.UUID
	// By began it.
	By        support.Staff
	CreatedAt time.Time
	State     State
	// Total is the number of items that the filter chose at the beginning. Done may stay below it: an item is left out if the
	// filter does not choose it any more at its turn.
	Total, Done int64
	// Results counts how each ended: a verdict, resolved, awaiting_second, already_resolved, or the code of the problem that refused it.
	Results    map[string]int64
	FinishedAt *time.Time
}

// Counts is how many a filter chooses, by verdict or by kind.
type Counts struct {
	Total int64
	By    map[string]int64
}

// The results of items that a resolving job did not refuse.
const (
	resolved        = "resolved"
	awaitingSecond  = "awaiting_second"
	alreadyResolved = "already_resolved"
)

// RunningError is the payment.ErrJobRunning with the job that is in the way.
type RunningError struct{ Job Job }

// Error implements error.
func (e *RunningError) Error() string {
	return payment.ErrJobRunning.Error() + ": " + e.Job.ID.String()
}

// Unwrap makes it a payment.ErrJobRunning.
func (*RunningError) Unwrap() error { return payment.ErrJobRunning }

// ParseJobID parses the id of a job. It returns payment.ErrJobNotFound for a text that is not an id.
func ParseJobID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(uuid.Nil.String()) {
		return uuid.Nil, payment.ErrJobNotFound
	}
	return id, nil
}

// action returns the names in the audit log of a job, and of a dry run of it.
func (k Kind) action() (act, try support.Action) {
	if k == Replay {
		return support.ReplayedMany, support.TriedMany
	}
	return support.ResolvedMany, support.TriedResolving
}

// roles returns the roles that may begin a job. Bulk resolution, which decides about many payments, takes an admin.
func (k Kind) roles() []payment.Role {
	if k == Replay {
		return []payment.Role{payment.RoleSupport, payment.RoleAdmin}
	}
	return []payment.Role{payment.RoleAdmin}
}

func (k Kind) target() string {
	if k == Replay {
		return "events"
	}
	return "discrepancies"
}

// entry returns an entry of the job's act in the audit log.
func (j Job) entry(id uuid.UUID, outcome support.Outcome, detail map[string]any) support.AuditEntry {
	act, _ := j.Kind.action()
	return support.AuditEntry{
		ID: id, ActionID: j.ActionID, Actor: j.By.Subject, Roles: j.By.Roles, Action: act, TargetType: "job", Target: j.ID.String(),
		Reason: j.Reason, Address: j.By.Address, RequestID: j.By.RequestID, Outcome: outcome, Detail: detail,
	}
}

// ended returns the entry of the job's end.
func (j Job) ended(id uuid.UUID) support.AuditEntry {
	return j.entry(id, support.Done, map[string]any{
		"status": string(j.State), "total": j.Total, "done": j.Done, "results": j.Results,
	})
}
