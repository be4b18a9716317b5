package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Mermaid draws the moves of an attempt as a Mermaid stateDiagram-v2, each arrow labelled with its
// report. The states that are not final share the box "pending": an arrow that leaves the box
// leaves every state in it. The text is the same at every call and ends with a line break.
func Mermaid() string { return attempts.mermaid() }

// RefundMermaid draws the moves of a refund as Mermaid does those of an attempt;
// there is no box, because only one state is not final.
func RefundMermaid() string { return refunds.mermaid() }

func (m *machine[S]) mermaid() string {
	open := slices.DeleteFunc(slices.Clone(m.states), m.final)
	var inside, outside, ends strings.Builder
	for _, mv := range m.moves {
		switch {
		case !m.final(mv.to):
			arrows(&inside, "        ", mv.from, mv)
		case len(open) > 1 && len(mv.from) == len(open):
			arrows(&outside, "    ", []S{box}, mv)
		default:
			arrows(&outside, "    ", mv.from, mv)
		}
	}
	for _, s := range m.states {
		if m.final(s) {
			fmt.Fprintf(&ends, "    %s --> [*]\n", s)
		}
	}
	if len(open) == 1 {
		return fmt.Sprintf("stateDiagram-v2\n    [*] --> %s\n%s%s", open[0], &outside, &ends)
	}
	return fmt.Sprintf("stateDiagram-v2\n    [*] --> %s\n    state %s {\n        [*] --> %s\n%s    }\n%s%s",
		box, box, open[0], &inside, &outside, &ends)
}

// box is the name of the states that are not final, taken together.
const box = "pending"

func arrows[S ~string](b *strings.Builder, indent string, from []S, mv move[S]) {
	for _, s := range from {
		fmt.Fprintf(b, "%s%s --> %s : %s\n", indent, s, mv.to, mv.news)
	}
}

// final reports whether nothing moves s.
func (m *machine[S]) final(s S) bool {
	return !slices.ContainsFunc(m.moves, func(mv move[S]) bool { return slices.Contains(mv.from, s) })
}
