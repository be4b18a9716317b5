package throttle

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReserveForgetsIdleKeys(t *testing.T) {
	t.Parallel()
	l, now := New(1, 1), time.Now()
	for i := range 3 * manyKeys {
		require.Zero(t, l.Reserve(strconv.Itoa(i), now.Add(time.Duration(i)*time.Millisecond)))
	}
	require.LessOrEqual(t, len(l.limiters), 2*manyKeys+1)
}
