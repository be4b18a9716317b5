package payment

import (
	"slices"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Dispute is a cardholder's dispute of a payment. The provider's dispute id is unique within an account. Movements count
// its money; the dispute itself moves no money. Only [AdvanceDispute] changes it.
type Dispute struct {
	ID                DisputeID
	OrderID           OrderID
	AttemptID         AttemptID
	Account           string
	ProviderDisputeID string

	State fsm.DisputeState
	// Reason is the provider's code or word for the reason, empty if not stated.
	Reason string
	// Money is the disputed amount, nil if not stated.
	Money *Money
	// DueBy is the deadline for the merchant's answer, zero if not stated.
	DueBy time.Time
	// StatusAt is the provider's time of the last report that counted, zero if no report had a time.
	StatusAt time.Time

	Version int
	// OpenedAt is when the first report was applied. UpdatedAt is when the last report that changed the dispute was
	// applied.
	OpenedAt, UpdatedAt time.Time
	// ClosedAt is when the dispute was closed; nil while it is open.
	ClosedAt *time.Time
}

// DisputeReport is a dispute as a provider reports it.
type DisputeReport struct {
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

// NewDispute returns a dispute of an attempt without any report yet: its version is 0.
func NewDispute(a Attempt, providerID string) Dispute {
	return Dispute{
		ID: DisputeID(CellOf(a.ID).NewID()), OrderID: a.OrderID, AttemptID: a.ID, Account: a.Account, ProviderDisputeID: providerID,
	}
}

// AdvanceDispute applies a report to a dispute of an attempt that the transaction holds locked. It is the only caller of
// fsm.NextDispute.
//
// The provider's clock decides. Among reports with a time the latest counts, in any order of arrival. Of two reports
// with the same time, the one with the later status counts. An older report only adds fields that no other report has
// stated. A report without a time never opens a closed dispute again.
func AdvanceDispute(d *Dispute, t DisputeReport, now time.Time) fsm.Verdict {
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
func (d Dispute) counts(t DisputeReport) bool {
	if d.Version == 0 || t.At.IsZero() || t.At.After(d.StatusAt) {
		return true
	}
	further := slices.Index(fsm.DisputeStates(), t.Status) >= slices.Index(fsm.DisputeStates(), d.State)
	return t.At.Equal(d.StatusAt) && further
}

// restate takes over the fields of a report. They replace fields stated before only if the report counts.
func restate(d *Dispute, t DisputeReport, counts bool) {
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

// says reports whether two disputes are equal in their reported fields.
func (d Dispute) says(other Dispute) bool {
	sameMoney := d.Money == other.Money || d.Money != nil && other.Money != nil && *d.Money == *other.Money
	return d.State == other.State && d.Reason == other.Reason && sameMoney && d.DueBy.Equal(other.DueBy)
}

// Enters reports whether the dispute has entered a stage that is a finding, compared with was.
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

// Finding is the discrepancy that stays open while the dispute is open; nil once the dispute is closed. Each stage is a
// finding of its own: an inquiry, a dispute, a reopened dispute.
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
		f.Text = "The cardholder disputes this payment. The provider accepts a response until " + d.DueBy.UTC().Format("2006-01-02 15:04 MST") + "."
	}
	return &f
}
