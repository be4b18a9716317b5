// Package found shows what a search has found: each hit with what tells it from others, and where it leads.
package found

import (
	"strings"

	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/finder"
	"github.com/paylatch/paylatch/internal/payment"
)

// Results is a page of hits.
type Results struct {
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

// groups are what has an id that is the text, and the rest.
func (r Results) groups() []group {
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

// Only is where all hits lead if they are about one payment or, with several or none, one order; empty if they are not.
func (r Results) Only() string {
	attempts, orders := map[string]*payment.AttemptID{}, map[string]bool{}
	for _, h := range r.Hits {
		if h.OrderID == "" {
			return ""
		}
		orders[string(h.OrderID)] = true
		if h.AttemptID != nil {
			attempts[h.AttemptID.String()] = h.AttemptID
		}
	}
	if len(orders) != 1 {
		return ""
	}
	if len(attempts) == 1 {
		for _, id := range attempts {
			return layout.AttemptPath(*id)
		}
	}
	return layout.OrderPath(r.Hits[0].OrderID)
}

// pathOf is where a hit leads.
func pathOf(h finder.Hit) string {
	switch {
	case h.Type == "event":
		return "/support/events/" + h.ID
	case h.AttemptID != nil:
		return layout.AttemptPath(*h.AttemptID)
	}
	return layout.OrderPath(h.OrderID)
}

// customer is who was found by the id; empty if none was.
func (r Results) customer() payment.UserID {
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

// matchOf is what of a hit was found, in words.
func matchOf(h finder.Hit) string {
	if h.Matched == "card_last_four" {
		return "the card's last four digits"
	}
	return strings.ReplaceAll(h.Matched, "_", " ")
}
