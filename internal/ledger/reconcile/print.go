package reconcile

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Printer prints a run for a person, or, with JSON, for a program: the findings and the sum to Out, the progress to Err.
type Printer struct {
	Out, Err io.Writer
	JSON     bool
	Now      func() time.Time

	printed time.Time
	found   []finding
}

type finding struct {
	Kind      string  `json:"kind"`
	OrderID   string  `json:"order_id"`
	AttemptID string  `json:"payment_attempt_id"`
	About     string  `json:"about_id"`
	Amount    *int64  `json:"amount"`
	Currency  *string `json:"currency"`
	Text      string  `json:"text"`
}

// Progress prints a line a second.
func (p *Printer) Progress(n Count) {
	if now := p.Now(); now.Sub(p.printed) >= time.Second {
		p.printed = now
		_, _ = fmt.Fprintln(p.Err, n)
	}
}

// Found prints a finding. Ids of a provider are quoted, since a terminal obeys some characters.
func (p *Printer) Found(d payment.Discrepancy) {
	f := finding{Kind: string(d.Kind), OrderID: string(d.OrderID), About: d.AboutID, Text: d.Text}
	if f.Text == "" {
		f.Text = payment.ExplainDiscrepancy(d.Kind)
	}
	if d.AttemptID != nil {
		f.AttemptID = d.AttemptID.String()
	}
	money := "-"
	if d.Money != nil {
		currency := string(d.Money.Currency)
		f.Amount, f.Currency, money = &d.Money.Minor, &currency, d.Money.String()
	}
	if p.JSON {
		p.found = append(p.found, f)
		return
	}
	parts := []string{f.Kind + " " + money}
	for _, id := range []struct{ name, is string }{{"order", f.OrderID}, {"attempt", f.AttemptID}, {"of", f.About}} {
		if id.is != "" {
			parts = append(parts, fmt.Sprintf("%s %q", id.name, id.is))
		}
	}
	_, _ = fmt.Fprintln(p.Out, strings.Join(parts, ", "))
}

// Sum prints the counts of the span.
func (p *Printer) Sum(n Count) error {
	if !p.JSON {
		_, err := fmt.Fprintln(p.Out, n)
		return err //nolint:wrapcheck // the error is complete
	}
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"counts": n, "discrepancies": append([]finding{}, p.found...)}) //nolint:wrapcheck // the error is complete
}

// String returns the counts as a line.
func (n Count) String() string {
	parts := []string{fmt.Sprintf("%d entries: %d agreed, %d after a lookup, %d applied, %d to review, %d foreign", n.Entries, n.Agreed, n.LookedUp, n.Applied, n.Review, n.Foreign)}
	if n.Recalled > 0 {
		parts = append(parts, fmt.Sprintf("%d forgotten payments recorded again", n.Recalled))
	}
	if n.Outside > 0 {
		parts = append(parts, fmt.Sprintf("%d outside of the span", n.Outside))
	}
	of := fmt.Sprintf("%d payments without an entry", n.Missing)
	if n.Missing > 0 {
		of += fmt.Sprintf(": %d unknown at the provider, %d that can't be looked up, %d lookups failed", n.Lost, n.Unasked, n.Unanswered)
	}
	return strings.Join(append(parts, of), "; ")
}
