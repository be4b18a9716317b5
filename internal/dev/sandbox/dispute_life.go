package sandbox

import (
	"slices"
)

// This file has the life cycle of a dispute at the sandbox: its statuses, their transitions, and the place of its
// money in each status.

// Status is where a dispute stands.
type Status string

// The statuses of a dispute.
const (
	Warning     Status = "warning"
	Open        Status = "open"
	UnderReview Status = "under_review"
	Won         Status = "won"
	Lost        Status = "lost"
	Accepted    Status = "accepted"
)

// takes reports whether the provider has the disputed money while a dispute stands so.
func (s Status) takes() bool { return s != Warning && s != Won }

// Dispute is a dispute in responses, and a record of the journal. Movements are its entries of the ledger, the oldest first.
type Dispute struct {
	ID        string            `json:"id"`
	ChargeID  string            `json:"charge_id"`
	Status    Status            `json:"status"`
	Reason    string            `json:"reason"`
	Amount    int64             `json:"amount"`
	Currency  string            `json:"currency"`
	DueBy     string            `json:"due_by"`
	Created   string            `json:"created"`
	Updated   string            `json:"updated"`
	Movements []DisputeMovement `json:"movements"`
}

// DisputeMovement is an entry of the ledger as its dispute shows it.
type DisputeMovement struct {
	EntryID string `json:"entry_id"`
	Kind    Kind   `json:"kind"`
	Amount  int64  `json:"amount"`
	At      string `json:"at"`
}

// taken reports whether the provider has the money.
func (d Dispute) taken() bool {
	return len(d.Movements) > 0 && d.Movements[len(d.Movements)-1].Kind == Chargeback
}

// Moves returns the money movement for a dispute that enters a status: the kind of the movement, and the change of the
// charge's disputed amount. The kind is empty if no money has to move.
func (d Dispute) Moves(to Status) (kind Kind, amount int64) {
	switch {
	case to.takes() == d.taken():
		return "", 0
	case d.taken():
		return ChargebackReversal, -d.Amount
	}
	return Chargeback, d.Amount
}

// Act is an action on a dispute: its source statuses, its target status, and the type of its event.
type Act struct {
	from []Status
	To   Status
	Type string
}

// ActOf returns an act by its name in the address. A decided dispute can be decided otherwise later; an accepted dispute
// cannot.
func ActOf(name string) (Act, bool) {
	switch name {
	case "open":
		return Act{[]Status{Warning}, Open, "dispute.opened"}, true
	case "evidence":
		return Act{[]Status{Open}, UnderReview, "dispute.updated"}, true
	case "win":
		return Act{[]Status{Warning, Open, UnderReview, Lost}, Won, "dispute.won"}, true
	case "lose":
		return Act{[]Status{Open, UnderReview, Won}, Lost, "dispute.lost"}, true
	case "accept":
		return Act{[]Status{Open, UnderReview}, Accepted, "dispute.accepted"}, true
	}
	return Act{}, false
}

// Fits reports whether the act can be done in a status.
func (a Act) Fits(s Status) bool { return slices.Contains(a.from, s) }
