package console

import (
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/payment"
)

// SearchResults shows the results of a search: each hit with its details and a link.

// SearchResults is a page of hits.
type SearchResults struct {
	// Query is the text as it was typed.
	Query string
	finder.Found
	// Further is the address of the next page, empty at the end.
	Further string
}

// group is the hits of one rank.
type group struct {
	Title string
	Hits  []finder.Hit
}

// groups separates the hits with exactly this id from the rest.
func (r SearchResults) groups() []group {
	exact, alike := group{Title: "With this id"}, group{Title: "Others, newest first"}
	for _, h := range r.Hits {
		if h.Rank == finder.Exact {
			exact.Hits = append(exact.Hits, h)
		} else {
			alike.Hits = append(alike.Hits, h)
		}
	}
	var list []group
	for _, g := range []group{exact, alike} {
		if len(g.Hits) > 0 {
			list = append(list, g)
		}
	}
	if len(list) == 1 && list[0].Title == alike.Title {
		list[0].Title = "Newest first"
	}
	return list
}

// Only returns the address that all hits lead to: of one payment or, with several or none, of one order. It is empty if the hits belong
// to several orders. If hits match the text exactly as a key or as a provider's id, only they count, and the address names their line.
func (r SearchResults) Only() string {
	orders := map[payment.OrderID]bool{}
	for _, h := range r.Hits {
		orders[h.OrderID] = true
	}
	if len(orders) != 1 || orders[""] {
		return ""
	}
	hits := slices.DeleteFunc(slices.Clone(r.Hits), func(h finder.Hit) bool { return !byKey(h) })
	if len(hits) == 0 {
		hits = r.Hits
	}
	attempts := map[payment.AttemptID]bool{}
	for _, h := range hits {
		if h.AttemptID != nil {
			attempts[*h.AttemptID] = true
		}
	}
	to := OrderPath(hits[0].OrderID)
	if len(attempts) == 1 {
		for id := range attempts {
			to = AttemptPath(id)
		}
	} else if len(attempts) > 1 {
		return to
	}
	return lineOf(hits).At(to)
}

// byKey reports whether the hit itself has the id, rather than its order or its customer.
func byKey(h finder.Hit) bool {
	return h.Rank == finder.Exact && h.Matched != "order_id" && h.Matched != "user_id"
}

// lineOf returns the line that the hits of one page share: of a refund, of a webhook or of a request. It is empty if the hits have several
// lines, or if they are about the payment itself.
func lineOf(hits []finder.Hit) Line {
	refunds, others := map[Line]bool{}, map[Line]bool{}
	for _, h := range hits {
		if h.Type == "refund" {
			refunds[line(h)] = true
		} else {
			others[line(h)] = true
		}
	}
	lines := refunds
	if len(refunds) == 0 {
		lines = others
	}
	if len(lines) != 1 {
		return ""
	}
	for l := range lines {
		return l
	}
	return ""
}

// line is the line of a hit in the page of its payment or its order; empty if there is no line.
func line(h finder.Hit) Line {
	switch {
	case h.Type == "refund":
		return RefundLine(h.ID)
	case h.Type == "event":
		return EventLine(h.ID)
	case h.Key != "":
		return RequestLine(h.Key)
	}
	return ""
}

// pathOf is where a hit leads.
func pathOf(h finder.Hit) string {
	switch {
	case h.Type == "event":
		return "/support/events/" + h.ID
	case h.AttemptID != nil:
		return line(h).At(AttemptPath(*h.AttemptID))
	}
	return line(h).At(OrderPath(h.OrderID))
}

// customer returns the customer with this id; empty if no customer has it.
func (r SearchResults) customer() payment.UserID {
	for _, h := range r.Hits {
		if h.Matched == "user_id" {
			return h.User
		}
	}
	return ""
}

// kindOf is the type of a hit in words.
func kindOf(h finder.Hit) string {
	return map[string]string{"order": "Order", "attempt": "Payment", "refund": "Refund", "event": "Webhook"}[h.Type]
}

// matchOf names the matched field of a hit, in words.
func matchOf(h finder.Hit) string {
	if h.Matched == "card_last_four" {
		return "the card's last four digits"
	}
	return strings.ReplaceAll(h.Matched, "_", " ")
}
