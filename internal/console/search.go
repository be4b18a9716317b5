package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/console/refusal"
	"github.com/paylatch/paylatch/internal/console/today"
	"github.com/paylatch/paylatch/internal/support"
)

// leastTyped is how much must be typed before results appear by themselves: each
// search stands in the audit log. Enter searches for less.
const leastTyped = 4

// found is the content of the page.
type found struct {
	layout.Frame
	Groups []group
	// Searched is false of the empty page.
	Searched bool
	Further  string
}

// group is the hits of one type, newest first.
type group struct {
	Title string
	Hits  []support.Hit
}

// byCustomer reports whether something was found by the id of its customer.
func (f found) byCustomer() bool {
	return slices.ContainsFunc(f.Groups, func(g group) bool {
		return slices.ContainsFunc(g.Hits, func(h support.Hit) bool { return h.Matched == "user_id" })
	})
}

func (v *visit) showSearch() error {
	text := strings.TrimSpace(v.Query("q"))
	typing := v.R.Header.Get("Hx-Request") != ""
	top, err := v.warned("Search")
	if err != nil {
		return err
	}
	if text == "" && !typing {
		top.Title = today.Title
		return today.Show(v.Visit, v.Overview, top)
	}
	f := found{Frame: top, Searched: text != ""}
	f.Query = text
	if text == "" || typing && len(text) < leastTyped {
		f.Searched = false
		return v.Show(searchPage(f))
	}
	if err := refusal.TooOften(v.W, v.searches.Reserve(v.Who.Subject, v.Now())); err != nil {
		return err
	}
	p, err := v.Page()
	if err != nil {
		return err
	}
	hits, next, err := v.Support.Search(v.R.Context(), v.Who, text, p)
	if err != nil {
		return err
	}
	if to := only(hits); to != "" && next == "" && v.Query("cursor") == "" && !typing {
		http.Redirect(v.W, v.R, to, http.StatusSeeOther)
		return nil
	}
	f.Groups, f.Further = grouped(hits), v.Further(next)
	return v.Show(searchPage(f))
}

func grouped(hits []support.Hit) []group {
	var groups []group
	for _, kind := range []struct{ name, title string }{
		{"order", "Orders"},
		{"attempt", "Payments"},
		{"refund", "Refunds"},
		{"event", "Webhooks"},
	} {
		g := group{Title: kind.title}
		for _, h := range hits {
			if h.Type == kind.name {
				g.Hits = append(g.Hits, h)
			}
		}
		if g.Hits != nil {
			groups = append(groups, g)
		}
	}
	return groups
}

// only is where all hits lead if they are about one payment or, with several or
// none, one order; empty if they are not.
func only(hits []support.Hit) string {
	attempts, orders := map[string]bool{}, map[string]bool{}
	for _, h := range hits {
		if h.OrderID == "" {
			return ""
		}
		orders[string(h.OrderID)] = true
		if h.AttemptID != nil {
			attempts[h.AttemptID.String()] = true
		}
	}
	switch {
	case len(orders) != 1:
		return ""
	case len(attempts) == 1:
		return attemptPath(*firstAttempt(hits))
	}
	return orderPath(hits[0].OrderID)
}
