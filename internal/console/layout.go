package console

import (
	"cmp"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/platform/page"
)

// This file has the common parts of the console's pages: the frame, the form of an action, and the display of states, times
// and texts of others.

// Frame is the menu, the search box and the notices around every page.
type Frame struct {
	Title string
	// Who is the signed-in subject; empty if there is no session.
	Who   string
	Admin bool
	// Query stands in the search box at the top; Here is the page's own entry in the
	// menu; empty if there is none.
	Query, Here string
	// Waiting is the number of open discrepancies; empty if the number is unavailable.
	Waiting string
	// DeadLetters is the number of dead letters of all endpoints; empty if the number is unavailable.
	DeadLetters string
	// Cells are the numbers of the cells to choose from, empty with a single cell. Cell is the chosen one, empty for all.
	Cells []string
	Cell  string
	// Without names the data that is missing from the page because a cell did not respond, in words; empty for nothing.
	Without string
	// Outcome is the outcome of the form that led to this page.
	Outcome string
	// Stale are warnings of stale accounts.
	Stale []string
}

// CellPath is the address of a page that also chooses a cell; an empty cell chooses all cells. The address may have a query.
func CellPath(address, cell string) templ.SafeURL {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{Path: "/support"}
	}
	q := u.Query()
	q.Set("cell", cmp.Or(cell, "all"))
	return templ.SafeURL(u.Path + "?" + q.Encode())
}

// Form is the common fields of all forms of an action.
type Form struct {
	// Path is the address of the POST. Back is the address of the link that leaves the form.
	Path, Back string
	// Key is new for each form that is shown: a form that is sent twice acts once.
	Key, Reason string
	// Error is why the action was not done.
	Error string
}

// Render answers with a page, which no cache keeps.
func Render(w http.ResponseWriter, r *http.Request, status int, c templ.Component) {
	w.Header().Set("Cache-Control", "no-store")
	page.Render(w, r, status, c)
}

// much is how long a text may be that is shown as a whole, in bytes.
const much = 1000

// beginning returns the part of a text that is shown at first.
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
