package support

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Page is a part of a list: where it begins and how long it is.
type Page struct {
	before   time.Time
	beforeID string
	limit    int
}

const (
	usualLimit = 25
	maxLimit   = 100
)

// lastYear is after everything.
const lastYear = 9999

// ParsePage parses a caller's cursor and limit; both may be empty. It returns a
// payment.ValidationError.
func ParsePage(cursor, limit string) (Page, error) {
	p := Page{before: time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC), beforeID: uuid.Max.String(), limit: usualLimit}
	if limit != "" {
		n, err := strconv.Atoi(limit)
		if err != nil || n < 1 || n > maxLimit || strconv.Itoa(n) != limit {
			return Page{}, invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(maxLimit))
		}
		p.limit = n
	}
	if cursor == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	micros, id, found := strings.Cut(string(raw), " ")
	n, bad := strconv.ParseInt(micros, 10, 64)
	at := time.UnixMicro(n).UTC()
	if err != nil || bad != nil || !found || !storable(id) || at.Year() < 1 || at.Year() > lastYear {
		return Page{}, invalid("cursor", "must be the next_cursor of an answer to the same call")
	}
	p.before, p.beforeID = at, id
	return p, nil
}

// id returns where the page begins in a list that is ordered by ids of ours.
func (p Page) id() (uuid.UUID, error) {
	id, err := uuid.Parse(p.beforeID)
	if err != nil {
		return uuid.Nil, invalid("cursor", "must be the next_cursor of an answer to the same call")
	}
	return id, nil
}

// BeforeID is where the page begins in such a list of another package, and its limit. It returns a payment.ValidationError.
func (p Page) BeforeID() (id uuid.UUID, limit int, err error) {
	id, err = p.id()
	return id, p.limit, err
}

// From is where the page begins in a list of another package that is ordered by times and ids, in either direction, and its limit; nil
// for the beginning of the list. It returns a payment.ValidationError.
func (p Page) From() (at *time.Time, id uuid.UUID, limit int, err error) {
	if p.before.Year() == lastYear {
		return nil, uuid.Nil, p.limit, nil
	}
	id, err = p.id()
	return &p.before, id, p.limit, err
}

func cursorAfter(at time.Time, id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(at.UnixMicro(), 10) + " " + id))
}

// Cut takes a page off a list of one more than the limit, if there is more; next is
// empty at the end.
func Cut[T any](p Page, items []T, place func(T) (time.Time, string)) (page []T, next string) {
	if len(items) <= p.limit {
		return items, ""
	}
	items = items[:p.limit]
	at, id := place(items[p.limit-1])
	return items, cursorAfter(at, id)
}
