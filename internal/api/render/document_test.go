package render_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
)

// TestExamplesOfProblems compares the error bodies that docs/reference/idempotency.md shows with the catalogue's documents. An
// example shows some members of its attempt.
func TestExamplesOfProblems(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/reference/idempotency.md")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	causes := []error{idempotency.ErrKeyReused, &payment.InProgressError{}, payment.ErrBusy}
	require.Len(t, examples, len(causes))
	catalogue := render.NewCatalogue(render.New(time.Now, 0), 0)
	for i, cause := range causes {
		var shown, want map[string]any
		require.NoError(t, json.Unmarshal(examples[i][1], &shown))
		require.NoError(t, json.Unmarshal(render.JSON(catalogue.Document(shown["request_id"].(string), cause)), &want))
		attempt, _ := shown["attempt"].(map[string]any)
		for member := range attempt {
			require.Contains(t, want["attempt"], member)
		}
		delete(shown, "attempt")
		delete(want, "attempt")
		require.Equal(t, want, shown)
	}
}
