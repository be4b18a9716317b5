package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/payment"
)

// The pages of the worklist show the open discrepancies, their assignees, their comments and their resolution.
//
// Without a script each page is loaded anew. With a script, the list is requested every few seconds with the digest of its
// present content. The response is 204 if the list has not changed, else only the cards. The script replaces a card only while
// the card holds neither the focus nor typed text.
//
// Opening a page makes one entry in the audit log. The page's later requests by script make no entries: only a session that opened the page
// may send them. They read the session without keeping it alive.

// Addresses.
const (
	WorklistPath = "/support/discrepancies"
	// ChangesPath is the address from which the script of a list requests changes.
	ChangesPath = WorklistPath + "/changes"
)

// Worklist is the use cases of discrepancies; *worklist.Service in the program.
type Worklist interface {
	Page(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Changed(ctx context.Context, who support.Staff, f worklist.Filter, p support.Page) ([]worklist.Entry, string, error)
	Entry(ctx context.Context, who support.Staff, id payment.DiscrepancyID) (worklist.Entry, error)
	Assign(ctx context.Context, who support.Staff, cmd worklist.Assign) (worklist.Entry, error)
	Comment(ctx context.Context, who support.Staff, cmd worklist.AddComment) (worklist.Entry, idempotency.Result, error)
	Resolve(ctx context.Context, who support.Staff, cmd worklist.Resolve) (worklist.Entry, error)
}

// WorklistOptions configure the pages. All are required.
type WorklistOptions struct {
	Worklist

	// Frame is the frame of a page that warns of stale accounts.
	Frame func(v *Visit, title string) (Frame, error)
	// Foreign are sentences on events of payments that are not ours.
	Foreign func(ctx context.Context) ([]string, error)
	// Provider, Clocks and Dashboard are those of Options.
	Provider  func(account string) support.Provider
	Clocks    support.Clocks
	Dashboard func(account, payment, capture string) string
}

// worklistPages returns the pages by their patterns.
func worklistPages(o WorklistOptions) map[string]func(v *Visit) error {
	page := func(show func(worklistVisit) error) func(v *Visit) error {
		return func(v *Visit) error { return show(worklistVisit{v, o}) }
	}
	return map[string]func(v *Visit) error{
		"GET " + WorklistPath:                     page(worklistVisit.show),
		"GET " + ChangesPath:                      page(worklistVisit.changes),
		"GET " + WorklistPath + "/{id}":           page(worklistVisit.showOne),
		"GET " + WorklistPath + "/{id}/resolve":   page(worklistVisit.askResolve),
		"POST " + WorklistPath + "/{id}/resolve":  page(worklistVisit.resolve),
		"POST " + WorklistPath + "/{id}/assign":   page(worklistVisit.assign),
		"POST " + WorklistPath + "/{id}/comments": page(worklistVisit.comment),
	}
}

// worklistVisit is one request in a session, with the use cases.
type worklistVisit struct {
	*Visit
	o WorklistOptions
}

// filter reads the filter from the address. Without a status, the list has the open discrepancies, oldest first.
func (v worklistVisit) filter() worklist.Filter {
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

// worklistListView is the content of the page of the worklist.
type worklistListView struct {
	Frame
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

func (v worklistVisit) show() error {
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
	v.Open(WorklistPath)
	return v.Show(worklistListPage(worklistListView{top, f, v.cards(list), foreign, v.Further(next)}))
}

// changes responds with the list, or with 204 if the page has the present list already.
func (v worklistVisit) changes() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	read := v.o.Page
	if v.Opened(WorklistPath) {
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

func (v worklistVisit) cards(list []worklist.Entry) cardsView {
	q := v.R.URL.Query()
	for _, name := range []string{"done", "seen"} {
		q.Del(name)
	}
	all := cardsView{Address: ChangesPath + "?" + q.Encode()}
	for _, e := range list {
		one := v.card(e, v.Form(""), q.Encode())
		one.Listed = true
		all.List = append(all.List, one)
	}
	all.Digest = digest(all.List)
	return all
}

// card returns a discrepancy as a page shows it.
func (v worklistVisit) card(e worklist.Entry, f Form, back string) card {
	c := card{Entry: e, Form: f, Me: v.Who.Subject, Back: back}
	if d := e.Dispute; d.ProviderDisputeID != "" {
		c.Reason, c.AnswerBy = v.o.Provider(e.Account).Reason(d.Reason), deadline(v.o.Clocks, d.DueBy, e.ReadAt)
		c.AtProvider = v.o.Dashboard(e.Account, e.ProviderPaymentID, e.Capture)
	}
	return c
}

// Timed reports whether a time of day is on the page.
func (l worklistListView) Timed() bool { return slices.ContainsFunc(l.Cards.List, card.Timed) }

// tab is the address of the list with another status, and the same filter else.
func (l worklistListView) tab(status string) string {
	q := url.Values{"status": {status}}
	for name, value := range map[string]string{
		"kind": l.Kind, "account": l.Account, "assignee": l.Assignee, "opened_from": l.OpenedFrom, "opened_to": l.OpenedTo,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return WorklistPath + "?" + q.Encode()
}

// Narrowed reports whether the list is of less than all with its status.
func (l worklistListView) Narrowed() bool {
	return l.Kind+l.Account+l.Assignee+l.OpenedFrom+l.OpenedTo != ""
}

func worklistPathOf(id payment.DiscrepancyID) string { return WorklistPath + "/" + id.String() }

// escaped is a query inside another one.
func escaped(query string) string { return url.QueryEscape(query) }

func worklistNumber(n int64) string { return strconv.FormatInt(n, 10) }
