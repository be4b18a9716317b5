package console

import (
	"net/http"
	"strings"

	"github.com/paylatch/paylatch/internal/backoffice/finder"
)

// leastTyped is how much must be typed before results appear by themselves: each
// search stands in the audit log. Enter searches for less.
const leastTyped = 4

// searchView is the content of the page; Results is nil of the empty one.
type searchView struct {
	Frame
	Results *SearchResults
}

func (v *visit) showSearch() error {
	text := strings.TrimSpace(v.Query("q"))
	typing := v.R.Header.Get("Hx-Request") != ""
	top, err := v.warned("Search")
	if err != nil {
		return err
	}
	if text == "" && !typing {
		top.Title = TodayTitle
		return showToday(v.Visit, v.Overview, top, v.yesterday())
	}
	f := searchView{Frame: top}
	f.Query = text
	if text == "" || typing && len(text) < leastTyped {
		return v.Show(searchPage(f))
	}
	if err := TooOften(v.W, v.searches.Reserve(v.Who.Subject, v.Now())); err != nil {
		return err
	}
	hits, err := v.Finder.Search(v.R.Context(), v.Who, finder.Query{Text: text, Cursor: v.Query("cursor")})
	if err != nil {
		return err
	}
	f.Results = &SearchResults{Query: text, Found: hits, Further: v.Further(hits.Next)}
	if to := f.Results.Only(); to != "" && hits.Next == "" && v.Query("cursor") == "" && !typing {
		http.Redirect(v.W, v.R, to, http.StatusSeeOther)
		return nil
	}
	return v.Show(searchPage(f))
}
