package conformance

import (
	"fmt"
	"io"

	"github.com/paylatch/paylatch/internal/platform/terminal"
)

// Printer prints results: each as it comes, for a person, or with JSON all of them in the end, for a program.
type Printer struct {
	Out  io.Writer
	JSON bool

	results []Result
	count   map[Outcome]int
}

// Print prints a result.
func (p *Printer) Print(r Result) {
	if p.count == nil {
		p.count = map[Outcome]int{}
	}
	p.count[r.Outcome]++
	p.results = append(p.results, r)
	if p.JSON {
		return
	}
	line := fmt.Sprintf("%-7s  %s", r.Outcome, r.Check)
	if r.Note != "" {
		line += ": " + r.Note
	}
	if r.Outcome == Failed {
		line += fmt.Sprintf("\n         expected: %s\n         got:      %s\n         to do:    %s", r.Expected, terminal.Visible(r.Got), r.Remedy)
	}
	_, _ = fmt.Fprintln(p.Out, line)
}

// Failed is how many checks have failed.
func (p *Printer) Failed() int { return p.count[Failed] }

// Sum prints how many checks there were.
func (p *Printer) Sum() error {
	if p.JSON {
		return terminal.JSON(p.Out, map[string]any{
			"ok": p.count[Passed], "failed": p.count[Failed], "skipped": p.count[Skipped], "checks": append([]Result{}, p.results...),
		})
	}
	_, err := fmt.Fprintf(p.Out, "%d checks: %d ok, %d failed, %d skipped\n", len(p.results), p.count[Passed], p.count[Failed], p.count[Skipped])
	return err //nolint:wrapcheck // the error is complete
}
