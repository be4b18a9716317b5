package support

import "slices"

// discrepancy is when a person was asked to look, and what the person did.
func discrepancy(d Discrepancy) []Entry {
	detail := map[string]any{"discrepancy_id": d.ID.String(), "kind": string(d.Kind)}
	entries := []Entry{{d.At, EntryDiscrepancy, ourselves, "A person has to look. " + d.Text, detail}}
	if r := d.Resolved; r != nil {
		detail := map[string]any{
			"action": string(Resolved), "discrepancy_id": d.ID.String(), "kind": string(d.Kind),
			"resolution": string(r.Resolution), "reason": r.Reason, "outcome": string(Done),
		}
		text := r.By + " settled this as " + sentence(resolutions, string(r.Resolution), string(r.Resolution))
		if first := d.Confirmed(); first != "" {
			text += ", as " + first + " had before"
		}
		text += ". Reason: " + r.Reason
		entries = append(entries, Entry{r.At, EntryStaff, "staff:" + r.By, text, detail})
	}
	return entries
}

var resolutions = map[string]string{ //nolint:gochecknoglobals // a table
	"paid":               "paid",
	"not_paid":           "not paid",
	"refunded_elsewhere": "refunded elsewhere",
	"accepted":           "accepted as it is",
}

// tells reports whether an entry of the audit log says what no other entry does: a
// deed that was begun has a second one, a resolution stands with what it resolved.
func (c Case) tells(d Deed) bool {
	switch {
	case d.Action == Resolved:
		return d.Outcome != Done
	case d.Outcome != Begun:
		return true
	}
	return !slices.ContainsFunc(c.Deeds, func(e Deed) bool { return e.DeedID == d.DeedID && e.Outcome != Begun })
}

func deed(d Deed) Entry {
	text := d.Actor + " " + sentence(deeds, string(d.Action), "did something: "+string(d.Action))
	switch d.Outcome {
	case Begun:
		text += "; what came of it is not known"
	case Refused:
		text += "; this was refused"
	case Failed:
		text += "; this failed"
	case Done:
	}
	text += "."
	if d.Reason != "" {
		text += " Reason: " + d.Reason
	}
	return Entry{d.At, EntryStaff, "staff:" + d.Actor, text, map[string]any{
		"action": string(d.Action), "target": d.Target, "reason": d.Reason, "outcome": string(d.Outcome),
	}}
}

var deeds = map[string]string{ //nolint:gochecknoglobals // a table
	string(Rechecked):     "had the provider asked how the payment stands",
	string(ReplayedEvent): "had a webhook applied again",
	string(RevealedEvent): "looked at a webhook as it came, personal data included",
	string(Resolved):      "settled what a person had to look at",
	string(Proposed):      "called paid what a person had to look at; somebody else has to agree",
	string(Refunded):      "asked for money to be paid back",
	"confirm":             "asked for the held money to be taken",
	"cancelAttempt":       "asked for the payment to be given up",
}
