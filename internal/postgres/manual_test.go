package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/testdb"
)

// What an operator copies must run. The check of an attempt that none was set for is
// set by it.
func TestStatementsOfTheManualRun(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	conn := connect(t, dsn)
	id := placed(t, open(t, dsn), "o1").ID.String()
	_, err := conn.Exec(t.Context(), `DELETE FROM attempt_checks`)
	require.NoError(t, err)
	require.Equal(t, 1, one[int](t, conn, unscheduled))

	text, err := os.ReadFile("../../docs/operate.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 2)
	for _, block := range blocks {
		_, err := conn.Exec(t.Context(), strings.NewReplacer("attempt_id = '…'", "attempt_id = '"+id+"'").Replace(block[1]))
		require.NoError(t, err, block[1])
	}
	require.Zero(t, one[int](t, conn, unscheduled))
}
