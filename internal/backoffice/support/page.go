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
	place
	limit int
	// apart are the places, by name, of the parts of a merged list that are not at the common place.
	apart map[string]place
}

// place is behind which item a page begins.
type place struct {
	before   time.Time
	beforeID string
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
	p := Page{place: beginning(), limit: usualLimit}
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
	var ok bool
	if p.place, p.apart, ok = parsePlaces(cursor); !ok {
		return Page{}, errCursor()
	}
	return p, nil
}

func errCursor() error {
	return invalid("cursor", "must be the next_cursor of a response to the same call")
}

func parsePlace(text string) (place, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	micros, id, found := strings.Cut(string(raw), " ")
	n, bad := strconv.ParseInt(micros, 10, 64)
	at := time.UnixMicro(n).UTC()
	return place{at, id}, err == nil && bad == nil && found && storable(id) && at.Year() >= 1 && at.Year() <= lastYear
}

// id returns where the page begins in a list that is ordered by ids of ours.
func (p Page) id() (uuid.UUID, error) {
	id, err := uuid.Parse(p.beforeID)
	if err != nil || len(p.apart) > 0 { // of parts, and this list has none
		return uuid.Nil, errCursor()
	}
	return id, nil
}

// BeforeID is where the page begins in such a list of another package, and its limit. It returns a payment.ValidationError.
func (p Page) BeforeID() (id uuid.UUID, limit int, err error) {
	id, err = p.id()
	return id, p.limit, err
}

// From returns the limit of the page, and the time and the id behind which it begins in a list that is ordered by both, in either
// direction. The time is nil at the beginning of the list. It returns a payment.ValidationError for a cursor of another kind.
func (p Page) From() (at *time.Time, id uuid.UUID, limit int, err error) {
	if p.begins() && len(p.apart) == 0 {
		return nil, uuid.Nil, p.limit, nil
	}
	id, err = p.id()
	return &p.before, id, p.limit, err
}

// beginning is where a list begins; begins reports whether a place is that.
func beginning() place {
	return place{time.Date(lastYear, 1, 1, 0, 0, 0, 0, time.UTC), uuid.Max.String()}
}

func (p place) begins() bool { return p.before.Year() == lastYear }

func (p place) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.before.UnixMicro(), 10) + " " + p.beforeID))
}

// Cut takes a page off a list of one more than the limit, if there is more; next is
// empty at the end.
func Cut[T any](p Page, items []T, at func(T) (time.Time, string)) (page []T, next string) {
	if len(items) <= p.limit {
		return items, ""
	}
	items = items[:p.limit]
	last, id := at(items[p.limit-1])
	return items, place{last, id}.cursor()
}
