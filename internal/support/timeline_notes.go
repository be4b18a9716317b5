package support

import (
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

func (c Case) noted(n payment.Note) Entry {
	n.Actor = c.presser(n)
	detail := map[string]any{"what": n.What}
	if n.Key != "" {
		detail["key"] = n.Key
	}
	if n.Outcome != "" {
		detail["outcome"] = n.Outcome
	}
	switch n.Kind {
	case payment.NoteCall, payment.NotePoll:
		detail["took_ms"] = n.Until.Sub(n.At).Milliseconds()
		return Entry{n.At, callKinds[n.Kind], ourselves, c.called(n), detail}
	case payment.NoteDuplicate:
		detail["times"] = n.Times
		text := "The provider sent a webhook " + strings.TrimSuffix(repeated("again", n.Times), ",") + " that had come before; nothing changed."
		return Entry{n.At, EntryWebhook, c.provider(), text, detail}
	case payment.NotePress:
		return Entry{n.At, EntryPress, n.Actor, commander(n.Actor) + " asked " + sentence(asked, n.What, "for something") + ".", detail}
	case payment.NoteRefused:
		detail["times"] = n.Times
		return Entry{n.At, EntryRefused, n.Actor, c.turnedAway(n), detail}
	case payment.NoteReuse:
	}
	detail["times"] = n.Times
	return Entry{n.At, EntryReuse, n.Actor, c.reused(n), detail}
}

var callKinds = map[payment.NoteKind]EntryKind{ //nolint:gochecknoglobals // a table
	payment.NoteCall: EntryCall, payment.NotePoll: EntryPoll,
}

// presser is who a command is of, whichever way it came: a press on Pay is its
// customer's, and staff is staff by the API, too.
func (c Case) presser(n payment.Note) string {
	role, name, _ := strings.Cut(n.Actor, ":")
	switch {
	case n.What == "pay" && role == string(payment.RoleService):
		return c.customer()
	case role == string(payment.RoleAdmin), role == string(payment.RoleSupport):
		return "staff:" + name
	}
	return n.Actor
}

// commander names who sent a command.
func commander(actor string) string {
	switch role, name, _ := strings.Cut(actor, ":"); role {
	case string(payment.RoleService):
		return "The shop"
	case "staff":
		return name
	}
	return "The customer"
}

var asked = map[string]string{ //nolint:gochecknoglobals // a table
	"confirm":      "for the held money to be taken",
	"cancel":       "for the payment to be cancelled",
	"cancel_order": "for the order to be cancelled",
	"refund":       "for money to be paid back",
}

func (c Case) reused(n payment.Note) string {
	when := later(c.Attempt.CreatedAt, n.Times, n.At, n.Until)
	if n.What != "pay" {
		return commander(n.Actor) + " asked " + repeated("again", n.Times) + " " + sentence(asked, n.What, "for the same") + "; it was done once."
	}
	pressed := commander(n.Actor) + " pressed Pay " + repeated("again", n.Times) + " " + when
	if n.Outcome == "took_over" {
		return pressed + "; the first try had been cut off and was gone on with. Nothing was charged twice."
	}
	return pressed + "; nothing was charged twice."
}

func (c Case) turnedAway(n payment.Note) string {
	reason := sentence(refusals, n.Outcome, "of how the payment stood")
	if n.What != "pay" {
		return commander(n.Actor) + " asked " + sentence(asked, n.What, "for something") + "; it was refused because " + reason + "."
	}
	return commander(n.Actor) + " pressed Pay " + repeated("anew", n.Times) + " " + later(c.Attempt.CreatedAt, n.Times, n.At, n.Until) +
		"; it was refused because " + reason + ". Nothing was charged twice."
}

var refusals = map[string]string{ //nolint:gochecknoglobals // a table
	"payment_in_progress": "this payment was under way",
	"order_paid":          "the order was paid already",
	"order_cancelled":     "the order was cancelled",
	"busy":                "another command was under way",
	"final":               "the payment was over",
	"not_capturable":      "there was no held money to take",
	"capture_exceeds":     "it was more than was held",
	"not_refundable":      "there was no money to pay back",
	"refund_exceeds":      "it was more than was left to pay back",
	"refundable_changed":  "another amount was left to pay back than expected",
}

// called says what the provider was asked and what it said.
func (c Case) called(n payment.Note) string {
	asked := "paylatch asked the provider " + c.question(n)
	took := span(n.Until.Sub(n.At))
	switch n.Outcome {
	case "unknown":
		if n.Kind == payment.NotePoll {
			return asked + "; no usable answer came within " + took + "."
		}
		return asked + "; no usable answer came within " + took + ", so it was not known whether it had been done."
	case "not_sent":
		return asked + "; nothing was sent: the provider could not be reached, or does not take this."
	}
	return asked + "; it answered after " + took + ": " + sentence(answers[n.What], n.Outcome, sentence(answers[""], n.Outcome, n.Outcome)) + "."
}

func (c Case) question(n payment.Note) string {
	switch n.What {
	case "charge":
		return "to charge " + c.Attempt.Money.String()
	case "capture":
		return "to take the money that it held"
	case "cancel":
		return "to cancel the payment"
	case "refund":
		for _, r := range c.Refunds {
			if r.ID == n.RefundID {
				return "to pay back " + r.Money.String()
			}
		}
		return "to pay money back"
	case "lookup_refund":
		return "how a refund stands"
	}
	return "how the payment stands"
}

// answers are what an outcome means as an answer to a question: an ended payment
// is what a cancellation was to bring, and a refusal of a charge.
var answers = map[string]map[string]string{ //nolint:gochecknoglobals // a table
	"charge":        {"succeeded": "paid", "failed": "declined", "soft_failed": "declined for now"},
	"capture":       {"succeeded": "taken", "failed": "declined", "soft_failed": "declined for now"},
	"cancel":        {"succeeded": "it had been paid before", "failed": "cancelled"},
	"refund":        {"succeeded": "paid back", "failed": "declined", "processing": "on its way"},
	"lookup_refund": {"succeeded": "paid back", "failed": "declined", "processing": "on its way"},
	"": {
		"succeeded":       "it is paid",
		"failed":          "it is over, and not paid",
		"soft_failed":     "declined for now",
		"processing":      "not decided yet",
		"action_required": "the customer has to confirm it first",
		"authorized":      "the money is held",
		"refused":         "it refused the request",
		"not_found":       "it knows nothing of it",
		"reversed":        "the money was taken back",
		"disputed":        "the cardholder disputes it",
	},
}
