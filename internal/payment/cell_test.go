package payment_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	t.Run("bears its cell", func(t *testing.T) {
		t.Parallel()
		for n := range payment.Cell(1 << payment.CellBits) {
			id := n.NewID()
			require.Equal(t, n, payment.CellOf(id))
			require.EqualValues(t, 7, id.Version())
			require.Equal(t, uuid.RFC4122, id.Variant())
		}
	})
	t.Run("of the past", func(t *testing.T) {
		t.Parallel()
		past := time.Date(2019, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
		for n := range payment.Cell(1 << payment.CellBits) {
			id, later := n.NewIDAt(past), n.NewIDAt(past.Add(time.Millisecond))
			require.Equal(t, n, payment.CellOf(id))
			require.EqualValues(t, 7, id.Version())
			require.Equal(t, uuid.RFC4122, id.Variant())
			seconds, nanos := id.Time().UnixTime()
			require.Equal(t, past, time.Unix(seconds, nanos).UTC())
			require.Negative(t, bytes.Compare(id[:], later[:]))
			require.NotEqual(t, id, n.NewIDAt(past))
		}
	})
	t.Run("ascends and never repeats", func(t *testing.T) {
		t.Parallel()
		last := payment.OnlyCell.NewID()
		for range 100_000 {
			id := payment.OnlyCell.NewID()
			require.Negative(t, bytes.Compare(last[:], id[:]))
			last = id
		}
	})
}
