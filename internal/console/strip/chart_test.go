package strip_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console/strip"
)

func drawn(t *testing.T, draw func(out *strings.Builder) error) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, draw(&out))
	return out.String()
}

// TestBars: the highest bar is as high as the picture, values above zero are visible, and failures stand hollow on successes.
func TestBars(t *testing.T) {
	t.Parallel()
	got := drawn(t, func(out *strings.Builder) error {
		return strip.Bars("<b>", []strip.ChartBar{{Filled: 1000}, {}, {Filled: 1, Hollow: 1}, {Filled: 500, Hollow: 500}}).Render(t.Context(), out)
	})
	require.Contains(t, got, `viewBox="0 0 40 60"`)
	require.Contains(t, got, `aria-label="&lt;b&gt;"`)
	for _, want := range []string{
		`class="filled" x="0.00" y="4.00" width="7" height="56.00"`, `class="filled" x="20.00" y="58.50" width="7" height="1.50"`,
		`class="hollow" x="20.00" y="57.00" width="7" height="1.50"`, `class="filled" x="30.00" y="32.00" width="7" height="28.00"`,
		`class="hollow" x="30.00" y="4.00" width="7" height="28.00"`,
	} {
		require.Contains(t, got, want)
	}
	require.Equal(t, 5, strings.Count(got, "<rect"), "nothing is drawn for zero")
	require.NotContains(t, got, "style=")
}

func TestRate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rate, before float64
		want         string
		marks        int
	}{
		"compared": {0.9, 0.5, `x="50.00"`, 1}, "at_the_end": {1, 1, `x="99.00"`, 1}, "alone": {0.9, -1, `width="90.00"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drawn(t, func(out *strings.Builder) error { return strip.Rate(tt.rate, tt.before).Render(t.Context(), out) })
			require.Contains(t, got, tt.want)
			require.Equal(t, tt.marks, strings.Count(got, `class="mark"`))
		})
	}
}
