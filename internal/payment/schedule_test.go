package payment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
)

// tries are the delays of the schedule, as the manual has them.
var tries = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// An operation that is tried when it is due follows the schedule. The time of the last try is known from the next one.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := payment.Schedule{First: 10 * time.Second}
	created := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	op := payment.Operation{CreatedAt: created}
	now := created.Add(tries[0])
	for _, wait := range tries[1:] {
		op.Tries++
		next := s.Next(&op, created, now)
		require.Equal(t, wait, next.Sub(now), "after try %d", op.Tries)
		op.NextAt = &next
		require.Equal(t, now, s.LastTried(&op, created))
		now = next
	}
}

// Tries beside the schedule don't put the next try off.
func TestScheduleOfManyTries(t *testing.T) {
	t.Parallel()
	s := payment.Schedule{First: 10 * time.Second}
	created := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	op := payment.Operation{CreatedAt: created}
	for _, age := range []time.Duration{time.Second, 3 * time.Second, 24 * time.Second, time.Minute, time.Hour} {
		op.Tries += 3
		now := created.Add(age)
		next := s.Next(&op, created, now)
		require.LessOrEqual(t, next.Sub(now), max(s.First, 5*age), age)
		op.NextAt = &next
		require.WithinDuration(t, now, s.LastTried(&op, created), time.Microsecond, age)
	}
	op = payment.Operation{CreatedAt: created, Tries: 8}
	hour := created.Add(24 * time.Second)
	for hour.Sub(created) <= time.Hour {
		hour = s.Next(&op, created, hour)
		op.Tries++
	}
	require.Less(t, hour.Sub(created), 2*time.Hour, "the first lookup after an hour, which cancels an abandoned payment")
}

// A voucher can be paid until it expires, however long its customer takes.
func TestAVoucherOutlivesTheHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	a := payment.Attempt{CreatedAt: now.Add(-50 * time.Hour), NextAction: &payment.NextAction{Type: payment.ActionDisplay, ExpiresAt: now.Add(time.Minute)}}
	outlived := func(at time.Time) bool { return payment.MaxAge{}.Outlived(a, fsm.EventActionRequired, at) }
	require.False(t, outlived(now))
	require.True(t, outlived(now.Add(time.Hour)))
	a.NextAction.ExpiresAt = time.Time{}
	require.True(t, outlived(now), "its provider states no time")
	a.NextAction = &payment.NextAction{Type: payment.ActionRedirect, ExpiresAt: now.Add(time.Minute)}
	require.True(t, outlived(now), "a page is no voucher")
}
