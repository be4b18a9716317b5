package rehearse

import (
	"fmt"
	"io"
	"strings"

	"github.com/paylatch/paylatch/internal/platform/terminal"
)

// Result is one course and its charges.
type Result struct {
	Course string `json:"course"`
	Story  string `json:"story"`
	Order  string `json:"order"`
	// OK is whether the order was charged exactly once.
	OK      bool     `json:"ok"`
	Charges []Charge `json:"charges"`
	// Page is the end that the page showed; Text is the beginning of its text if it showed none.
	Page End    `json:"page"`
	Text string `json:"text,omitempty"`
	// Contradiction is set if the page and the charges differ.
	Contradiction string `json:"contradiction,omitempty"`
	Pressed       int    `json:"pressed"`
	// Requests is how many requests that pay have reached the proxy.
	Requests int64  `json:"requests"`
	Note     string `json:"note,omitempty"`
}

// judge compares the charges with one charge and with the page.
func (r *Result) judge(faulty bool) {
	n := len(r.Charges)
	// A fault that met no request shows nothing.
	r.OK = n == 1 && (!faulty || r.Requests > 0)
	switch {
	case r.Page == Paid && n == 0:
		r.Contradiction = "the page shows a paid order that was not charged"
	case r.Page == Failed && n > 0:
		r.Contradiction = "the page shows a failure although the customer was charged"
	case r.Page == Silent && n > 0:
		r.Contradiction = "the page shows no end although the customer was charged"
	}
	if faulty && r.Requests == 0 {
		r.Note = "no request that pays came through the proxy, so the fault had no effect: set request in the script"
	}
}

// printer prints results: each as it comes, for a person, or all of them in the end, for a program.
type printer struct {
	out  io.Writer
	json bool

	results []Result
	broken  int
}

func (p *printer) print(r Result) {
	p.results = append(p.results, r)
	if !r.OK {
		p.broken++
	}
	if !p.json {
		_, _ = fmt.Fprintln(p.out, r.sentences())
	}
}

// sentences are the result in words.
func (r *Result) sentences() string {
	var s strings.Builder
	verdict := "ok"
	if !r.OK {
		verdict = "FAILED"
	}
	fmt.Fprintf(&s, "%-7s %s: %s The provider charged %s. The page %s.", verdict, r.Course, r.Story, times(r.Charges), ending(r))
	if r.Contradiction != "" {
		fmt.Fprintf(&s, "\n        contradiction: %s", r.Contradiction)
	}
	if r.Note != "" {
		fmt.Fprintf(&s, "\n        note: %s", r.Note)
	}
	return s.String()
}

// times is how often and how much was charged.
func times(charges []Charge) string {
	often := fmt.Sprintf("%d times", len(charges))
	switch len(charges) {
	case 0:
		return "nothing"
	case 1:
		often = "once"
	case 2:
		often = "twice"
	}
	amounts := make([]string, len(charges))
	for i, c := range charges {
		amounts[i] = terminal.Visible(strings.TrimSpace(c.Amount + " " + c.Currency))
	}
	if amounts[0] == "" {
		return often
	}
	return often + ": " + strings.Join(amounts, ", ")
}

func ending(r *Result) string {
	switch r.Page {
	case Paid:
		return "shows that the order is paid"
	case Failed:
		return "shows a failure"
	case Silent:
	}
	return fmt.Sprintf("shows no end: %q", r.Text)
}

// sum prints the counts.
func (p *printer) sum() error {
	if p.json {
		return terminal.JSON(p.out, map[string]any{"ok": len(p.results) - p.broken, "failed": p.broken, "courses": append([]Result{}, p.results...)})
	}
	_, err := fmt.Fprintf(p.out, "%d courses: %d charged exactly once, %d not\n", len(p.results), len(p.results)-p.broken, p.broken)
	return err //nolint:wrapcheck // the error is complete
}
