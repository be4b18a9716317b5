package console

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// No refusal that a use case may make is a page of its own without a text.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, r := range refusalRows() {
		status, text := RefusalText(r.err)
		require.Equal(t, r.status, status)
		require.NotEmpty(t, text)
	}
	status, text := RefusalText(&payment.ValidationError{Fields: []payment.FieldError{{Field: "reason", Message: "say why"}}})
	require.Equal(t, 422, status)
	require.Equal(t, "reason: say why.", text)
}
