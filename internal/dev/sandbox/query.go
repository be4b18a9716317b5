package sandbox

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// MaxLimit is how many items a page has at most, and without a limit.
const MaxLimit = 100

// Query selects a page: the items from From, inclusive, until To, exclusive, both as stamps; empty: without a bound.
type Query struct {
	From, To      string
	Cursor, Limit int
}

// Errors of a query.
var (
	ErrTime   = errors.New("from and to must be times of RFC 3339")
	ErrCursor = errors.New("cursor must be the next_cursor of a page")
	ErrLimit  = errors.New("limit must be 1 to 100")
)

// ParseQuery reads from, to, cursor and limit.
func ParseQuery(values url.Values) (q Query, err error) {
	if q.From, err = stampOf(values.Get("from")); err != nil {
		return q, err
	}
	if q.To, err = stampOf(values.Get("to")); err != nil {
		return q, err
	}
	if text := values.Get("cursor"); text != "" {
		if q.Cursor, err = strconv.Atoi(text); err != nil || q.Cursor < 0 {
			return q, ErrCursor
		}
	}
	q.Limit = MaxLimit
	if text := values.Get("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > MaxLimit {
			return q, ErrLimit
		}
	}
	return q, nil
}

// stampOf is the first stamp that is not before a time: stamps have no nanoseconds.
func stampOf(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrTime, err)
	}
	whole := at.Truncate(time.Microsecond)
	if whole.Before(at) {
		whole = whole.Add(time.Microsecond)
	}
	return Stamp(whole), nil
}

func cursorAt(i int) *string { return new(strconv.Itoa(i)) }
