package worklist

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/console/session"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
	"github.com/paylatch/paylatch/internal/worklist"
)

// Addresses.
const (
	Path = "/support/discrepancies"
	// ChangesPath is the address from which the script of a list requests changes.
	ChangesPath = Path + "/changes"
)

// UseCases is the use cases of discrepancies; *worklist.Service in the program.
type UseCases interface {
	Page(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Changed(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Entry(ctx context.Context, who support.Staff, id payment.DiscrepancyID) (worklist.Entry, error)
	Assign(ctx context.Context, who support.Staff, cmd worklist.Assign) (worklist.Entry, error)
	Comment(ctx context.Context, who support.Staff, cmd worklist.AddComment) (worklist.Entry, idempotency.Result, error)
	Resolve(ctx context.Context, who support.Staff, cmd worklist.Resolve) (worklist.Entry, error)
}

// Options configure the pages. All are required.
type Options struct {
	UseCases

	// Frame is the frame of a page that warns of stale accounts.
	Frame func(v *session.Visit, title string) (layout.Frame, error)
	// Foreign are sentences on events of payments that are not ours.
	Foreign func(ctx context.Context) ([]string, error)
}

// Pages returns the pages by their patterns.
func Pages(o Options) map[string]func(v *session.Visit) error {
	page := func(show func(visit) error) func(v *session.Visit) error {
		return func(v *session.Visit) error { return show(visit{v, o}) }
	}
	return map[string]func(v *session.Visit) error{
		"GET " + Path:                     page(visit.show),
		"GET " + ChangesPath:              page(visit.changes),
		"GET " + Path + "/{id}":           page(visit.showOne),
		"GET " + Path + "/{id}/resolve":   page(visit.askResolve),
		"POST " + Path + "/{id}/resolve":  page(visit.resolve),
		"POST " + Path + "/{id}/assign":   page(visit.assign),
		"POST " + Path + "/{id}/comments": page(visit.comment),
	}
}

// visit is one request in a session, with the use cases.
type visit struct {
	*session.Visit
	o Options
}

// filter reads the filter from the address. Without a status, the list has the open discrepancies, oldest first.
func (v visit) filter() worklist.Filter {
	f := worklist.Filter{
		Status: v.Query("status"), Kind: v.Query("kind"), Account: v.Query("account"), Assignee: v.Query("assignee"),
		OpenedFrom: v.Query("opened_from"), OpenedTo: v.Query("opened_to"), Order: v.Query("order"),
	}
	if f.Status == "" {
		f.Status = worklist.Open
	}
	if f.Order == "" && f.Status == worklist.Open {
		f.Order = worklist.Oldest
	}
	return f
}

// listView is the content of the page of the worklist.
type listView struct {
	layout.Frame
	worklist.Filter

	Cards   cardsView
	Foreign []string
	Further string
}

// cardsView is the list itself.
type cardsView struct {
	List   []card
	Digest string
	// Address is where the list reads changes.
	Address string
	Waiting string
}

func (v visit) show() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	f := v.filter()
	list, next, err := v.o.Page(v.R.Context(), v.Who, f, p)
	if err = v.Left(err); err != nil {
		return err
	}
	foreign, err := v.o.Foreign(v.R.Context())
	if err = v.Left(err); err != nil {
		return err
	}
	top, err := v.o.Frame(v.Visit, "Worklist")
	if err != nil {
		return err
	}
	v.Open(Path)
	return v.Show(listPage(listView{top, f, v.cards(list), foreign, v.Further(next)}))
}

// changes responds with the list, or with 204 if the page has the present list already.
func (v visit) changes() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	read := v.o.Page
	if v.Opened(Path) {
		read = v.o.Changed
	}
	list, _, err := read(v.R.Context(), v.Who, v.filter(), p)
	if err != nil { // also for omitted cells: the script would take their cards for resolved, so the page keeps its cards
		return err
	}
	c := v.cards(list)
	if c.Digest == v.Query("seen") {
		v.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	c.Waiting = v.Frame("").Waiting
	return v.Show(cards(c))
}

func (v visit) cards(list []worklist.Entry) cardsView {
	q := v.R.URL.Query()
	for _, name := range []string{"done", "seen"} {
		q.Del(name)
	}
	all := cardsView{Address: ChangesPath + "?" + q.Encode()}
	for _, e := range list {
		all.List = append(all.List, card{Entry: e, Form: v.Form(""), Me: v.Who.Subject, Back: q.Encode(), Listed: true})
	}
	all.Digest = digest(all.List)
	return all
}

// Timed reports whether a time of day is on the page.
func (l listView) Timed() bool { return slices.ContainsFunc(l.Cards.List, card.Timed) }

// tab is the address of the list with another status, and the same filter else.
func (l listView) tab(status string) string {
	q := url.Values{"status": {status}}
	for name, value := range map[string]string{
		"kind": l.Kind, "account": l.Account, "assignee": l.Assignee, "opened_from": l.OpenedFrom, "opened_to": l.OpenedTo,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return Path + "?" + q.Encode()
}

// Narrowed reports whether the list is of less than all with its status.
func (l listView) Narrowed() bool {
	return l.Kind+l.Account+l.Assignee+l.OpenedFrom+l.OpenedTo != ""
}

func pathOf(id payment.DiscrepancyID) string { return Path + "/" + id.String() }

// escaped is a query inside another one.
func escaped(query string) string { return url.QueryEscape(query) }

func number(n int64) string { return strconv.FormatInt(n, 10) }
