package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// Check examines one requirement of a service.
type Check struct {
	Name string
	Run  func(ctx context.Context) []Finding
	// After is the name of an earlier check. If that check has findings, this check is left out, since its result would mean
	// nothing.
	After string
}

// limit bounds each check; a check without an answer by then is a finding.
const limit = 20 * time.Second

// Run runs checks one after another, and shows each as it ends. It reports how many problems there are.
func Run(ctx context.Context, checks []Check, show func(c Check, found []Finding)) (findings int) {
	var failed []string
	for _, c := range checks {
		if c.After != "" && slices.Contains(failed, c.After) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		found := c.Run(limited)
		cancel()
		show(c, found)
		if n := problems(found); n > 0 {
			failed = append(failed, c.Name)
			findings += n
		}
	}
	return findings
}

// problems counts the findings that are no notes.
func problems(found []Finding) (n int) {
	for _, f := range found {
		if !f.Note {
			n++
		}
	}
	return n
}

// Printer returns a function that prints a check, and the remedies of its findings, as lines of text.
func Printer(to io.Writer) func(c Check, found []Finding) {
	return func(c Check, found []Finding) {
		if len(found) == 0 {
			_, _ = fmt.Fprintf(to, "ok     %s\n", c.Name)
		}
		for _, f := range found {
			kind := "error"
			switch {
			case f.Note:
				kind = "note "
			case f.Grave:
				kind = "fatal"
			}
			_, _ = fmt.Fprintf(to, "%s  %s: %s: %s\n       to do: %s\n", kind, c.Name, f.Check, f.Problem, f.Remedy)
		}
	}
}
