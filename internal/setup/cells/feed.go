package cells

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// cursors are a reader's positions in the feed of each cell, in the order of the cells. An empty cursor is before the first
// event.
type cursors []string

// newest is a cursor behind the last event. It stays in the cursor of a cell that does not respond.
const newest = "now"

// parse reads cursors from the text that String writes: 0:12.1:7. One of a service without other cells, a number alone, is of the first.
func (r *Router) parse(text string) (cursors, error) {
	from := make(cursors, len(r.Cells))
	if text == "" {
		return from, nil
	}
	if text == newest {
		for i := range from {
			from[i] = newest
		}
		return from, nil
	}
	if !strings.Contains(text, ":") {
		from[0] = text
		return from, nil
	}
	for part := range strings.SplitSeq(text, ".") {
		number, at, found := strings.Cut(part, ":")
		i := slices.Index(r.numbers(), number)
		if _, err := outbox.ParseCursor(at); err != nil && at != newest || at == "" || !found || i < 0 {
			return nil, payment.Invalid("after", "must be the next_cursor of an earlier page")
		}
		from[i] = at
	}
	return from, nil
}

// begin replaces newest by the place that a cell responded with, so that a wait in several cells begins at one place in each.
func (c cursors) begin(answers []*answer) {
	for i, a := range answers {
		if p, is := a.page(); is && c[i] == newest {
			c[i] = p.Next
		}
	}
}

func (r *Router) text(c cursors) string {
	var parts []string
	for i, number := range r.numbers() {
		if c[i] != "" {
			parts = append(parts, number+":"+c[i])
		}
	}
	return strings.Join(parts, ".")
}

// page is a cell's part of a page of the feed.
type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next_cursor"`
	// at are when the items were made.
	at []time.Time
}

func (a *answer) page() (p page, is bool) {
	if a == nil || a.status != http.StatusOK || json.Unmarshal(a.body.Bytes(), &p) != nil {
		return page{}, false
	}
	for _, item := range p.Items {
		var of struct {
			CreatedAt time.Time `json:"created_at"`
		}
		if json.Unmarshal(item, &of) != nil {
			return page{}, false
		}
		p.at = append(p.at, of.CreatedAt)
	}
	return p, true
}

// feed serves a page of the events of all cells. Events of one cell keep the cell's order, and so do the events of one payment.
// Cells are merged by time. A cell that does not respond is left out, and its cursor stays.
func (r *Router) feed(w http.ResponseWriter, req *http.Request) {
	from, err := r.parse(req.URL.Query().Get("after"))
	if err != nil {
		r.refuse(w, req, err)
		return
	}
	answers := r.each(func(i int) *http.Request { return reading(req.Context(), req, from[i], 0, false) })
	if r.restarts(w, from, answers) {
		return
	}
	for _, a := range answers {
		if a.status >= http.StatusBadRequest && a.status < http.StatusInternalServerError {
			a.send(w)
			return
		}
	}
	from.begin(answers)
	if nothing(answers) && waits(req) {
		answers = r.first(req, from)
	}
	if r.restarts(w, from, answers) { // restored during the wait
		return
	}
	items, next, first := r.merge(req, from, answers)
	if first == nil {
		answers[0].send(w)
		return
	}
	maps.Copy(w.Header(), first.header)
	w.Header().Del("Content-Length")
	write(w, http.StatusOK, page{Items: items, Next: r.text(next)})
}

// feedOf serves a page of the events of the cell in the query. Its cursor is also one of the feed of all cells, at the beginning of the
// others.
func (r *Router) feedOf(w http.ResponseWriter, req *http.Request) {
	i := slices.Index(r.numbers(), req.URL.Query().Get(parameter))
	if i < 0 {
		r.leadTo(w, req, req.URL.Query().Get(parameter))
		return
	}
	from, err := r.parse(req.URL.Query().Get("after"))
	if err != nil {
		r.refuse(w, req, err)
		return
	}
	a := ask(r.Cells[i].API, reading(req.Context(), withoutCell(req), from[i], 0, true))
	next, answers := make(cursors, len(r.Cells)), make([]*answer, len(r.Cells))
	if answers[i] = a; r.restarts(w, next, answers) {
		return
	}
	p, is := a.page()
	if !is {
		a.send(w)
		return
	}
	maps.Copy(w.Header(), a.header)
	w.Header().Del("Content-Length")
	next[i] = p.Next
	write(w, http.StatusOK, page{Items: p.Items, Next: r.text(next)})
}

// restarts refuses a page as the cells do whose databases were restored, and reports whether there are any. Its restart_after has the
// cursors of the others as they are.
func (r *Router) restarts(w http.ResponseWriter, from cursors, answers []*answer) bool {
	var refused *answer
	var problem map[string]any
	after := slices.Clone(from)
	for i, a := range answers {
		var of map[string]any
		if a == nil || a.status != http.StatusGone || json.Unmarshal(a.body.Bytes(), &of) != nil {
			continue
		}
		if restart, is := of[restartAfter].(string); is {
			after[i], refused, problem = restart, a, of
		}
	}
	if refused == nil {
		return false
	}
	problem[restartAfter] = r.text(after)
	maps.Copy(w.Header(), refused.header)
	w.Header().Del("Content-Length")
	write(w, http.StatusGone, problem)
	return true
}

// restartAfter is the member of a problem with the cursor to go on from after a restore.
const restartAfter = "restart_after"

func nothing(answers []*answer) bool {
	return !slices.ContainsFunc(answers, func(a *answer) bool { p, _ := a.page(); return len(p.Items) > 0 })
}

// waits reports whether a reader waits for events, as API.md has it: by a parameter or by Prefer.
func waits(req *http.Request) bool {
	return req.URL.Query().Has("wait") || strings.Contains(req.Header.Get("Prefer"), "wait")
}

// reading is the request for a cell's part. A limit of 0 is the reader's own.
func reading(ctx context.Context, req *http.Request, after string, limit int, wait bool) *http.Request {
	other := req.Clone(ctx)
	query := other.URL.Query()
	query.Del("after")
	if after != "" {
		query.Set("after", after)
	}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if !wait {
		query.Del("wait")
		other.Header.Del("Prefer")
	}
	other.URL.RawQuery = query.Encode()
	return other
}

// first waits in all cells at once, until one has an event or the reader's time is over. A cell without a place responds with one,
// without a wait: an event after newest could not be read again.
func (r *Router) first(req *http.Request, from cursors) []*answer {
	ctx, stop := context.WithCancel(req.Context())
	defer stop()
	var mu sync.Mutex
	answers := make([]*answer, len(r.Cells))
	var waiting sync.WaitGroup
	for i, c := range r.Cells {
		waiting.Go(func() {
			a := ask(c.API, reading(ctx, req, from[i], 0, from[i] != newest))
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				answers[i] = a
			}
			if p, _ := a.page(); len(p.Items) > 0 {
				stop()
			}
		})
	}
	waiting.Wait()
	return answers
}

// merge takes the events of a page from all parts, by time. It returns them with the cursor of each cell, and a response that
// had a part, or nil. If the page takes only the beginning of a part, merge requests exactly these events from the cell again,
// since only the cell can make its cursor.
func (r *Router) merge(req *http.Request, from cursors, answers []*answer) (items []json.RawMessage, next cursors, first *answer) {
	parts := make([]page, len(answers))
	next = slices.Clone(from)
	for i, a := range answers {
		p, is := a.page()
		if !is {
			continue
		}
		parts[i] = p
		if first == nil {
			first = a
		}
	}
	taken := take(parts, limitOf(req))
	for i := range parts {
		switch {
		case taken[i] == len(parts[i].Items) && parts[i].Next != "":
			next[i] = parts[i].Next
		case taken[i] > 0:
			again, is := ask(r.Cells[i].API, reading(req.Context(), req, from[i], taken[i], false)).page()
			parts[i] = again
			if is {
				next[i] = again.Next
			}
		default:
			parts[i] = page{}
		}
	}
	return inOrder(parts), next, first
}

// usualEvents is how many events a page has that names no limit.
const usualEvents = 100

func limitOf(req *http.Request) int {
	if n, err := strconv.Atoi(req.URL.Query().Get("limit")); err == nil {
		return n
	}
	return usualEvents
}

// take returns how many of each part are in a page.
func take(parts []page, limit int) []int {
	taken := make([]int, len(parts))
	for range limit {
		i := earliest(parts, taken)
		if i < 0 {
			break
		}
		taken[i]++
	}
	return taken
}

// inOrder returns the items of all parts, sorted by time.
func inOrder(parts []page) []json.RawMessage {
	items := []json.RawMessage{}
	at := make([]int, len(parts))
	for i := earliest(parts, at); i >= 0; i = earliest(parts, at) {
		items = append(items, parts[i].Items[at[i]])
		at[i]++
	}
	return items
}

// earliest returns the part whose next item is the oldest, or -1 if all parts have ended.
func earliest(parts []page, at []int) int {
	found := -1
	for i := range parts {
		if at[i] < len(parts[i].Items) && (found < 0 || parts[i].at[at[i]].Before(parts[found].at[at[found]])) {
			found = i
		}
	}
	return found
}
