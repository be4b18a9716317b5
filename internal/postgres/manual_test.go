package postgres_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// The statements that an operator copies must run.
func TestStatementsOfTheManualRun(t *testing.T) {
	t.Parallel()
	conn := testdb.Connect(t, testdb.New(t))
	text, err := os.ReadFile("../../docs/how-to/operate.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		_, err := conn.Exec(t.Context(), block[1])
		require.NoError(t, err, block[1])
	}
}
