package payment

import (
	"crypto/sha256"
	"time"
)

// EntryKind is the kind of an entry of a provider's books that is about the account, and not about a payment.
type EntryKind string

// The kinds. A reserve is money that the provider holds back, or releases. A transfer moves money between the account and other accounts
// at the provider. An adjustment is any other change of the balance.
const (
	EntryFee        EntryKind = "fee"
	EntryReserve    EntryKind = "reserve"
	EntryTransfer   EntryKind = "transfer"
	EntryAdjustment EntryKind = "adjustment"
	// EntryReturn is the money of an earlier payout in a later one, and is posted with the earlier one: money that came back or, with a
	// negative net, money that had been paid out before.
	EntryReturn EntryKind = "payout_return"
)

// AccountEntry is an entry of a provider's books that belongs to no payment recorded here. After it is stored, only an empty payout,
// fee or net is ever filled. If its payment is recorded later, the entry is stored again, as a settlement, which then counts instead.
type AccountEntry struct {
	Account string
	// EntryID is the provider's id of the entry; an account has it once.
	EntryID string
	// Kind is an EntryKind, or the MovementKind of a payment that is not recorded here. Payment is the provider's id of the payment that
	// the entry names; empty if it names none.
	Kind, Payment string
	// Money is the amount of the movement; without a currency where it is not stated.
	Money Money
	// Fee, Net, PayoutID, At and RecordedAt are as in a Settlement.
	Fee, Net       *Money
	PayoutID       string
	At, RecordedAt time.Time
}

// ID is the id of the settlement that the entry would be.
func (e AccountEntry) ID() SettlementID { return settlementID(e.Account, e.EntryID) }

// BookedAt is the provider's time of the entry, or the time at which it was recorded. It never changes.
func (e AccountEntry) BookedAt() time.Time {
	if e.At.IsZero() {
		return e.RecordedAt
	}
	return e.At
}

// settlementID is the id of an entry, a version 8 UUID. The storage computes it, too.
func settlementID(account, entry string) SettlementID {
	sum := sha256.Sum256([]byte(account + " " + entry))
	id := SettlementID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}
