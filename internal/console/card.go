package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/amount"
)

// card is a discrepancy as a page shows it.
type card struct {
	worklist.Entry
	Form

	// Me is the signed-in person. Back is the query of the list that has the card.
	Me, Back string
	// Listed is set on the page of the list.
	Listed bool
	// Reason and AnswerBy are the reason and the deadline of the open dispute that it is about, in words; empty if there is none.
	// AtProvider is the payment's address in the provider's dashboard, where the dispute is answered; empty if it is not known.
	Reason, AnswerBy, AtProvider string
}

// Text is the text of the discrepancy, without the deadline of its opening if the present deadline stands beside it.
func (c card) Text() string {
	if c.Kind == payment.Disputed && c.AnswerBy != "" {
		return payment.ExplainDiscrepancy(payment.Disputed)
	}
	return c.Says()
}

// deadline returns until when a dispute can be answered, in words.
func deadline(clocks support.Clocks, by, now time.Time) string {
	switch {
	case by.IsZero():
		return "the provider states no deadline"
	case now.After(by):
		return "overdue: " + clocks.Minute(by) + ", " + clocks.Until(by, now)
	}
	return clocks.Minute(by) + ", " + clocks.Until(by, now)
}

// Mine reports whether the person is the assignee; Others whether another person is.
func (c card) Mine() bool   { return c.Assignee == c.Me }
func (c card) Others() bool { return c.Assignee != "" && c.Assignee != c.Me }

// Timed reports whether a time of day is in the card.
func (c card) Timed() bool { return c.Resolved != nil || c.Awaits() || len(c.Comments) > 0 }

// Anchor is the card's name in its page.
func (c card) Anchor() string { return "d-" + c.ID.String() }

// Version is a digest of the card's content, its age included.
func (c card) Version() string {
	return sum(
		c.ID.String(), c.Says(), c.Reason, c.AnswerBy, c.WhatToDo(), Age(c.Age()), c.Assignee, worklistNumber(c.CommentCount), shown(c.Expected), shown(c.Money), shown(c.Held),
		fmt.Sprint(c.Proposed != nil, c.Resolved != nil),
	)
}

// News is the text below a card that has changed while something is typed in it.
func (c card) News() string {
	parts := []string{"unassigned"}
	switch {
	case c.Resolved != nil:
		parts = []string{"resolved by " + c.Resolved.By}
	case c.Mine():
		parts = []string{"assigned to you"}
	case c.Others():
		parts = []string{"assigned to " + c.Assignee}
	}
	switch c.CommentCount {
	case 0:
	case 1:
		parts = append(parts, "1 comment")
	default:
		parts = append(parts, worklistNumber(c.CommentCount)+" comments")
	}
	return strings.Join(parts, ", ") + "."
}

func digest(list []card) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = c.Version()
	}
	return sum(parts...)
}

func sum(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p) // a hash takes all
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func shown(m *payment.Money) string {
	if m == nil {
		return ""
	}
	return amount.Of(*m)
}

// NeedsID reports whether one of the possibilities takes the provider's id.
func (c card) NeedsID() bool {
	return slices.ContainsFunc(c.Possible(), func(p payment.PossibleResolution) bool { return p.Resolution == payment.ResolvedPaid })
}

// worklistChoice is a possibility in words.
func worklistChoice(p payment.PossibleResolution) string {
	words := resolutionWords(p.Resolution)
	return strings.ToUpper(words[:1]) + words[1:] + ", if " + p.When + ". " + p.Effect
}

// kindWords is a name of the contract in words, as resolutionWords is.
func kindWords(kind payment.DiscrepancyKind) string { return words(string(kind)) }

// subject is where the card leads, and in which words.
func (c card) subject() (address, text string) {
	switch {
	case c.AttemptID != nil:
		return "/support/attempts/" + c.AttemptID.String(), "The payment"
	case c.OrderID != "" && c.User != "":
		return OrderPath(c.OrderID), "The order"
	}
	return "", ""
}
