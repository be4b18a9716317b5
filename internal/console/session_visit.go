package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/parts"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Visit is one request of a person who is signed in.
type Visit struct {
	*Entrance
	W   http.ResponseWriter
	R   *http.Request
	Who support.Staff
	// without names the data that is missing from the page, in words.
	without string
}

// Handler shows a page, or returns the error that prevents it.
type Handler = func(v *Visit) error

// Staff serves sessions only: without one, every address leads to the sign-in.
func (e *Entrance) Staff(next func(v *Visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor := e.person(r)
		if actor.Subject == "" {
			e.toSignIn(w, r)
			return
		}
		e.Seen(r.Context(), actor.Subject)
		v := &Visit{Entrance: e, W: w, R: r, Who: staffOf(r, actor)}
		if err := next(v); err != nil {
			FailPage(w, r, e.Log, v.Frame(""), err)
		}
	})
}

// staffOf is the person of a request, with its origin.
func staffOf(r *http.Request, actor authz.Actor) support.Staff {
	return support.Staff{Actor: actor, Address: r.RemoteAddr, RequestID: r.Header.Get("X-Request-Id")}
}

// Open remembers in the session that the person has had a page; Opened reports it.
func (v *Visit) Open(page string) {
	if !v.Opened(page) {
		v.sessions.Put(v.R.Context(), sessionOpened+" "+page, true)
	}
}

// Opened reports whether the person has had a page in this session.
func (v *Visit) Opened(page string) bool {
	return v.sessions.GetBool(v.R.Context(), sessionOpened+" "+page)
}

// countTime is how long a page waits for a count of its menu.
const countTime = 500 * time.Millisecond

// counted returns a number for the menu, of the chosen cell; empty if it can't be counted now.
func (v *Visit) counted(count func(ctx context.Context, cell string) (int64, error)) string {
	if count == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(v.R.Context(), countTime)
	defer cancel()
	n, err := count(ctx, v.chosen())
	if err != nil {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// AllCells is the choice of all cells, in an address.
const AllCells = "all"

// chosen is the cell that the person has chosen, empty for all. It does not restrict pages of single objects in other cells.
func (v *Visit) chosen() string {
	kept, err := v.R.Cookie(CellCookie(v.Plain).Name)
	if err != nil || !slices.Contains(v.Cells, kept.Value) {
		return ""
	}
	return kept.Value
}

// Everywhere reports whether the page is one of several cells.
func (v *Visit) Everywhere() bool { return len(v.Cells) > 0 && v.Cell == "" }

// Left returns nil for a parts.OmittedError, and keeps the omitted cells for the frame. It returns any other error.
func (v *Visit) Left(err error) error {
	left, some := errors.AsType[*parts.OmittedError](err)
	if !some {
		return err
	}
	v.without = left.Without()
	return nil
}

// Without names the data that is missing from the page, in words; empty for nothing.
func (v *Visit) Without() string { return v.without }

// Frame returns the frame of the page, with the outcome of the form that led to the page.
func (v *Visit) Frame(title string) Frame {
	return Frame{
		Waiting: v.counted(v.Waiting), DeadLetters: v.counted(v.DeadLetters),
		Title: title, Who: v.Who.Subject, Admin: v.Who.Has(payment.RoleAdmin), Here: v.R.URL.Path,
		Cells: v.Cells, Cell: v.chosen(), Without: v.without,
		Outcome: v.outcomeOf(v.R, v.R.URL.Query().Get("done")),
	}
}

// Show responds with a page.
func (v *Visit) Show(c templ.Component) error {
	Render(v.W, v.R, http.StatusOK, c)
	return nil
}

// Query is a value of the address; empty if there is none.
func (v *Visit) Query(name string) string { return v.R.URL.Query().Get(name) }

// IDOf reads the id in the address. A malformed one stands in the audit log as an id
// that does not exist does.
func IDOf[T any](v *Visit, action support.Action, kind string, parse func(string) (T, error)) (T, error) {
	text := v.R.PathValue("id")
	id, err := parse(text)
	if err != nil {
		err = v.AuditLog.Refuse(v.R.Context(), v.Who, action, kind, text, err)
	}
	return id, err
}

// Page is the part of a list in the query.
func (v *Visit) Page() (support.Page, error) { return support.ParsePage(v.Query("cursor"), "") }

// Further is the address of the next part of a list, empty at the end.
func (v *Visit) Further(next string) string {
	if next == "" {
		return ""
	}
	q := v.R.URL.Query()
	q.Set("cursor", next)
	q.Del("done")
	return v.R.URL.Path + "?" + q.Encode()
}
