package overview

import (
	"time"

	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

// Overview is all numbers, as they were at a time.
type Overview struct {
	At time.Time
	// Uncounted is how many events are not in Hours, Accounts, Currencies and Refunds yet.
	Uncounted int64
	// Hours are the last 24, the current one included, oldest first.
	Hours []Hour
	// Accounts and Currencies are the approval rates, by name.
	Accounts, Currencies []Approval
	Unknown              Unknown
	// Cases are the open discrepancies, the oldest first.
	Cases     []Cases
	Refunds   Refunds
	Silent    []intake.StaleAccount
	Standing  []Standing
	Endpoints []Endpoint
}

// Hour is the attempts that ended in one hour.
type Hour struct {
	From time.Time
	// Failed leaves Cancelled out.
	Succeeded, Failed, Cancelled int64
	// Volume is the captured amounts of succeeded attempts, by currency.
	Volume []payment.Money
}

// Share is how many of the ended attempts succeeded. Cancelled attempts are in neither number.
type Share struct{ Succeeded, Ended int64 }

// Rate is from 0 to 1; false without attempts.
func (s Share) Rate() (float64, bool) {
	if s.Ended == 0 {
		return 0, false
	}
	return float64(s.Succeeded) / float64(s.Ended), true
}

func (s Share) plus(t Share) Share { return Share{s.Succeeded + t.Succeeded, s.Ended + t.Ended} }

// Approval is the rates of an account or a currency.
type Approval struct {
	Name string
	// Day and Week are the last 24 hours and the last seven days. Before is the seven days before Week.
	Day, Week, Before Share
}

// Plus returns the rates of both together, under the name of a.
func (a Approval) Plus(b Approval) Approval {
	return Approval{a.Name, a.Day.plus(b.Day), a.Week.plus(b.Week), a.Before.plus(b.Before)}
}

// leastCompared is how many attempts a rate needs on both sides to be compared.
const leastCompared = 20

// Change returns the change of the day's rate against the week before, in percentage points. It returns false if either has too
// few attempts for a comparison.
func (a Approval) Change() (float64, bool) {
	if a.Day.Ended < leastCompared || a.Before.Ended < leastCompared {
		return 0, false
	}
	day, _ := a.Day.Rate()
	before, _ := a.Before.Rate()
	return (day - before) * 100, true
}

// Band is an age of unknown outcomes.
type Band string

// The bands, each up to the next.
const (
	UnderMinute     Band = "minute"
	UnderTenMinutes Band = "ten_minutes"
	UnderHour       Band = "hour"
	UnderDay        Band = "day"
	Older           Band = "older"
)

// Bands returns all bands, the youngest first.
func Bands() []Band { return []Band{UnderMinute, UnderTenMinutes, UnderHour, UnderDay, Older} }

// Unknown is the calls to providers with an unknown outcome.
type Unknown struct {
	Total int64
	// Oldest is when the first of them was sent; zero if there is no such operation.
	Oldest   time.Time
	Accounts []UnknownOf
	// More is set if there were too many open operations to count them all.
	More bool
}

// UnknownOf is the unknown outcomes of an account, by their age.
type UnknownOf struct {
	Account string
	Ages    map[Band]int64
}

// Age counts the unknown outcomes of a band at all accounts.
func (u Unknown) Age(b Band) (n int64) {
	for _, a := range u.Accounts {
		n += a.Ages[b]
	}
	return n
}

// Cases are the open discrepancies of a kind.
type Cases struct {
	Kind   string
	Count  int64
	Oldest time.Duration
}

// Refunds counts the refunds that ended in the last 24 hours, and the refunds that are under way now.
type Refunds struct {
	Succeeded, Failed, Pending int64
	// Sums are the sums of the refunds that succeeded, by currency.
	Sums []payment.Money
}

// Breaker is the state of the circuit breaker before an account's provider, in this process.
type Breaker string

// The states of a breaker. Half-open lets one call through, to see.
const (
	Closed   Breaker = "closed"
	HalfOpen Breaker = "half_open"
	Open     Breaker = "open"
)

// Standing is whether calls to an account's provider are made.
type Standing struct {
	Account string
	Breaker Breaker
	// Held is set while pays and refunds of the account wait, because the database was restored.
	Held bool
}

// Endpoint is how far an endpoint is.
type Endpoint struct {
	Name string
	Gone bool
	// Behind counts the events after its cursor. Retries counts the events that are tried again, and Dead the dead letters.
	Behind, Retries, Dead int64
	// Oldest is the age of the oldest undelivered event; 0 if there is no such event.
	Oldest time.Duration
}
