package cells_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/setup/cells"
)

type event struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
}

// feed is the feed of a cell. It serves the events behind the cursor, and waits for new events. The first requests fail.
type feed struct {
	mu     sync.Mutex
	events []event
	down   bool
	fails  int
	came   chan struct{}
}

// begin returns the place of a cursor; the place of now is the end.
func (f *feed) begin(cursor string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cursor == "now" {
		return len(f.events)
	}
	after, _ := strconv.Atoi(cursor)
	return after
}

// add appends an event, and wakes a reader that waits.
func (f *feed) add(id string, wakes bool) {
	f.mu.Lock()
	f.events = append(f.events, event{id, time.Now()})
	f.mu.Unlock()
	if wakes {
		f.came <- struct{}{}
	}
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	after := f.begin(query.Get("after"))
	limit, err := strconv.Atoi(query.Get("limit"))
	if query.Has("limit") && (err != nil || limit < 1) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	if limit == 0 {
		limit = 100
	}
	f.mu.Lock()
	failed := f.fails > 0
	f.fails--
	f.mu.Unlock()
	if query.Has("wait") && !failed {
		select {
		case <-f.came:
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down || failed {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	found := f.events[min(after, len(f.events)):]
	found = found[:min(limit, len(found))]
	_ = json.NewEncoder(w).Encode(cellsPage{found, strconv.Itoa(after + len(found))}) //nolint:errchkjson // times of this century
}

func feeds(n int) ([]*feed, *cells.Router) {
	all := make([]*feed, n)
	var of []cells.Cell
	for i := range all {
		all[i] = &feed{events: []event{}, came: make(chan struct{}, 1)}
		of = append(of, cells.Cell{Number: []payment.Cell{0, 1, 7}[i], API: all[i]})
	}
	return all, router(cells.Options{Cells: of})
}

type cellsPage struct {
	Items []event `json:"items"`
	Next  string  `json:"next_cursor"`
}

func readFeed(t require.TestingT, h http.Handler, query string) cellsPage {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/events?"+query, nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var p cellsPage
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	return p
}

// A reader gets each event once, and the events of a cell in its order, even if events come meanwhile and a cell is away for a
// while.
func TestTheFeedLosesNoEvent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all, r := feeds(rapid.IntRange(1, 3).Draw(t, "cells"))
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		made, cursor := 0, ""
		read := map[int][]string{}
		take := func(limit int) int {
			p := readFeed(t, r, fmt.Sprintf("after=%s&limit=%d", cursor, limit))
			require.LessOrEqual(t, len(p.Items), limit)
			for _, e := range p.Items {
				of := int(e.ID[0] - '0')
				read[of] = append(read[of], e.ID)
			}
			cursor = p.Next
			return len(p.Items)
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			of := rapid.IntRange(0, len(all)-1).Draw(t, "of")
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				made++
				now = now.Add(time.Duration(rapid.IntRange(-2, 5).Draw(t, "later")) * time.Second)
				all[of].events = append(all[of].events, event{fmt.Sprintf("%d-%d", of, made), now})
			case 2:
				if all[of].down = !all[of].down; !slices.ContainsFunc(all, func(f *feed) bool { return !f.down }) {
					all[of].down = false
				}
			case 3:
				take(rapid.IntRange(1, 5).Draw(t, "limit"))
			}
		}
		for _, f := range all {
			f.down = false
		}
		for take(3) > 0 {
		}
		for i, f := range all {
			var ids []string
			for _, e := range f.events {
				ids = append(ids, e.ID)
			}
			require.Equal(t, ids, read[i])
		}
	})
}

func TestTheFeedIsMergedByTime(t *testing.T) {
	t.Parallel()
	all, r := feeds(2)
	at := func(s int) time.Time { return time.Date(2026, 3, 1, 0, 0, s, 0, time.UTC) }
	all[0].events = []event{{"a", at(1)}, {"c", at(3)}, {"e", at(5)}}
	all[1].events = []event{{"b", at(2)}, {"d", at(4)}}
	p := readFeed(t, r, "limit=3")
	require.Equal(t, []event{{"a", at(1)}, {"b", at(2)}, {"c", at(3)}}, p.Items)
	require.Equal(t, "0:2.1:1", p.Next)
	p = readFeed(t, r, "after="+p.Next)
	require.Equal(t, []event{{"d", at(4)}, {"e", at(5)}}, p.Items)
	require.Equal(t, p.Next, readFeed(t, r, "after="+p.Next).Next, "nothing new: the same cursor")
	require.Len(t, readFeed(t, r, "after=2").Items, 3, "a cursor of the time when there was one cell")
}

func TestTheFeedRefuses(t *testing.T) {
	t.Parallel()
	all, r := feeds(2)
	for _, query := range []string{"after=0:1.2:1", "after=0:x", "after=0:1.1", "after=:", "after=0:-1", "limit=0", "limit=x"} {
		require.Equal(t, http.StatusUnprocessableEntity, getAs(r, "/v1/events?"+query).Code, query)
	}
	all[0].down, all[1].down = true, true
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/events", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
}

// A reader that waits is woken by whichever cell has something.
func TestTheFeedWaitsInAllCells(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all, r := feeds(2)
		began := time.Now()
		time.AfterFunc(3*time.Second, func() { all[1].add("b", true) })
		p := readFeed(t, r, "wait=20")
		require.Len(t, p.Items, 1)
		require.Equal(t, "1:1", p.Next)
		require.Equal(t, 3*time.Second, time.Since(began))
		p = readFeed(t, r, "wait=20&after="+p.Next)
		require.Empty(t, p.Items)
		require.Equal(t, 23*time.Second, time.Since(began))
	})
}

// TestWaitFromNowLosesNoEvent: a reader that begins now and waits gets the place of each cell at the beginning of the wait, so it also
// reads the events of the cells that did not wake it. A cell that fails once has its place from its next response.
func TestWaitFromNowLosesNoEvent(t *testing.T) {
	t.Parallel()
	for fails := range 2 {
		synctest.Test(t, func(t *testing.T) {
			all, r := feeds(3)
			for i, f := range all {
				for range i + 1 {
					f.add("old", false)
				}
			}
			all[0].fails = fails
			time.AfterFunc(3*time.Second, func() {
				all[0].add("a1", false)
				all[0].add("a2", false)
				all[1].add("b", true)
			})
			p := readFeed(t, r, "after=now&wait=20&limit=1")
			require.Equal(t, "0:1.1:3.7:3", p.Next)
			var seen []string
			for n := 1; n > 0; n = len(p.Items) {
				for _, e := range p.Items {
					seen = append(seen, e.ID)
				}
				p = readFeed(t, r, "limit=1&after="+p.Next)
			}
			require.ElementsMatch(t, []string{"b", "a1", "a2"}, seen)
		})
	}
}

// pageOf returns the events of a page of the feed, and its cursor.
func pageOf(t *testing.T, r *cells.Router, query string) (ids []string, next string) {
	t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/events?"+query, nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var p cellsPage
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	var of struct {
		Next string `json:"next_cursor"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &of))
	for _, e := range p.Items {
		ids = append(ids, e.ID)
	}
	return ids, of.Next
}

// TestFeedOfOneCell reads the events of one cell by ?cell=, and goes on in all cells.
func TestFeedOfOneCell(t *testing.T) {
	t.Parallel()
	all, r := feeds(3)
	for i, f := range all {
		for j := range 2 {
			f.events = append(f.events, event{ID: fmt.Sprint(i, "-", j), CreatedAt: time.Unix(int64(10*j+i), 0)})
		}
	}
	ids, next := pageOf(t, r, "cell=7&limit=1")
	require.Equal(t, []string{"2-0"}, ids)
	require.Equal(t, "7:1", next)
	ids, next = pageOf(t, r, "cell=7&after="+next)
	require.Equal(t, []string{"2-1"}, ids)
	ids, _ = pageOf(t, r, "after="+next)
	require.Equal(t, []string{"0-0", "1-0", "0-1", "1-1"}, ids)
	w := getAs(r, "/v1/events?cell=2")
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, w.Body.String(), "must be the number of a cell: 0, 1, 7")
}

// TestFeedFromNow begins behind the newest event of each cell.
func TestFeedFromNow(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	var of []cells.Cell
	for _, n := range []payment.Cell{0, 1} {
		of = append(of, cells.Cell{Number: n, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, r.URL.Query().Get("after"))
			mu.Unlock()
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte(`{"items":[],"next_cursor":"5"}`))
		})})
	}
	_, next := pageOf(t, router(cells.Options{Cells: of}), "after=now")
	require.Equal(t, []string{"now", "now"}, asked)
	require.Equal(t, "0:5.1:now", next)
	_, next = pageOf(t, router(cells.Options{Cells: of}), "after="+next)
	require.Equal(t, "0:5.1:now", next)
}

// TestFeedRestarts has the database of one cell restored: the refusal has a cursor of all cells, with the others as they are.
func TestFeedRestarts(t *testing.T) {
	t.Parallel()
	var of []cells.Cell
	for _, n := range []payment.Cell{0, 1} {
		of = append(of, cells.Cell{Number: n, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n == 1 && r.URL.Query().Get("after") == "9" {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusGone)
				_, _ = w.Write([]byte(`{"status":410,"code":"cursor-expired","restart_after":"e1-4"}`))
				return
			}
			_, _ = w.Write([]byte(`{"items":[],"next_cursor":"5"}`))
		})})
	}
	r := router(cells.Options{Cells: of})
	for query, want := range map[string]string{"after=0:5.1:9": "0:5.1:e1-4", "cell=1&after=1:9": "1:e1-4"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/events?"+query, nil))
		require.Equal(t, http.StatusGone, w.Code, query)
		require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
		require.JSONEq(t, `{"status":410,"code":"cursor-expired","restart_after":"`+want+`"}`, w.Body.String())
		_, next := pageOf(t, r, "after="+want)
		require.Contains(t, next, "1:5")
	}
}

// TestCursorsFit compares the longest cursor of 64 cells with the limit in the contract.
func TestCursorsFit(t *testing.T) {
	t.Parallel()
	var of []cells.Cell
	for i := range payment.Cell(64) {
		n := i
		if n > 0 {
			n += 1<<payment.CellBits - 64
		}
		of = append(of, cells.Cell{Number: n, API: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"items":[],"next_cursor":"zzzzzz-9007199254740991"}`))
		})})
	}
	_, next := pageOf(t, router(cells.Options{Cells: of}), "limit=1")
	contract, err := os.ReadFile("../../../api/openapi.yaml")
	require.NoError(t, err)
	limit := regexp.MustCompile(`(?s)- name: after\n.*?maxLength: (\d+)`).FindSubmatch(contract)
	most, err := strconv.Atoi(string(limit[1]))
	require.NoError(t, err)
	require.LessOrEqual(t, len(next), most)
	require.Greater(t, len(next), 1500)
}
