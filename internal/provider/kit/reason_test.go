package kit_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// The refund's id can be read from each reason that contains it, regardless of the reason's length.
func TestReason(t *testing.T) {
	t.Parallel()
	id := payment.RefundID(uuid.Must(uuid.NewV7()))
	for _, reason := range []string{"", "He shouted.", strings.Repeat("щ", 300)} {
		text := kit.Reason(gateway.RefundCall{Refund: id, Reason: reason}, 192)
		require.LessOrEqual(t, len([]rune(text)), 192)
		require.Equal(t, id.String(), kit.Reference(text))
	}
	for _, none := range []string{"", "by hand", "(made_by_hand)", id.String()[1:]} {
		require.Empty(t, kit.Reference(none))
	}
}
