package throttle

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhoHasNotComeForAWhileIsForgotten(t *testing.T) {
	t.Parallel()
	e, now := New(1, 1), time.Now()
	for i := range 3 * manyNames {
		require.Zero(t, e.Wait(strconv.Itoa(i), now.Add(time.Duration(i)*time.Millisecond)))
	}
	require.LessOrEqual(t, len(e.names), 2*manyNames+1)
}
