package fsm_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

var update = flag.Bool("update", false, "write the golden files and the diagram in docs/explanation/model.md")

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"attempt.md":    matrix(attemptLife()),
		"payment.md":    matrix(paymentLife()),
		"refund.md":     matrix(refundLife()),
		"operation.md":  matrix(operationLife()),
		"dispute.md":    matrix(disputeLife()),
		"attempt.mmd":   fsm.Mermaid(),
		"payment.mmd":   fsm.PaymentMermaid(),
		"refund.mmd":    fsm.RefundMermaid(),
		"operation.mmd": fsm.OperationMermaid(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), text, "run with -update and read the difference")
		})
	}
}

func TestModelPageShowsTheDiagram(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../docs/explanation/model.md", "<!-- fsm:begin -->\n", "<!-- fsm:end -->"
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(page), begin)
	require.True(t, ok, "the page lacks %q", begin)
	shown, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "the page lacks %q", end)
	want := "```mermaid\n" + fsm.Mermaid() + "```\n"
	if *update && shown != want {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644))
		shown = want
	}
	require.Equal(t, want, shown, "run with -update")
}

// The diagrams and the machines come from the same rows by different ways.
func TestDiagramsDrawTheMoves(t *testing.T) {
	t.Parallel()
	drawsMoves(t, attemptLife(), fsm.Mermaid(), func(s fsm.State) bool { return !s.Final() })
	drawsMoves(t, refundLife(), fsm.RefundMermaid(), nil)
	drawsMoves(t, operationLife(), fsm.OperationMermaid(), fsm.OperationState.Open)
}

// drawsMoves asserts that the labelled arrows are the moves; an arrow from a box is one from
// each state in it.
func drawsMoves[S ~string](t *testing.T, m life[S], diagram string, boxed func(S) bool) {
	t.Helper()
	var moves, drawn []string
	for _, from := range m.states {
		for _, event := range m.events {
			if to, _, err := m.next(from, event); err == nil && to != from {
				moves = append(moves, fmt.Sprintf("%s --> %s : %s", from, to, event))
			}
		}
	}
	for _, a := range regexp.MustCompile(`(\w+) (--> \w+ : \w+)`).FindAllStringSubmatch(diagram, -1) {
		if boxed == nil || slices.Contains(m.states, S(a[1])) {
			drawn = append(drawn, a[0])
			continue
		}
		for _, s := range m.states {
			if boxed(s) {
				drawn = append(drawn, fmt.Sprintf("%s %s", s, a[2]))
			}
		}
	}
	require.ElementsMatch(t, moves, drawn)
}

// matrix is a row for each event and a column for each state; a move is bold, and what is
// an error is a dash.
func matrix[S ~string](m life[S]) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, s := range m.states {
		fmt.Fprintf(&b, " %s |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(m.states)) + "\n")
	for _, event := range m.events {
		fmt.Fprintf(&b, "| %s |", event)
		for _, s := range m.states {
			to, verdict, err := m.next(s, event)
			switch {
			case err != nil:
				b.WriteString(" – |")
			case to != s:
				fmt.Fprintf(&b, " **%s**, %s |", to, verdict)
			default:
				fmt.Fprintf(&b, " %s, %s |", to, verdict)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
