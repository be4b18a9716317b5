package support

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
)

// Action names an action of staff.
type Action string

// The actions. Actions whose names end in view changed nothing.
const (
	Searched          Action = "search.view"
	ViewedAttempt     Action = "attempt.view"
	ViewedEvent       Action = "event.view"
	ViewedDiscrepancy Action = "discrepancy.view"
	ViewedWorklist    Action = "discrepancies.view"
	ViewedAudit       Action = "audit.view"
	PurgedAudit       Action = "audit.purge" // by age; the target is the last entry that went
	RevealedEvent     Action = "event.reveal"
	Rechecked         Action = "attempt.recheck"
	ReplayedEvent     Action = "event.replay"
	TriedReplay       Action = "event.replay.view"
	Resolved          Action = "discrepancy.resolve"
	Proposed          Action = "discrepancy.propose"
	Assigned          Action = "discrepancy.assign"
	Commented         Action = "discrepancy.comment"
	ReplayedMany      Action = "events.replay"
	TriedMany         Action = "events.replay.view"
	ResolvedMany      Action = "discrepancies.resolve"
	TriedResolving    Action = "discrepancies.resolve.view"
	ViewedJob         Action = "job.view"
	ViewedJobs        Action = "jobs.view"
	StoppedJob        Action = "job.stop"
	Refunded          Action = "createRefund" // by the API's call or the console alike
	ViewedDisputes    Action = "listDisputes.view"
	ViewedMonth       Action = "month.view"
	ViewedSettlements Action = "listSettlements.view"
	ViewedOverview    Action = "overview.view"
	ViewedEndpoints   Action = "listEndpoints.view"
	ViewedDeliveries  Action = "listDeliveries.view"
	TestedEndpoint    Action = "endpoint.test"
	Redelivered       Action = "endpoint.redeliver"
	AskedForRefund    Action = "refund_request.create"
	ApprovedRefund    Action = "refund_request.approve"
	DeclinedRefund    Action = "refund_request.decline"
	ViewedRequest     Action = "refund_request.view"
	ViewedRequests    Action = "refund_requests.view"
	ViewedCustomer    Action = "customer.view"
	CreatedKey        Action = "api_key.create"
	RevokedKey        Action = "api_key.revoke"
	ViewedKeys        Action = "api_keys.view"
	SignedIn          Action = "sign_in"
	SignedOut         Action = "sign_out"
	RefusedToken      Action = "token.refused"
	RefusedAccess     Action = "access.refused" // to operations for staff
)

// attemptTarget is the target type of an action on an attempt.
const attemptTarget = "attempt"

// Outcome is the outcome of an action.
type Outcome string

// The outcomes. An action that was begun has a second entry, unless the process died.
const (
	Begun   Outcome = "begun"
	Done    Outcome = "done"
	Refused Outcome = "refused"
	Failed  Outcome = "failed"
)

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	// ID rises with time. ActionID is that of the action, which may have two entries.
	ID, ActionID uuid.UUID
	// Actor is empty without an authenticated identity.
	Actor  string
	Roles  []payment.Role
	Action Action
	// TargetType and Target are the object of the action: an attempt, an event, the
	// text of a search.
	TargetType, Target string
	OrderID            payment.OrderID
	AttemptID          *payment.AttemptID
	Reason             string
	Address, RequestID string
	Outcome            Outcome
	Detail             map[string]any
	At                 time.Time
	// Cell is the number of the cell that has the entry in its log, where the logs of several are read together; else nil.
	Cell *int
}

// Entry returns the entry of an action, for the use cases of other packages; its outcome is still missing.
func (w Staff) Entry(action Action, targetType, target string) AuditEntry {
	return w.entry(action, targetType, target)
}

func (w Staff) entry(action Action, targetType, target string) AuditEntry {
	e := AuditEntry{
		ActionID: payment.OnlyCell.NewID(), Actor: w.Subject, Roles: w.Roles, Action: action,
		TargetType: targetType, Target: kept(target), Address: w.Address, RequestID: w.RequestID,
	}
	if targetType == attemptTarget {
		if id, err := payment.ParseAttemptID(target); err == nil { // also one in capitals
			e.Target, e.AttemptID = id.String(), &id
		}
	}
	return e
}

// maxTarget bounds a target, in bytes.
const maxTarget = 512

// kept returns the part of a target, which may be any text, that fits into an index.
func kept(target string) string {
	const replaced = "\uFFFD"
	target = strings.ReplaceAll(strings.ToValidUTF8(target, replaced), "\x00", replaced)
	if len(target) <= maxTarget {
		return target
	}
	return strings.ToValidUTF8(target[:maxTarget], "") + "…"
}

// about returns the entry with an attempt as its object.
func (e AuditEntry) about(a payment.Attempt) AuditEntry {
	e.OrderID, e.AttemptID = a.OrderID, &a.ID
	return e
}

func (a Action) look() bool { return strings.HasSuffix(string(a), ".view") }
