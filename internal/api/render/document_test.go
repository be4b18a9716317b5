package render_test

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
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
	live := payment.Attempt{OrderID: "A-1", State: fsm.OutcomeUnknown}
	causes := []error{idempotency.ErrKeyReused, &payment.InProgressError{Attempt: live}, payment.ErrBusy}
	require.Len(t, examples, len(causes))
	catalogue := render.NewCatalogue(render.New(time.Now, 0), 0)
	for i, cause := range causes {
		var shown, want map[string]any
		require.NoError(t, json.Unmarshal(examples[i][1], &shown))
		require.NoError(t, json.Unmarshal(render.JSON(catalogue.Document(shown["request_id"].(string), cause)), &want))
		if attempt, found := shown["attempt"].(map[string]any); found {
			delete(attempt, "payment_attempt_id")
			require.Subset(t, want["attempt"], attempt)
			shown["attempt"] = want["attempt"]
		}
		require.Equal(t, want, shown)
	}
}
