package notice

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Message is a mail. Subject and Text are plain text of one line, and of several.
type Message struct {
	// ID is the same for the same cases.
	ID            string
	Subject, Text string
	At            time.Time
}

// message returns the mail of some cases. Links begin with console, the public address; without it the mail has no links.
func message(notice, console string, cases []Case, now time.Time) Message {
	what := strconv.Itoa(len(cases)) + " new cases"
	if len(cases) == 1 {
		what = "1 new case: " + words(cases[0].Kind)
	}
	var text strings.Builder
	text.WriteString("These cases need a person:\n")
	digest := sha256.New()
	digest.Write([]byte(notice))
	for _, c := range cases {
		digest.Write([]byte(" " + c.ID))
		text.WriteString("\n" + c.line() + "\n")
		if console != "" {
			text.WriteString(console + c.path() + "\n")
		}
	}
	if console != "" {
		text.WriteString("\nThe worklist: " + console + "/support/discrepancies\nRefund requests: " + console + "/support/refund-requests\n")
	}
	return Message{ID: hex.EncodeToString(digest.Sum(nil)[:16]), Subject: "paylatch: " + what, Text: text.String(), At: now}
}

// line is a case in one line.
func (c Case) line() string {
	parts := []string{words(c.Kind)}
	if c.Amount != nil && c.Currency != "" {
		parts = append(parts, payment.Money{Minor: *c.Amount, Currency: payment.Currency(c.Currency)}.String())
	}
	for _, named := range [][2]string{{"order ", c.Order}, {"payment ", c.Attempt}, {"account ", c.Account}, {"endpoint ", c.Endpoint}, {"", c.Detail}} {
		if named[1] != "" {
			parts = append(parts, named[0]+named[1])
		}
	}
	if c.Endpoint == "" {
		parts = append(parts, "case "+c.ID)
	}
	return strings.Join(parts, ", ") + ", " + c.At.UTC().Format(time.RFC3339)
}

// path is the page of a case.
func (c Case) path() string {
	switch {
	case c.Kind == RefundRequest:
		return "/support/refund-requests/" + c.ID + "/approve"
	case c.Kind == EndpointFailing:
		return "/support/endpoints/" + url.PathEscape(c.Endpoint)
	case c.Attempt != "":
		return "/support/attempts/" + c.Attempt
	}
	return "/support/discrepancies/" + c.ID + "/resolve"
}

// words is a kind in words.
func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
