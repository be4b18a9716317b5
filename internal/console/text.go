package console

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/payment"
)

func storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// cellWords is a cell in words, and inCell is it behind other words; empty if there is none.
func cellWords(n *int) string {
	if n == nil {
		return ""
	}
	return "cell " + strconv.Itoa(*n)
}

func inCell(n *int) string {
	if n == nil {
		return ""
	}
	return ", " + cellWords(n)
}

// stale is the warning of a stale account.
func stale(q intake.StaleAccount, now time.Time) string {
	text := "No webhook was ever received from " + q.Account
	if q.LastWebhookAt != nil {
		text = "No webhook was received from " + q.Account + " for " + Age(now.Sub(*q.LastWebhookAt))
	}
	waiting := strconv.Itoa(q.Pending) + " payments wait for a webhook"
	if q.Pending == 1 {
		waiting = "a payment waits for a webhook"
	}
	return text + ", and " + waiting + ". Meanwhile paylatch asks the provider, so changes may appear late. Inform the operators of paylatch."
}

// foreign returns sentences that count each account's events about payments that were not made through paylatch.
func foreign(lastDay map[string]int64) (texts []string) {
	for _, account := range slices.Sorted(maps.Keys(lastDay)) {
		events := strconv.FormatInt(lastDay[account], 10) + " webhook events"
		if lastDay[account] == 1 {
			events = "1 webhook event"
		}
		texts = append(texts, "In the last day "+account+" sent "+events+" about payments that were not made through paylatch.")
	}
	return texts
}

// pretty returns a value as indented JSON. It escapes no letters, since the page escapes.
func pretty(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return "This page can't be shown."
	}
	return strings.TrimSpace(out.String())
}

// entryWords names the kinds of a timeline's entries.
func entryWords(kind support.EntryKind) string {
	return map[support.EntryKind]string{
		support.EntryPay: "Pay", support.EntryRequest: "Request", support.EntryReuse: "Repeat", support.EntryRefused: "Refused",
		support.EntryCall: "Call", support.EntryPoll: "Status check", support.EntryWebhook: "Webhook", support.EntryTransition: "Payment",
		support.EntryRefund: "Refund", support.EntryDispute: "Dispute", support.EntryMessage: "Notification", support.EntrySettlement: "Booked", support.EntryDiscrepancy: "Needs review", support.EntryStaff: "Staff",
	}[kind]
}

// disputeWords returns the statuses of a dispute in words.
func disputeWords(s fsm.DisputeState) string {
	return map[fsm.DisputeState]string{
		fsm.DisputeWarning: "inquiry", fsm.DisputeOpen: "needs an answer", fsm.DisputeUnderReview: "under review",
		fsm.DisputeWon: "won", fsm.DisputeLost: "lost", fsm.DisputeAccepted: "accepted",
	}[s]
}

// eventOf is the webhook that an entry is of; empty if there is none.
func eventOf(e support.Entry) string {
	id, _ := e.Detail["event_id"].(string)
	return id
}

// details returns the details of an entry, in a steady order.
func details(e support.Entry) [][2]string {
	out := make([][2]string, 0, len(e.Detail))
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		text, ok := e.Detail[name].(string)
		if !ok {
			text = pretty(e.Detail[name])
		}
		if text != "" {
			out = append(out, [2]string{name, text})
		}
	}
	return out
}

func rolesOf(d support.AuditEntry) string {
	texts := make([]string, len(d.Roles))
	for i, r := range d.Roles {
		texts[i] = string(r)
	}
	return strings.Join(texts, ", ")
}

func resolutionWords(r payment.Resolution) string { return r.Words() }
