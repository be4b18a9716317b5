package cell_test

import (
	"bytes"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/cell"
)

func of(id uuid.UUID) cell.Number { return cell.Number(id[6]&0x0f)<<6 | cell.Number(id[7]>>2) }

func TestNewID(t *testing.T) {
	t.Parallel()
	t.Run("bears its cell", func(t *testing.T) {
		t.Parallel()
		for n := range cell.Number(1 << cell.Bits) {
			id := n.NewID()
			require.Equal(t, n, of(id))
			require.EqualValues(t, 7, id.Version())
			require.Equal(t, uuid.RFC4122, id.Variant())
		}
	})
	t.Run("ascends and never repeats", func(t *testing.T) {
		t.Parallel()
		last := cell.Only.NewID()
		for range 100_000 {
			id := cell.Only.NewID()
			require.Negative(t, bytes.Compare(last[:], id[:]))
			last = id
		}
	})
}
