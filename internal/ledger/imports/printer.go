package imports

import (
	"fmt"
	"io"
	"time"

	"github.com/paylatch/paylatch/internal/platform/terminal"
)

// Printer shows a person how far an import has come, once a second.
type Printer struct {
	out, err    io.Writer
	dry         bool
	now         func() time.Time
	began, said time.Time
}

// NewPrinter returns a printer: the sum goes to out, all else to err.
func NewPrinter(out, err io.Writer, dry bool, now func() time.Time) *Printer {
	return &Printer{out: out, err: err, dry: dry, now: now, began: now(), said: now()}
}

// Refused prints why a line was refused.
func (p *Printer) Refused(r *RefusalError) {
	_, _ = fmt.Fprintln(p.err, terminal.Visible(r.Error()))
}

// Progress prints the sum so far.
func (p *Printer) Progress(n Count) {
	if p.now().Sub(p.said) < time.Second {
		return
	}
	p.said = p.now()
	_, _ = fmt.Fprintf(p.err, "%s, %.0f lines/s\n", p.sum(n), float64(n.Lines)/p.now().Sub(p.began).Seconds())
}

// Sum prints the final counts of lines.
func (p *Printer) Sum(n Count) { _, _ = fmt.Fprintln(p.out, p.sum(n)) }

func (p *Printer) sum(n Count) string {
	made := map[bool]string{false: "imported", true: "would be imported"}[p.dry]
	return fmt.Sprintf("%d lines: %d %s, %d already imported, %d refused", n.Lines, n.Made, made, n.There, n.Refused)
}
