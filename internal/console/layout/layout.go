// Package layout is what the console's pages have in common: the frame, the form of an action, and how what others wrote,
// states and times are shown.
package layout

import (
	"cmp"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/console/page"
)

// Frame is what surrounds every page.
type Frame struct {
	Title string
	// Who is the signed-in subject; empty without a session.
	Who   string
	Admin bool
	// Query stands in the search box at the top; Here is the page's own entry in the
	// menu, empty for none.
	Query, Here string
	// Waiting is how many discrepancies are open; empty where that is not known.
	Waiting string
	// DeadLetters is how many events endpoints never got; empty where that is not known.
	DeadLetters string
	// Cells are the numbers of the cells to choose from, none where there is one; Cell is the one that was chosen, empty for all.
	Cells []string
	Cell  string
	// Without is what is missing from the page because a cell did not respond, in words; empty for nothing.
	Without string
	// Outcome is the outcome of the form that led to this page.
	Outcome string
	// Stale are warnings of stale accounts.
	Stale []string
}

// CellPath is the page of an address, which may have a query, of one cell, and of that cell from then on; of all where it is empty.
func CellPath(address, cell string) templ.SafeURL {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{Path: "/support"}
	}
	q := u.Query()
	q.Set("cell", cmp.Or(cell, "all"))
	return templ.SafeURL(u.Path + "?" + q.Encode())
}

// Form is what every form of an action has.
type Form struct {
	// Path is where it is sent, Back where it leads without being sent.
	Path, Back string
	// Key is new for each form that is shown: sent twice, it is done once.
	Key, Reason string
	// Error is why it was not done.
	Error string
}

// Render answers with a page, which no cache keeps.
func Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Cache-Control", "no-store")
	page.Render(w, r, status, c)
}

// much is how long a text may be that is shown as a whole, in bytes.
const much = 1000

// beginning is what is shown of a text at first.
func beginning(text string) string {
	if len(text) <= much {
		return text
	}
	cut := 200
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
