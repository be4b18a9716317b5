package current_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/current"
)

func TestMapWithoutEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []*current.Map[int]{nil, {}, current.Of[int](nil)} {
		v, ok := c.Find("a")
		require.False(t, ok)
		require.Zero(t, v)
		require.Zero(t, c.Get("a"))
		require.Empty(t, c.All())
	}
}

// TestReplaceIsSeenAsAWhole reads two entries of one map that are equal in each map there ever was.
func TestReplaceIsSeenAsAWhole(t *testing.T) {
	t.Parallel()
	c := current.Of(map[string]int{"a": 0, "b": 0})
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for last := 0; last < 1000; {
				all := c.All()
				if all["a"] != all["b"] || all["a"] < last {
					t.Errorf("a is %d and b is %d, after %d", all["a"], all["b"], last)
					return
				}
				last = all["a"]
			}
		})
	}
	for i := 1; i <= 1000; i++ {
		c.Replace(map[string]int{"a": i, "b": i})
	}
	reading.Wait()
	require.Equal(t, 1000, c.Get("b"))
}

func TestAllIsACopy(t *testing.T) {
	t.Parallel()
	c := current.Of(map[string]int{"a": 1})
	c.All()["a"] = 2
	require.Equal(t, 1, c.Get("a"))
}
