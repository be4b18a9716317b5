package auth

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFullCacheBeginsAnew(t *testing.T) {
	t.Parallel()
	var c cache
	for i := range cacheLength + 1 {
		c.keep(strconv.Itoa(i), verified{})
	}
	require.Len(t, c.tokens, 1)
}
