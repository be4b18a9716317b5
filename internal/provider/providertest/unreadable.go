package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
)

// listUnreadable asserts that an unreadable item hides no other item, on any page. After the other items, the list must
// return gateway.ErrUnreadable.
func listUnreadable[T any](t *testing.T, l *list[T]) {
	t.Helper()
	l.passed(t, l.span)
	spoilt := 0
	for page := range len(l.requests()) {
		item := l.spoils(page, l.spoil)
		var got []string
		err := l.read(t.Context(), l.span, func(one T) error {
			got = append(got, l.id(one))
			return nil
		})
		if *item == nil { // an empty page
			require.NoError(t, err)
			continue
		}
		spoilt++
		require.ErrorIs(t, err, gateway.ErrUnreadable, "request %d lists what can't be read in the place of %s", page+1, *item)
		others := slices.DeleteFunc(slices.Clone(l.want), func(one T) bool { return l.of(one, *item) })
		require.NotEmpty(t, others, "all that is listed may be of %s", *item)
		require.Subset(t, got, l.ids(others), "request %d lists what can't be read in the place of %s", page+1, *item)
	}
	require.NotZero(t, spoilt, "no page has items")
}

// spoils answers one request with a page whose first item is unreadable. The returned pointer holds the original item,
// nil if the page had no items.
func (l *line) spoils(page int, spoil func([]byte) (item, spoilt []byte)) *json.RawMessage {
	var seen atomic.Int64
	item := new(json.RawMessage)
	l.breaks(func(w http.ResponseWriter, r *http.Request, fake http.Handler) {
		if seen.Add(1) != int64(page)+1 {
			fake.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		fake.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		var spoilt []byte
		if *item, spoilt = spoil(body); *item != nil {
			body = bytes.Replace(body, *item, spoilt, 1)
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	})
	return item
}

// spoilJSON replaces the first item of a JSON page with a string.
func spoilJSON(page []byte) (item, spoilt []byte) { return firstItem(page, 2), []byte(`"?"`) }

// firstItem returns the first object of a list. The list is the page itself, a member of the page, or a member up to
// deep levels below. It skips the member "links".
func firstItem(page []byte, deep int) json.RawMessage {
	var bare []json.RawMessage
	if json.Unmarshal(page, &bare) == nil && len(bare) > 0 && bare[0][0] == '{' {
		return bare[0]
	}
	var members map[string]json.RawMessage
	if deep == 0 || json.Unmarshal(page, &members) != nil {
		return nil
	}
	delete(members, "links")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var items []json.RawMessage
		if json.Unmarshal(members[name], &items) == nil && len(items) > 0 && items[0][0] == '{' {
			return items[0]
		}
		if item := firstItem(members[name], deep-1); item != nil {
			return item
		}
	}
	return nil
}

// entryOf reports whether a value of the item is a name of the entry, of its payment or of its payout.
func entryOf(e gateway.Entry, item json.RawMessage) bool {
	names := []string{e.ID, e.Movement.ID, e.Payment, e.Payout}
	return slices.ContainsFunc(valuesOf(item), func(value string) bool { return value != "" && slices.Contains(names, value) })
}

// entryIn reports whether an item that is not JSON contains a name of the entry.
func entryIn(e gateway.Entry, item json.RawMessage) bool {
	names := []string{e.ID, e.Movement.ID, e.Payment, e.Payout}
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && bytes.Contains(item, []byte(name)) })
}

// valuesOf returns the strings and numbers of an item at any depth.
func valuesOf(item json.RawMessage) (all []string) {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	var value any
	switch d := json.NewDecoder(bytes.NewReader(item)); {
	case json.Unmarshal(item, &members) == nil:
		items = slices.Collect(maps.Values(members))
	case json.Unmarshal(item, &items) == nil:
	default:
		if d.UseNumber(); d.Decode(&value) == nil {
			all = append(all, fmt.Sprint(value))
		}
	}
	for _, one := range items {
		all = append(all, valuesOf(one)...)
	}
	return all
}
