package console

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestBeginning(t *testing.T) {
	t.Parallel()
	require.Equal(t, strings.Repeat("é", 500), beginning(strings.Repeat("é", 500)))
	long := beginning("x" + strings.Repeat("é", 5000))
	require.True(t, utf8.ValidString(long))
	require.Len(t, long, 199)
}
