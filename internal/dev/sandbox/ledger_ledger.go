package sandbox

import (
	"slices"
	"strings"
	"time"
)

// This file is the sandbox's books: every money movement, with the provider's fee and the payout of the rest.

// Kind is the kind of a money movement.
type Kind string

// The kinds of movements.
const (
	Charge             Kind = "charge"
	Refund             Kind = "refund"
	Chargeback         Kind = "chargeback"
	ChargebackReversal Kind = "chargeback_reversal"
)

// Movement is an entry of the ledger. Reference is always the charge's; the key is that of the call that moved the
// money, at once or later. The key is empty for an action in the dashboard.
type Movement struct {
	EntryID        string `json:"entry_id"`
	Kind           Kind   `json:"kind"`
	ChargeID       string `json:"charge_id"`
	Reference      string `json:"reference"`
	IdempotencyKey string `json:"idempotency_key"`
	Amount         int64  `json:"amount"`
	Currency       string `json:"currency"`
	At             string `json:"at"`
}

// Record is a movement with the fields that only the books show.
type Record struct {
	Movement

	OrderID   string `json:"order_id,omitempty"`
	RefundID  string `json:"refund_id,omitempty"`
	DisputeID string `json:"dispute_id,omitempty"`
}

// Entry is a movement in the books. Amount is never negative, Net is where money was taken; PayoutID is nil until the
// day of the movement is over.
type Entry struct {
	EntryID   string  `json:"entry_id"`
	Kind      Kind    `json:"kind"`
	ChargeID  string  `json:"charge_id"`
	Reference string  `json:"reference"`
	OrderID   string  `json:"order_id,omitempty"`
	RefundID  string  `json:"refund_id,omitempty"`
	DisputeID string  `json:"dispute_id,omitempty"`
	Amount    int64   `json:"amount"`
	Fee       int64   `json:"fee"`
	Net       int64   `json:"net"`
	Currency  string  `json:"currency"`
	PayoutID  *string `json:"payout_id"`
	At        string  `json:"at"`
}

// Movements returns the records as the ledger shows them.
func Movements(records []Record) []Movement {
	all := make([]Movement, len(records))
	for i := range records {
		all[i] = records[i].Movement
	}
	return all
}

// Entry is the record as the books have it at a time.
func (r Record) Entry(now time.Time) Entry {
	fee := r.fee()
	e := Entry{
		EntryID: r.EntryID, Kind: r.Kind, ChargeID: r.ChargeID, Reference: r.Reference, OrderID: r.OrderID, RefundID: r.RefundID,
		DisputeID: r.DisputeID, Amount: r.Amount, Fee: fee, Net: r.Amount - fee, Currency: r.Currency, At: r.At,
	}
	if r.Kind == Refund || r.Kind == Chargeback {
		e.Net = -r.Amount - fee
	}
	if day, _, _ := strings.Cut(r.At, "T"); day < now.UTC().Format(time.DateOnly) {
		payout := "po_" + strings.ReplaceAll(day, "-", "") + "_" + strings.ToLower(r.Currency)
		e.PayoutID = &payout
	}
	return e
}

// fee is 1.4 %, rounded half up, and 25 minor units of a charge, and nothing of all else.
func (r Record) fee() int64 {
	if r.Kind != Charge {
		return 0
	}
	return (r.Amount*14+500)/1000 + 25
}

// Stamp formats a time as in the contract: UTC, always with microseconds. Stamps sort as their times do.
func Stamp(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Page is a part of a list that only ever grows at its end.
type Page[T any] struct {
	Items []T `json:"items"`
	// NextCursor is nil at the end of the list.
	NextCursor *string `json:"next_cursor"`
}

// PageOf returns the items of a query, from its cursor on, in the order of the list. Times need not be in order.
func PageOf[T, V any](list []T, q Query, stamp func(T) string, show func(T) V) Page[V] {
	p := Page[V]{Items: make([]V, 0, q.Limit)}
	for i := min(q.Cursor, len(list)); i < len(list); i++ {
		if at := stamp(list[i]); at < q.From || q.To != "" && at >= q.To {
			continue
		}
		if len(p.Items) == q.Limit {
			p.NextCursor = cursorAt(i)
			return p
		}
		p.Items = append(p.Items, show(list[i]))
	}
	p.Items = slices.Clip(p.Items)
	return p
}
