package reconcile

import (
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

var errSpan = errors.New("--from must be before --to, and in the past")

// ParseSpan reads a span from two times of RFC 3339, or dates: a date is its beginning in UTC. The end is exclusive, and at most now.
func ParseSpan(from, to string, now time.Time) (gateway.Span, error) {
	var in gateway.Span
	var err error
	if in.From, err = parseTime(from); err != nil {
		return in, fmt.Errorf("--from: %w", err)
	}
	if in.To, err = parseTime(to); err != nil {
		return in, fmt.Errorf("--to: %w", err)
	}
	if in.To.After(now) {
		in.To = now
	}
	if !in.From.Before(in.To) {
		return in, errSpan
	}
	return in, nil
}

var errTime = errors.New("must be a date such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z")

func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errTime
}
