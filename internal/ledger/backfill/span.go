package backfill

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
)

// ErrSpan is returned for times that are no span.
var ErrSpan = errors.New("not a span of time")

// ParseSpan reads the span from since until until, or until now if that is empty. Each is a time of RFC 3339, a date, which is its
// beginning in UTC, or how long ago: 2d, 36h, 90m.
func ParseSpan(since, until string, now time.Time) (gateway.Span, error) {
	span := gateway.Span{To: now}
	var err error
	if span.From, err = parse(since, now); err != nil {
		return gateway.Span{}, fmt.Errorf("%w: since: %w", ErrSpan, err)
	}
	if until != "" {
		if span.To, err = parse(until, now); err != nil {
			return gateway.Span{}, fmt.Errorf("%w: until: %w", ErrSpan, err)
		}
	}
	if !span.From.Before(span.To) {
		return gateway.Span{}, fmt.Errorf("%w: the end is before the start", ErrSpan)
	}
	return span, nil
}

// maxDays is more than any provider lists.
const maxDays = 10_000

var errForm = errors.New("must be a span such as 2d or 36h, a date such as 2026-03-01, or a time such as 2026-03-01T09:30:00Z")

func parse(text string, now time.Time) (time.Time, error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil || n == 0 || n > maxDays {
			return time.Time{}, errForm
		}
		return now.Add(-time.Duration(n) * 24 * time.Hour), nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		if ago <= 0 {
			return time.Time{}, errForm
		}
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errForm
}
