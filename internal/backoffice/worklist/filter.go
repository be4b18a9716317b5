package worklist

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// The statuses and the orders of a list.
const (
	Open     = "open"
	Resolved = "resolved"

	Newest = "newest"
	Oldest = "oldest"
)

// Names of assignees that mean another thing than a name.
const (
	Me     = "me"
	Nobody = "none"
)

// Filter chooses discrepancies as a caller writes it. An empty member is any.
type Filter struct {
	Status, Kind, Account string
	// Assignee is a name, Me or Nobody.
	Assignee string
	// OpenedFrom and OpenedTo bound the opening time; OpenedTo is exclusive. They are in RFC 3339, or, as a browser
	// sends them, without seconds and zone for UTC.
	OpenedFrom, OpenedTo string
	// Order is Newest or Oldest; empty is Newest.
	Order string
}

// Query is a filter that was found valid, and where in the list a page begins.
type Query struct {
	Status     string
	Kind       payment.DiscrepancyKind
	Account    string
	Assignee   string
	Unassigned bool

	OpenedFrom, OpenedTo time.Time
	Oldest               bool

	// FromAt and FromID are the place after which the page begins.
	FromAt time.Time
	FromID uuid.UUID
	Limit  int
	// Comments is how many comments of each are read.
	Comments int
}

// The bounds of all times that are stored.
var (
	firstTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)    //nolint:gochecknoglobals // a constant
	lastTime  = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant
)

// query returns a payment.ValidationError with every member that is wrong.
func (f Filter) query(who support.Staff, p support.Page) (Query, error) {
	var wrong []payment.FieldError
	must := func(valid bool, field, message string) {
		if !valid {
			wrong = append(wrong, payment.FieldError{Field: field, Message: message})
		}
	}
	must(f.Status == "" || f.Status == Open || f.Status == Resolved, "status", "must be open or resolved, or be left out")
	must(f.Kind == "" || slices.Contains(payment.DiscrepancyKinds(), f.Kind), "kind", "must be one of "+strings.Join(payment.DiscrepancyKinds(), ", ")+", or be left out")
	must(f.Order == "" || f.Order == Newest || f.Order == Oldest, "order", "must be newest or oldest, or be left out")
	for field, text := range map[string]string{"account": f.Account, "assignee": f.Assignee} {
		must(payment.StorableName(text) == text, field, "must be a name, or be left out")
	}
	q := Query{Status: f.Status, Kind: payment.DiscrepancyKind(f.Kind), Account: f.Account, Oldest: f.Order == Oldest}
	switch f.Assignee {
	case Me:
		q.Assignee = who.Subject
	case Nobody:
		q.Unassigned = true
	default:
		q.Assignee = f.Assignee
	}
	var ok bool
	q.OpenedFrom, ok = bound(f.OpenedFrom, firstTime)
	must(ok, "opened_from", "must be a time such as 2026-03-01T09:30:00Z")
	q.OpenedTo, ok = bound(f.OpenedTo, lastTime)
	must(ok, "opened_to", "must be a time such as 2026-03-01T09:30:00Z")
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b payment.FieldError) int { return strings.Compare(a.Field, b.Field) })
		return Query{}, &payment.ValidationError{Fields: wrong}
	}
	return q, q.from(p)
}

// from sets where the page begins.
func (q *Query) from(p support.Page) error {
	at, id, limit, err := p.From()
	q.Limit = limit + 1
	switch {
	case err != nil:
		return err
	case at != nil:
		q.FromAt, q.FromID = *at, id
	case q.Oldest:
		q.FromAt = firstTime
	default:
		q.FromAt, q.FromID = lastTime, uuid.Max
	}
	return nil
}

// Sorted is the order of the list.
func (f Filter) Sorted() support.Order[Entry] {
	o := support.Order[Entry]{At: place, Compare: func(a time.Time, aID string, b time.Time, bID string) int {
		return cmp.Or(b.Compare(a), strings.Compare(bID, aID))
	}}
	if f.Order == Oldest {
		newest := o.Compare
		o.Compare = func(a time.Time, aID string, b time.Time, bID string) int { return newest(b, bID, a, aID) }
	}
	return o
}

func place(e Entry) (time.Time, string) { return e.At, e.ID.String() }

// bound parses a time; without a text it is the usual one.
func bound(text string, usual time.Time) (time.Time, bool) {
	if text == "" {
		return usual, true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), t.UTC().Year() >= 1 && t.UTC().Year() <= lastTime.Year()
		}
	}
	return usual, false
}
