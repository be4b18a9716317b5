package payment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

// TestElsewhere compares the ranges of each cell with the cell of each id.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	m := payment.CellMap{"eu-": 1, "uk:": 1, "us_": 2, "z": 2}
	ids := []string{"-", "0", "A", "eu", "eu+", "eu,9", "eu-", "eu-1", "eu-\U0010FFFE", "eu.", "eu.1", "ord", "ord`", "uk:7", "uk;", "us", "us_", "us_~", "us`", "y", "yz", "z", "zzz", "{", "é"}
	for n := range payment.Cell(4) {
		for _, id := range ids {
			within := 0
			for _, r := range m.Elsewhere(n) {
				if r.Low <= id && id < r.High {
					within++
				}
			}
			want := 0
			if m.Of(payment.OrderID(id)) != n {
				want = 1
			}
			require.Equal(t, want, within, "%s in cell %d", id, n)
		}
	}
	for n := range payment.Cell(4) {
		for _, r := range m.Elsewhere(n) {
			require.False(t, r.Low <= "ord_1" && "ord_1" < r.High, "paylatch made it: %d", n)
		}
	}
	require.Empty(t, payment.CellMap{}.Elsewhere(0))
	require.Equal(t, "eu- to cell 1, uk: to cell 1, us_ to cell 2, z to cell 2, all other orders to cell 0", m.String())
	require.True(t, strings.HasPrefix(payment.OwnOrderPrefix, "ord"))
}
