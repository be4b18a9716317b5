package strip_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/console/strip"
)

func euros(minor int64) string { return "€" + strconv.FormatFloat(float64(minor)/100, 'f', 2, 64) }

func TestBar(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]strip.Amounts{
		"unpaid":   {Asked: 1999},
		"paid":     {Asked: 1999, Captured: 1999},
		"refunded": {Asked: 1999, Captured: 1999, Refunded: 500},
		"all":      {Asked: 10000, Captured: 6000, Reversed: 1000, Refunded: 500, Disputed: 700},
		"twice":    {Asked: 1999, Captured: 3998},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a.ID, a.Write = "bar", euros
			golden(t, "bar_"+name, strip.Bar(a))
		})
	}
}

// TestAnyBar: for any amounts, the parts fill the bar, do not overlap, and are wide enough to be seen.
func TestAnyBar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		minor := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-10, 10), rapid.Int64Range(0, 1_000_000_000_000))
		a := strip.Amounts{
			Asked: minor.Draw(t, "asked"), Captured: minor.Draw(t, "captured"), Reversed: minor.Draw(t, "reversed"),
			Refunded: minor.Draw(t, "refunded"), Disputed: minor.Draw(t, "disputed"), Write: euros,
		}
		x, sum, of := 0, int64(0), map[string]int64{}
		for _, p := range a.Parts() {
			require.Equal(t, x, p.X)
			require.GreaterOrEqual(t, p.Width, 4)
			x, sum = x+p.Width, sum+p.Minor
			of[p.Class] = p.Minor
		}
		if sum > 0 {
			require.Equal(t, 600, x)
		}
		captured, asked, reversed := max(0, a.Captured), max(0, a.Asked), max(0, a.Reversed)
		within := of["left"] + of["refunded"] + of["disputed"]
		require.Equal(t, max(captured, max(0, a.Refunded)+max(0, a.Disputed)), within, "what was captured is left, refunded or charged back")
		require.Equal(t, reversed, of["reversed"])
		require.Equal(t, max(asked, captured+reversed), captured+reversed+of["open"], "what was asked was captured, reversed or not captured")
	})
}
