package console

import (
	"slices"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

// row is a row of the timeline. The row of a refund contains the entries of the refund's course, which have no other row.
type row struct {
	support.Entry

	tone   string
	course []row
	// line is its name in the page; empty if there is no name.
	line Line
}

// rows returns a timeline with one row for each refund, at the place of its request.
func rows(entries []support.Entry) []row {
	begun := map[string]bool{}
	for _, e := range entries {
		begun[refundOf(e)] = begun[refundOf(e)] || e.Kind == support.EntryRefund
	}
	out, at := make([]row, 0, len(entries)), map[string]int{}
	for _, e := range entries {
		id := refundOf(e)
		i, known := at[id]
		switch {
		case id == "" || !begun[id]:
			out = append(out, row{Entry: e, tone: e.Tone()})
			continue
		case !known:
			i, at[id] = len(out), len(out)
			out = append(out, row{Entry: support.Entry{At: e.At}, line: RefundLine(id)})
		}
		out[i].add(e)
	}
	named(out)
	return out
}

// named gives lines to the rows that a search leads to: each webhook, and the first request under a key.
func named(list []row) {
	seen := map[Line]bool{}
	for i := range list {
		r := &list[i]
		key, _ := r.Detail["key"].(string)
		line := r.line
		switch {
		case line != "":
		case eventOf(r.Entry) != "":
			line = EventLine(eventOf(r.Entry))
		case key != "" && slices.Contains([]support.EntryKind{support.EntryRequest, support.EntryReuse, support.EntryRefused}, r.Kind):
			line = RequestLine(key)
		}
		if !seen[line] {
			r.line = line
		}
		seen[line] = true
	}
}

// add takes an entry into the course of a refund. The row has the sentences of its request and its end, and the tone of the end.
func (r *row) add(e support.Entry) {
	r.course = append(r.course, row{Entry: e, tone: e.Tone()})
	switch {
	case e.Kind != support.EntryRefund:
	case r.Text == "":
		r.Kind, r.Actor, r.Text = e.Kind, e.Actor, e.Text
	default:
		r.Text += " " + e.Text
		r.tone = e.Tone()
	}
}

// refundOf returns the refund that an entry is of; empty if there is none.
func refundOf(e support.Entry) string {
	id, _ := e.Detail["refund_id"].(string)
	return id
}
