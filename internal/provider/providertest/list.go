package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

// list is one test of a list that an adapter reads by spans.
type list[T any] struct {
	*line

	base    string
	client  *http.Client
	span    gateway.Span
	want    []T
	onePage bool
	bare    bool

	read func(context.Context, gateway.Span, func(T) error) error
	id   func(T) string
	at   func(T) time.Time
	// of reports whether the adapter may have made this value from that item of the provider's list.
	of func(one T, item json.RawMessage) bool
	// spoil returns the first item of a page and its unreadable replacement. The first item is nil if the page has no
	// items.
	spoil func(page []byte) (item, spoilt []byte)
}

func newList[T any](t *testing.T, fake http.Handler, aside func(Request) bool, span gateway.Span, want []T) *list[T] {
	t.Helper()
	l := newLine(t, fake, aside)
	server := httptest.NewServer(l)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
	})
	require.NotEmpty(t, want, "the fake lists nothing")
	return &list[T]{line: l, base: server.URL, client: client, span: span, want: want, spoil: spoilJSON}
}

// runList runs the tests of a list that is read by spans. Each test has its own fake.
func runList[T any](t *testing.T, start func(t *testing.T) *list[T]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *list[T]){
		"all": listAll[T], "edges": listEdges[T], "elsewhen": listElsewhen[T], "stop": listStop[T], "cancelled": listCancelled[T],
		"broken page": listBroken[T], "unreadable item": listUnreadable[T],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// passed returns the items that the adapter passes for a span.
func (l *list[T]) passed(t *testing.T, span gateway.Span) (all []T) {
	t.Helper()
	require.NoError(t, l.read(t.Context(), span, func(one T) error {
		all = append(all, one)
		return nil
	}))
	return all
}

func (l *list[T]) ids(items []T) []string {
	ids := make([]string, len(items))
	for i, one := range items {
		ids[i] = l.id(one)
	}
	return ids
}

// listAll asserts that the adapter passes each item of the whole span once, over all pages.
func listAll[T any](t *testing.T, l *list[T]) {
	t.Helper()
	got := l.passed(t, l.span)
	require.ElementsMatch(t, l.ids(l.want), l.ids(got))
	for _, want := range l.want {
		i := slices.IndexFunc(got, func(one T) bool { return l.id(one) == l.id(want) })
		require.Equal(t, want, got[i])
	}
	if !l.onePage {
		require.Greater(t, len(l.requests()), 1, "the fixture has one page: what follows pages is not tested")
	}
}

// listEdges asserts that a span contains an item at its beginning, even if the span is very short. If one span ends
// where the next begins, the two together contain all items.
func listEdges[T any](t *testing.T, l *list[T]) {
	t.Helper()
	for _, one := range l.want {
		at := l.at(one)
		require.False(t, at.IsZero(), l.id(one))
		require.True(t, l.span.Has(at), "%s is not in the fixture's span", l.id(one))
		require.Contains(t, l.ids(l.passed(t, gateway.Span{From: at, To: at.Add(1)})), l.id(one), "it begins the span")
		both := l.passed(t, gateway.Span{From: at, To: l.span.To})
		if l.span.From.Before(at) {
			both = append(both, l.passed(t, gateway.Span{From: l.span.From, To: at})...)
		}
		require.Subset(t, l.ids(both), l.ids(l.want))
	}
}

// listElsewhen asserts that a span of another time is empty, which shows that the span's edges reach the provider.
func listElsewhen[T any](t *testing.T, l *list[T]) {
	t.Helper()
	from := l.span.From.AddDate(0, 0, -20)
	require.Empty(t, l.ids(l.passed(t, gateway.Span{From: from, To: from.Add(24 * time.Hour)})))
}

// listStop asserts that an error of take ends the list and is returned.
func listStop[T any](t *testing.T, l *list[T]) {
	t.Helper()
	l.passed(t, l.span)
	whole := len(l.requests())
	enough, calls := errors.New("enough"), 0
	err := l.read(t.Context(), l.span, func(T) error {
		calls++
		return enough
	})
	require.ErrorIs(t, err, enough)
	require.Equal(t, 1, calls)
	if !l.onePage {
		require.Less(t, len(l.requests())-whole, whole, "pages are read after the end")
	}
}

func listCancelled[T any](t *testing.T, l *list[T]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.read(ctx, l.span, func(T) error { return nil }), context.Canceled)
}

// listBroken asserts that an unreadable page is an error and never the end of the list. It breaks the first page, then
// the last.
func listBroken[T any](t *testing.T, l *list[T]) {
	t.Helper()
	l.passed(t, l.span)
	whole := len(l.requests())
	for _, broken := range []struct {
		status int
		body   string
	}{
		{429, "{}"},
		{500, ""},
		{503, `{"error":{"code":"x","type":"api_error","message":"x"}}`},
		{404, "404 page not found"},
		{401, "{}"},
		{302, ""},
		{204, ""},
		{200, ""},
		{200, "{}"},
		{200, "null"},
		{200, "[]"},
		{200, "<html>It works!</html>"},
		{200, `{"data":[{"id":"x_1"`},
		{200, `{"data":null,"items":null,"has_more":false}`},
	} {
		if l.bare && broken.body == "[]" {
			continue
		}
		for _, good := range []int{0, whole - 1} {
			l.breaksAfter(good, broken.status, broken.body)
			err := l.read(t.Context(), l.span, func(T) error { return nil })
			require.Error(t, err, "request %d of %d is answered %d %s", good+1, whole, broken.status, broken.body)
			require.NotErrorIs(t, err, gateway.ErrUnreadable, "request %d of %d is answered %d %s", good+1, whole, broken.status, broken.body)
		}
	}
}

// breaksAfter lets this number of requests through and gives the others this answer.
func (l *line) breaksAfter(good, status int, body string) {
	var seen atomic.Int64
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		if seen.Add(1) <= int64(good) {
			fake.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	})
}
