package endpoint

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// DefaultSchedule is that of Standard Webhooks (its specification, "Deliverability and reliability").
func DefaultSchedule() []time.Duration {
	return []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// longestRetryAfter bounds the delay that a receiver's Retry-After may add to the schedule.
const longestRetryAfter = time.Hour

// wait returns how long to wait after the try of a number, the first being 1, and whether there is another. jitter is from
// 0 to 1 and changes the wait by a tenth at most. The wait is never shorter than the receiver's Retry-After.
func wait(schedule []time.Duration, tries int, retryAfter time.Duration, jitter float64) (time.Duration, bool) {
	if tries > len(schedule) {
		return 0, false
	}
	d := float64(schedule[tries-1])
	return max(time.Duration(d*(0.9+0.2*jitter)), retryAfter), true
}

// retryAfter reads the header of a receiver that is overloaded (RFC 9110, 10.2.3); 0 where there is none.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	if r.StatusCode != http.StatusTooManyRequests && r.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := r.Header.Get("Retry-After")
	var d time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now)
	}
	return min(max(d, 0), longestRetryAfter)
}

// jitter spreads retries of one moment.
func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads load, guards nothing
