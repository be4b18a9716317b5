package strip_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/console/strip"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, c templ.Component) {
	t.Helper()
	var out strings.Builder
	require.NoError(t, c.Render(t.Context(), &out))
	got := strings.ReplaceAll(out.String(), "><", ">\n<") + "\n"
	file := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	require.NotRegexp(t, `\sstyle=|<script|<style|\son[a-z]+=`, got, "the policy of the pages forbids it")
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

func mark(k strip.Kind, d time.Duration, label string) strip.Mark {
	return strip.Mark{Kind: k, At: after(d), Label: label, Text: "A sentence on " + label + "."}
}

func call(k strip.Kind, from, to time.Duration, label string) strip.Mark {
	m := mark(k, from, label)
	m.Until = after(to)
	return m
}

func times(n int, m strip.Mark) strip.Mark {
	m.Times = n
	return m
}

const (
	ms  = time.Millisecond
	s   = time.Second
	day = 24 * time.Hour
)

// courses returns typical courses of payments, by name.
func courses() map[string]strip.Course {
	pay := mark(strip.Press, 0, "Pay €19.99")
	paid := []strip.Mark{
		pay, call(strip.Call, 2*ms, 400*ms, "charge: paid"), mark(strip.State, 401*ms, "succeeded"), mark(strip.MoneyIn, 401*ms, "€19.99 captured"),
		mark(strip.Webhook, 700*ms, "succeeded"),
	}
	with := func(more ...strip.Mark) []strip.Mark { return append(slices.Clone(paid), more...) }
	courses := map[string]strip.Course{
		"success": {Marks: paid, End: "succeeded", Tone: strip.Good},
		"decline": {Marks: []strip.Mark{
			pay, call(strip.Call, 2*ms, 900*ms, "charge: declined"), mark(strip.State, 901*ms, "failed"), mark(strip.Webhook, 1200*ms, "failed"),
		}, End: "failed", Tone: strip.Bad},
		"lost_answer": {Marks: []strip.Mark{
			pay, call(strip.Unanswered, 2*ms, 10*s, "charge: no answer"), mark(strip.State, 10*s+ms, "outcome unknown"),
			call(strip.Call, 20*s, 20*s+80*ms, "status check: paid"), mark(strip.State, 20*s+81*ms, "succeeded"), mark(strip.MoneyIn, 20*s+81*ms, "€19.99 captured"),
		}, End: "succeeded", Tone: strip.Good},
		"double_press": {Marks: with(
			mark(strip.Repeat, 150*ms, "again"), times(3, mark(strip.Repeat, 250*ms, "again")), times(2, mark(strip.Refused, 30*s, "refused")),
		), End: "succeeded", Tone: strip.Good},
		"webhook_first": {Marks: []strip.Mark{
			pay, call(strip.Call, 2*ms, 3*s, "charge: paid"), mark(strip.Webhook, 2*s, "succeeded"), mark(strip.State, 2*s+4*ms, "succeeded"),
			mark(strip.MoneyIn, 2*s+4*ms, "€19.99 captured"), times(2, mark(strip.Duplicate, 9*s, "again")),
		}, End: "succeeded", Tone: strip.Good},
		"late_success": {Marks: []strip.Mark{
			pay, call(strip.Call, 2*ms, 300*ms, "charge: declined"), mark(strip.State, 301*ms, "failed"), mark(strip.Webhook, 5*time.Hour, "succeeded"),
			mark(strip.MoneyIn, 5*time.Hour, "€19.99 captured"), mark(strip.Review, 5*time.Hour, "needs review"),
		}, End: "failed", Tone: strip.Bad},
		"partial_refund": {Marks: with(
			mark(strip.Request, 2*day, "refund €5.00"), call(strip.Call, 2*day+3*ms, 2*day+200*ms, "refund: refunded"), mark(strip.MoneyBack, 2*day+210*ms, "€5.00 refunded"),
		), End: "succeeded", Tone: strip.Good},
		"dispute": {Marks: with(
			mark(strip.Dispute, 40*day, "dispute"), mark(strip.MoneyBack, 40*day+s, "€19.99 charged back"), mark(strip.Webhook, 40*day, "charged back"),
			mark(strip.Dispute, 70*day, "dispute won"), mark(strip.MoneyIn, 70*day+s, "€19.99 returned"),
		), End: "succeeded", Tone: strip.Good},
		"held": {Marks: []strip.Mark{
			pay, call(strip.Call, 2*ms, 500*ms, "charge: held"), mark(strip.Hold, 501*ms, "€19.99 held"), mark(strip.State, 501*ms, "authorized"),
			call(strip.Call, 2*s, 6*s, "capture: processing"), call(strip.Call, 4*s, 5*s, "status check: held"),
		}, End: "authorized"},
		"too_much": {Marks: with(append(many(120), mark(strip.MoneyBack, day, "€5.00 refunded"))...), End: "succeeded", Tone: strip.Good},
		"nothing":  {End: "requested"},
	}
	for name, c := range courses {
		c.ID, c.Title = "strip", "The course of "+name
		courses[name] = c
	}
	return courses
}

// many are repeats and checks in turns, none of them alike its neighbour.
func many(n int) []strip.Mark {
	marks := make([]strip.Mark, n)
	for i := range marks {
		if at := time.Duration(i+1) * 7 * s; i%2 == 0 {
			marks[i] = mark(strip.Repeat, at, "again")
		} else {
			marks[i] = call(strip.Call, at, at+50*ms, "status check: paid")
		}
	}
	return marks
}

func TestStrip(t *testing.T) {
	t.Parallel()
	for name, c := range courses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, strip.Strip(c))
			holds(t, c)
		})
	}
}

// TestKinds has each kind in a course, so that its shape is in a golden file.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[strip.Kind]bool{}
	for _, c := range courses() {
		for _, m := range c.Marks {
			seen[m.Kind] = true
		}
	}
	kinds := slices.Sorted(maps.Keys(seen))
	require.Equal(t, strip.Press, kinds[0])
	require.Equal(t, strip.Hold, kinds[len(kinds)-1])
	require.Len(t, kinds, int(strip.Hold)+1)
}

func TestHostileLabels(t *testing.T) {
	t.Parallel()
	const turn = "\u202egnp.exe"
	c := strip.Course{ID: "strip", Title: `"><script>`, Marks: []strip.Mark{mark(strip.Press, 0, `<script>alert(1)</script>`+turn)}, End: `" onload="x` + turn}
	var out strings.Builder
	require.NoError(t, strip.Strip(c).Render(t.Context(), &out))
	require.NotContains(t, out.String(), "<script")
	require.NotContains(t, out.String(), `" onload`)
	require.NotContains(t, out.String(), "\u202e")
	require.Contains(t, out.String(), "gnp.exe")
}
