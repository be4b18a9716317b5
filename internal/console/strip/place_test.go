package strip_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/console/strip"
)

type failer interface {
	require.TestingT
	Helper()
}

// holds checks the guarantees of a drawing: no label over another one, nothing outside, time to the right, each mark drawn or counted.
func holds(t failer, c strip.Course) {
	t.Helper()
	d := strip.Draw(c)
	labels := []strip.Label{}
	drawn := 0
	for i, m := range d.Marks {
		labels = append(labels, m.Written)
		drawn += max(1, m.Times)
		require.LessOrEqual(t, m.X, d.Width)
		require.LessOrEqual(t, m.End, d.Width)
		require.GreaterOrEqual(t, m.End, m.X, "%d ends before it begins", i)
		if i > 0 && m.At.After(d.Marks[i-1].At) {
			require.GreaterOrEqual(t, m.X, d.Marks[i-1].X, "time runs to the right")
		}
	}
	given := 0
	for _, m := range c.Marks {
		given += max(1, m.Times)
	}
	require.Equal(t, given, drawn+d.Left, "each mark is drawn or counted")
	require.LessOrEqual(t, len(d.Marks), max(strip.Most, 1))
	if c.End != "" {
		labels = append(labels, d.End.Written)
	}
	for _, tick := range d.Ticks {
		labels = append(labels, tick.Label)
	}
	for i, a := range labels {
		require.GreaterOrEqual(t, a.From, 72, "%q is over the names of the lanes", a.Text)
		require.LessOrEqual(t, a.To, d.Width, "%q sticks out", a.Text)
		for _, b := range labels[:i] {
			require.False(t, a.Track == b.Track && a.From < b.To && b.From < a.To, "%q is over %q", a.Text, b.Text)
		}
	}
}

// TestAnyCourse draws marks of any kinds, lengths and times: at the same moment, in disorder, milliseconds and years apart.
func TestAnyCourse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := strip.Course{ID: "strip", Title: "Any", End: rapid.SampledFrom([]string{"", "succeeded", "unknown outcome"}).Draw(t, "end")}
		for i := range rapid.IntRange(0, 70).Draw(t, "marks") {
			at := rapid.OneOf(
				rapid.Int64Range(0, int64(20*ms)), rapid.Int64Range(0, int64(3*time.Minute)), rapid.Int64Range(0, int64(3000*day)),
			).Draw(t, "at")
			m := mark(strip.Kind(rapid.IntRange(0, int(strip.Hold)).Draw(t, "kind")), time.Duration(at), "")
			m.Label = rapid.SampledFrom([]string{"", "x", "€19.99 captured", "status check: no such payment", "支払い", strconv.Itoa(i)}).Draw(t, "label")
			m.Times = rapid.IntRange(0, 12).Draw(t, "times")
			if m.Kind == strip.Call || m.Kind == strip.Unanswered {
				m.Until = m.At.Add(time.Duration(rapid.Int64Range(-int64(s), int64(2*day)).Draw(t, "took")))
			}
			c.Marks = append(c.Marks, m)
		}
		holds(t, c)
	})
}

// TestMoneyStays has too many checks: the press, the states and the money are drawn all the same, before and after them.
func TestMoneyStays(t *testing.T) {
	t.Parallel()
	c := courses()["too_much"]
	d := strip.Draw(c)
	require.Len(t, d.Marks, strip.Most)
	require.Equal(t, len(c.Marks)-strip.Most, d.Left)
	kinds := map[strip.Kind]int{}
	for _, m := range d.Marks {
		kinds[m.Kind]++
	}
	for _, k := range []strip.Kind{strip.Press, strip.State, strip.MoneyIn, strip.Webhook, strip.MoneyBack} {
		require.Equal(t, 1, kinds[k])
	}
}

// TestScale has a second and a day: the day is a break with its length, and the clock behind it has the date.
func TestScale(t *testing.T) {
	t.Parallel()
	d := strip.Draw(strip.Course{Marks: []strip.Mark{mark(strip.Press, 0, "Pay"), mark(strip.Repeat, s, "again"), mark(strip.Webhook, day, "succeeded")}})
	texts := []string{}
	for _, tick := range d.Ticks {
		texts = append(texts, tick.Text)
		require.Equal(t, tick.Text == "23 h", tick.Break)
	}
	require.Equal(t, "1 Mar 12:00:00", texts[0])
	require.Equal(t, []string{"23 h", "2 Mar 12:00:00"}, texts[len(texts)-2:])
	near, far := d.Marks[1].X-d.Marks[0].X, d.Marks[2].X-d.Marks[1].X
	require.Less(t, far, 10*near, "a day is no 86,400 times a second")
}
