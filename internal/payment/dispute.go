package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/cell"
)

// Dispute is a cardholder's dispute of a payment, under the provider's id of it: an account has
// that once. What it took counts by movements; a dispute moves no money. Only [AdvanceDispute]
// changes it.
type Dispute struct {
	ID                DisputeID
	OrderID           OrderID
	AttemptID         AttemptID
	Account           string
	ProviderDisputeID string

	State fsm.DisputeState
	// Reason is the provider's code or word for it, empty if not stated.
	Reason string
	// Money is what is disputed, nil if not stated.
	Money *Money
	// DueBy is until when the merchant may answer, zero if not stated.
	DueBy time.Time
	// StatusAt is the provider's clock of the last report that counted, zero if none bore a time.
	StatusAt time.Time

	Version int
	// OpenedAt is when the first report was applied, UpdatedAt the last one
	// that changed it.
	OpenedAt, UpdatedAt time.Time
	// ClosedAt is since when it is closed; nil while it is open.
	ClosedAt *time.Time
}

// DisputeTold is a dispute as a provider reports it.
type DisputeTold struct {
	// ProviderID is the provider's id of it.
	ProviderID string
	Status     fsm.DisputeState
	// Reason is empty, Money nil and DueBy zero where they are not stated.
	Reason string
	Money  *Money
	DueBy  time.Time
	// At is the provider's clock, zero if it gave no time.
	At time.Time
}

// DisputeName identifies a dispute.
type DisputeName struct{ Account, ID string }

// Name is the dispute's.
func (d Dispute) Name() DisputeName { return DisputeName{d.Account, d.ProviderDisputeID} }

// NewDispute is a dispute of an attempt of which nothing is reported yet: its version is 0.
func NewDispute(a Attempt, providerID string) Dispute {
	return Dispute{
		ID: DisputeID(cell.Of(a.ID).NewID()), OrderID: a.OrderID, AttemptID: a.ID, Account: a.Account, ProviderDisputeID: providerID,
	}
}

// AdvanceDispute applies a report to a dispute of an attempt that the transaction holds locked. It
// is the only caller of fsm.NextDispute.
//
// The provider's clock decides: of reports that bear a time the last one counts, in whatever order
// they come, and of two with the same time the one that is further on. An older one only adds what
// no other has stated. A report without a time never opens a closed dispute again.
func AdvanceDispute(d *Dispute, t DisputeTold, now time.Time) fsm.Verdict {
	before := *d
	t.At = t.At.Truncate(time.Microsecond) // as it is stored
	from := d.State
	if d.Version == 0 {
		from = t.Status
	}
	step, err := fsm.NextDispute(from, t.Status, !t.At.IsZero())
	verdict, counts := step.Verdict, d.counts(t)
	switch {
	case err != nil:
		return Ignored
	case !counts && t.Status == d.State:
		verdict = fsm.Repeat
	case !counts:
		verdict = fsm.Stale
	case step.To == t.Status:
		d.State = step.To
		d.StatusAt = later(d.StatusAt, t.At)
	default:
		counts = false
	}
	restate(d, t, counts)
	if d.State != before.State {
		d.ClosedAt = nil
		if d.State.Closed() {
			d.ClosedAt = &now
		}
	}
	switch {
	case d.Version == 0:
		verdict, d.OpenedAt = fsm.Applied, now
	case !d.says(before):
		verdict = fsm.Applied
	case d.StatusAt.Equal(before.StatusAt):
		return verdict
	}
	d.Version++
	d.UpdatedAt = now
	return verdict
}

// counts reports whether a report is not older than the dispute is. One without a time always
// counts, as far as the state machine lets it.
func (d Dispute) counts(t DisputeTold) bool {
	if d.Version == 0 || t.At.IsZero() || t.At.After(d.StatusAt) {
		return true
	}
	further := slices.Index(fsm.DisputeStates(), t.Status) >= slices.Index(fsm.DisputeStates(), d.State)
	return t.At.Equal(d.StatusAt) && further
}

// restate takes over what a report states: in place of what was stated before if it counts.
func restate(d *Dispute, t DisputeTold, counts bool) {
	if t.Reason != "" && (counts || d.Reason == "") {
		d.Reason = t.Reason
	}
	if t.Money != nil && (counts || d.Money == nil) {
		money := *t.Money
		d.Money = &money
	}
	if !t.DueBy.IsZero() && (counts || d.DueBy.IsZero()) {
		d.DueBy = t.DueBy.Truncate(time.Microsecond)
	}
}

// says reports whether a dispute equals another one.
func (d Dispute) says(other Dispute) bool {
	sameMoney := d.Money == other.Money || d.Money != nil && other.Money != nil && *d.Money == *other.Money
	return d.State == other.State && d.Reason == other.Reason && sameMoney && d.DueBy.Equal(other.DueBy)
}

// Enters reports whether the dispute has entered a stage that is a finding, since it was as given.
func (d Dispute) Enters(was Dispute) bool {
	begins := was.Version == 0 || was.State.Closed() || was.State == fsm.DisputeWarning && d.State != fsm.DisputeWarning
	return begins && !d.State.Closed()
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Finding is what a person must look at while the dispute is open, nil once it is closed. Its
// stages, an inquiry, a dispute, one that was opened again, are a finding each.
func (d Dispute) Finding(was Dispute) *Finding {
	stage := "open"
	switch {
	case d.State.Closed():
		return nil
	case was.State.Closed():
		stage = "reopened"
	case d.State == fsm.DisputeWarning:
		stage = "warning"
	}
	f := Finding{Kind: Disputed, About: AboutDispute, AboutID: stage + " " + d.ProviderDisputeID, Money: d.Money}
	if !d.DueBy.IsZero() {
		f.Text = "The cardholder disputes this payment. The provider takes an answer until " + d.DueBy.UTC().Format("2006-01-02 15:04 MST") + "."
	}
	return &f
}
