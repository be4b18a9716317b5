package overview

import (
	"context"
	"time"
)

// Store keeps the hourly counts. Its errors are those of package payment.
type Store interface {
	// Count counts a portion of the events that are not counted yet, in one transaction, and reports whether more wait. While
	// another process counts, it does nothing.
	Count(ctx context.Context) (added []Added, more bool, err error)
	// Purge deletes the hours of before a time.
	Purge(ctx context.Context, before time.Time) error
	// Uncounted is how many events are not counted yet.
	Uncounted(ctx context.Context) (int64, error)
	// Series reads the outcomes of the hours since a time. Rates reads the outcomes of ended attempts by account and currency.
	Series(ctx context.Context, since time.Time) ([]Outcome, error)
	Rates(ctx context.Context, day, week, before time.Time) ([]Rates, error)
	// Cases counts open cases by kind.
	Cases(ctx context.Context) ([]Cases, error)
	// Open counts open operations at providers, among atMost operations.
	Open(ctx context.Context, atMost int) ([]Operations, error)
}

// Added is the number that a portion has added to an hour.
type Added struct {
	Hour time.Time
	// Subject is attempt, refund or discrepancy; Status is succeeded, failed or opened, Code why, or the kind.
	Subject, Account, Status, Code string
	Count                          int64
}

// Outcome counts the objects that ended in one way in an hour.
type Outcome struct {
	Hour                      time.Time
	Subject, Currency, Status string
	Cancelled                 bool
	Count, Amount             int64
}

// Rates are the approval rates of an account in a currency.
type Rates struct {
	Account, Currency string
	Day, Week, Before Share
}

// Operations are open operations of an account. Operations with an unknown outcome have a band, all others the band "known".
type Operations struct {
	Account string
	Refund  bool
	Band    Band
	Count   int64
	// Oldest is when the first was sent.
	Oldest time.Time
}
