package engine_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

func TestPermit(t *testing.T) {
	t.Parallel()
	t.Run("ends_by_either_clock", permitEndsByEitherClock)
}

// shifted is t with one of its two clocks moved on, as a suspended machine or a corrected clock
// makes it. It depends on how package time keeps a monotonic reading: seconds since 1885 from
// bit 30 on, and nanoseconds since the process began.
func shifted(t time.Time, wall, monotonic time.Duration) time.Time {
	clock := (*struct {
		wall uint64
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	clock.wall += uint64(wall/time.Second) << 30
	clock.ext += int64(monotonic)
	return t
}

func permitEndsByEitherClock(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, c := range []struct {
		name            string
		wall, monotonic time.Duration
		holds           bool
	}{
		{"at once", 0, 0, true},
		{"just before", lease - time.Second, lease - time.Nanosecond, true},
		{"at the end", lease, lease, false},
		{"the monotonic clock alone", 0, lease, false},
		{"the wall clock alone, as after a suspend", lease, 0, false},
		{"the wall clock set back", -time.Hour, time.Second, true},
		{"the wall clock set back, and over", -time.Hour, lease, false},
	} {
		now := shifted(start, c.wall, c.monotonic)
		require.Equal(t, c.wall, now.Round(0).Sub(start.Round(0)), c.name)
		require.Equal(t, c.monotonic, now.Sub(start), c.name)
		err := gateway.NewPermit(start, lease, func() time.Time { return now }).Check()
		if c.holds {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorIs(t, err, gateway.ErrPermitEnded, c.name)
		}
	}
	require.ErrorIs(t, gateway.Permit{}.Check(), gateway.ErrPermitEnded, "nobody gave it")
}
