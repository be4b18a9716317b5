package fsm_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
)

var update = flag.Bool("update", false, "write the golden files and the diagram in README.md")

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"attempt.md":  attemptMatrix(),
		"refund.md":   refundMatrix(),
		"attempt.mmd": fsm.Mermaid(),
		"refund.mmd":  fsm.RefundMermaid(),
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

func TestReadmeShowsTheDiagram(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../README.md", "<!-- fsm:begin -->\n", "<!-- fsm:end -->"
	readme, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(readme), begin)
	require.True(t, ok, "README.md lacks %q", begin)
	shown, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, "README.md lacks %q", end)
	want := "```mermaid\n" + fsm.Mermaid() + "```\n"
	if *update && shown != want {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644))
		shown = want
	}
	require.Equal(t, want, shown, "run with -update")
}

// The diagram and the table come from the same rows by different ways.
func TestDiagramDrawsTheMovesOfTheTable(t *testing.T) {
	t.Parallel()
	var moves, refundMoves []string
	for _, row := range fsm.Table() {
		if row.Moved() {
			moves = append(moves, fmt.Sprintf("%s --> %s : %s", row.From, row.To, row.News))
		}
	}
	for _, row := range fsm.RefundTable() {
		if row.Moved() {
			refundMoves = append(refundMoves, fmt.Sprintf("%s --> %s : %s", row.From, row.To, row.News))
		}
	}
	require.ElementsMatch(t, moves, drawn(fsm.Mermaid(), true))
	require.ElementsMatch(t, refundMoves, drawn(fsm.RefundMermaid(), false))
}

// drawn lists the labelled arrows, an arrow from the box once for each state in it.
func drawn(diagram string, boxed bool) []string {
	var arrows []string
	for _, a := range regexp.MustCompile(`(\w+) (--> \w+ : \w+)`).FindAllStringSubmatch(diagram, -1) {
		if !boxed || a[1] != "pending" {
			arrows = append(arrows, a[0])
			continue
		}
		for _, s := range fsm.States() {
			if s.Status() == fsm.StatusPending {
				arrows = append(arrows, fmt.Sprintf("%s %s", s, a[2]))
			}
		}
	}
	return arrows
}

func attemptMatrix() string {
	cells := make(map[string]string)
	for _, row := range fsm.Table() {
		cells[string(row.From)+string(row.News)] = cell(row.Moved(), string(row.To), row.Verdict)
	}
	return matrix(fsm.States(), cells)
}

func refundMatrix() string {
	cells := make(map[string]string)
	for _, row := range fsm.RefundTable() {
		cells[string(row.From)+string(row.News)] = cell(row.Moved(), string(row.To), row.Verdict)
	}
	return matrix(fsm.RefundStates(), cells)
}

func cell(moved bool, to string, verdict fsm.Verdict) string {
	if moved {
		to = "**" + to + "**"
	}
	return fmt.Sprintf("%s, %s", to, verdict)
}

// matrix is a row for each news and a column for each state; a move is bold, and
// what is an error is a dash.
func matrix[S ~string](states []S, cells map[string]string) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, s := range states {
		fmt.Fprintf(&b, " %s |", s)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(states)) + "\n")
	for _, n := range fsm.AllNews() {
		fmt.Fprintf(&b, "| %s |", n)
		for _, s := range states {
			text := cells[string(s)+string(n)]
			if text == "" {
				text = "–"
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
