package journal

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// Format is how a journal is written.
type Format string

// The formats: a journal of hledger; CSV with a line for each posting; and JSON with a line for each transaction.
const (
	HLedger Format = "hledger"
	CSV     Format = "csv"
	JSON    Format = "json"
)

// Writer writes transactions. It holds only the names of the accounts and currencies. Its errors are those of the output.
type Writer struct {
	out   *bufio.Writer
	write func(Transaction) error
	named map[string]bool
}

// NewWriter returns a writer, and writes the beginning of the file.
func NewWriter(out io.Writer, f Format) (*Writer, error) {
	w := &Writer{out: bufio.NewWriter(out), named: map[string]bool{}}
	switch f {
	case HLedger:
		w.write = w.ledger
		w.head()
	case CSV:
		lines := csv.NewWriter(w.out)
		w.write = func(t Transaction) error { return table(lines, t) }
		if err := lines.Write(columns()); err != nil {
			return nil, fmt.Errorf("write the journal: %w", err)
		}
		lines.Flush()
	case JSON:
		lines := json.NewEncoder(w.out)
		lines.SetEscapeHTML(false)
		w.write = func(t Transaction) error { return lines.Encode(object(t)) }
	default:
		return nil, fmt.Errorf("%q: %w", f, errFormat)
	}
	return w, nil
}

var errFormat = errors.New("is not a format of journals")

// Write writes a transaction.
func (w *Writer) Write(t Transaction) error {
	if err := w.write(t); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// Close writes the end of the file.
func (w *Writer) Close() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// head declares what hledger checks strictly. An error of the output stays in the buffer, and Close returns it.
func (w *Writer) head() {
	_, _ = w.out.WriteString("; Written by paylatch. Days are in UTC.\ndecimal-mark .\n")
	for _, tag := range []string{"order", "attempt", "payment", "entry", "payout"} {
		_, _ = w.out.WriteString("tag " + tag + "\n")
	}
}

// declare declares an account or a currency before its first use.
func (w *Writer) declare(line string) {
	if !w.named[line] {
		w.named[line] = true
		_, _ = w.out.WriteString("\n" + line + "\n")
	}
}

// ledger writes a transaction as a person writes it: https://hledger.org/hledger.html#journal.
func (w *Writer) ledger(t Transaction) error {
	for _, p := range t.Postings {
		w.declare("account " + p.Account)
		w.declare("commodity " + commodity(p.Money.Currency))
	}
	mark := "*"
	if t.Pending {
		mark = "!"
	}
	var tags []string
	for _, tag := range t.tags() {
		if tag[1] != "" {
			tags = append(tags, tag[0]+":"+plain(tag[1]))
		}
	}
	_, _ = fmt.Fprintf(w.out, "\n%s %s (%s) %s  ; %s\n", t.Date.Format(time.DateOnly), mark, t.ID, t.Text, strings.Join(tags, ", "))
	for _, p := range t.Postings {
		amount, unit := decimal(p.Money)
		if _, err := fmt.Fprintf(w.out, "    %-44s  %18s %s\n", p.Account, amount, unit); err != nil {
			return err //nolint:wrapcheck // Write does
		}
	}
	return nil
}

// tags returns the ids of a transaction by their names.
func (t *Transaction) tags() [][2]string {
	return [][2]string{{"order", string(t.Order)}, {"attempt", t.Attempt}, {"payment", t.Payment}, {"entry", t.Entry}, {"payout", t.Payout}}
}

// commodity is the form in which a currency's amounts are written.
func commodity(c payment.Currency) string {
	amount, unit := decimal(payment.Money{Minor: 0, Currency: c})
	if !strings.Contains(amount, ".") {
		amount += "."
	}
	return amount + " " + unit
}

// decimal is an amount in the digits of its currency, and the currency. Of a currency that ISO 4217 does not have, it is in minor
// units, as its unit shows.
func decimal(m payment.Money) (amount, unit string) {
	if amount, listed := (webhooks.Money{Minor: m.Minor, Currency: string(m.Currency)}).Decimal(); listed {
		return amount, string(m.Currency)
	}
	return strconv.FormatInt(m.Minor, 10), `"` + plain(string(m.Currency)) + ` minor units"`
}

func columns() []string {
	return []string{
		"date", "transaction", "status", "text", "account", "amount", "currency", "order_id", "payment_attempt_id", "provider_payment_id",
		"entry_id", "provider_payout_id",
	}
}

func (t *Transaction) status() string {
	if t.Pending {
		return "pending"
	}
	return "posted"
}

// table writes the postings of a transaction. No cell begins a spreadsheet's formula: amounts are numbers, and ids are plain.
func table(lines *csv.Writer, t Transaction) error {
	ids := make([]string, 0, len(t.tags()))
	for _, tag := range t.tags() {
		ids = append(ids, plain(tag[1]))
	}
	for _, p := range t.Postings {
		amount, unit := decimal(p.Money)
		line := append([]string{t.Date.Format(time.DateOnly), t.ID, t.status(), t.Text, p.Account, amount, strings.Trim(unit, `"`)}, ids...)
		if err := lines.Write(line); err != nil {
			return err //nolint:wrapcheck // Write does
		}
	}
	lines.Flush()
	return lines.Error() //nolint:wrapcheck // Write does
}

type jsonTransaction struct {
	Date     string        `json:"date"`
	ID       string        `json:"transaction"`
	Status   string        `json:"status"`
	Text     string        `json:"text"`
	Order    string        `json:"order_id,omitempty"`
	Attempt  string        `json:"payment_attempt_id,omitempty"`
	Payment  string        `json:"provider_payment_id,omitempty"`
	Entry    string        `json:"entry_id,omitempty"`
	Payout   string        `json:"provider_payout_id,omitempty"`
	Postings []jsonPosting `json:"postings"`
}

type jsonPosting struct {
	Account  string `json:"account"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

func object(t Transaction) jsonTransaction {
	o := jsonTransaction{
		Date: t.Date.Format(time.DateOnly), ID: t.ID, Status: t.status(), Text: t.Text, Order: string(t.Order), Attempt: t.Attempt,
		Payment: t.Payment, Entry: t.Entry, Payout: t.Payout, Postings: []jsonPosting{},
	}
	for _, p := range t.Postings {
		o.Postings = append(o.Postings, jsonPosting{p.Account, p.Money.Minor, string(p.Money.Currency)})
	}
	return o
}

// name is a configured account as a part of a journal's account.
func name(account string) string { return strings.ReplaceAll(plain(account), ":", "%3A") }

// plain is an id in which the characters are written as percent codes that end a tag, an account or a cell, or begin a formula.
func plain(id string) string {
	var out strings.Builder
	for _, r := range id {
		switch {
		case strings.ContainsRune(`%,;"'()[]=+@|`, r), unicode.IsSpace(r), !unicode.IsPrint(r), r >= '\uff00' && r <= '\uffef',
			r == '-' && out.Len() == 0:
			for _, b := range []byte(string(r)) {
				_, _ = fmt.Fprintf(&out, "%%%02X", b)
			}
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
