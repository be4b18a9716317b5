package payment

import "time"

// PayoutStatus is where a payout stands.
type PayoutStatus string

// The statuses. A paid payout may still fail: the bank sent the money back.
const (
	PayoutPending   PayoutStatus = "pending"
	PayoutInTransit PayoutStatus = "in_transit"
	PayoutPaid      PayoutStatus = "paid"
	PayoutFailed    PayoutStatus = "failed"
	PayoutCanceled  PayoutStatus = "canceled"
)

// PayoutStatuses returns the statuses of a payout.
func PayoutStatuses() []PayoutStatus {
	return []PayoutStatus{PayoutPending, PayoutInTransit, PayoutPaid, PayoutFailed, PayoutCanceled}
}

// rank orders the statuses as a payout has them one after the other. The last two are final, see PayoutReport.Again.
func (s PayoutStatus) rank() int {
	switch s {
	case PayoutPending:
		return 1
	case PayoutInTransit:
		return 2
	case PayoutPaid:
		return 3
	case PayoutFailed, PayoutCanceled:
		return 4
	}
	return 0
}

// Payout is a transfer of an account's balance to the merchant's bank. Its Version counts the changes of its money, status and
// date.
type Payout struct {
	ID PayoutID
	PayoutReport

	Version              int
	CreatedAt, UpdatedAt time.Time
	// Entries is the number of its settlements. Explained is the sum of their nets in the payout's currency. A net that is
	// not stated counts as the amount less the fee.
	Entries, Explained int64
}

// PayoutReport is a payout as its provider lists it. Only the account and the id are always known: an entry of the books may be
// the first to name the payout.
type PayoutReport struct {
	Account    string
	ProviderID string
	// Money is nil where the provider does not state it. It is negative where the provider took the money from the bank.
	Money *Money
	// Status is empty, and ArrivesOn zero, where the provider does not state it. ArrivesOn is a date.
	Status    PayoutStatus
	ArrivesOn time.Time
	// Again is set where the provider may send a failed payout again, under the same id. It is not stored.
	Again bool
}

// Unexplained is the money of the payout less the nets of its settlements; nil while its money is not known.
func (p Payout) Unexplained() *int64 {
	if p.Money == nil {
		return nil
	}
	return new(p.Money.Minor - p.Explained)
}

// Take returns the payout after a report, and whether the report changed it. A report of an earlier status is old, and changes
// nothing. A report that states nothing new changes nothing either. A failed payout becomes paid only if the provider may send it again.
func (p Payout) Take(r PayoutReport, now time.Time) (next Payout, changed bool) {
	next = p
	again := r.Again && p.Status == PayoutFailed && r.Status == PayoutPaid
	switch from, to := p.Status.rank(), r.Status.rank(); {
	case again:
		next.Status = r.Status
	case r.Status != "" && (to < from || to == from && r.Status != p.Status):
		return p, false
	case r.Status != "":
		next.Status = r.Status
	}
	if r.Money != nil {
		next.Money = r.Money
	}
	if !r.ArrivesOn.IsZero() {
		next.ArrivesOn = r.ArrivesOn
	}
	same := next.Status == p.Status && next.ArrivesOn.Equal(p.ArrivesOn) &&
		(next.Money == p.Money || next.Money != nil && p.Money != nil && *next.Money == *p.Money)
	if same {
		return p, false
	}
	next.UpdatedAt = now
	next.Version++
	return next, true
}
