package e2e_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
)

// deliveries is a shop that delivers paid orders by the feed, by the rules of the manual: it processes each id once, and only a
// higher version of a subject.
type deliveries struct {
	feed     *goclient.Client
	cursor   string
	ids      map[string]bool
	versions map[string]int
	// of counts the deliveries of each order.
	of map[string]int
}

// read processes events until each order is delivered.
func (d *deliveries) read(t *testing.T, orders []string) {
	t.Helper()
	eventually(t, "the deliveries", func() bool {
		for e, err := range d.feed.Events(t.Context(), d.cursor, goclient.Feed{Wait: -1}) {
			if err != nil {
				return false
			}
			d.cursor = e.Cursor
			if d.ids[e.ID] || e.Version <= d.versions[e.Subject] {
				continue
			}
			d.ids[e.ID], d.versions[e.Subject] = true, e.Version
			if e.Type == "order.paid" {
				d.of[e.Subject]++
			}
		}
		return !slices.ContainsFunc(orders, func(order string) bool { return d.of[order] == 0 })
	})
}

// TestReadersOfTheFeedAreCounted makes a worker read the two events of a payment, one by one. The worker has acted on the events
// before the cursor of its next request.
func TestReadersOfTheFeedAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	worker := client{base: s.base, token: token(strings.Repeat("stock", 20), "service")}
	behind := func() string {
		found := regexp.MustCompile(`(?m)^paylatch_feed_reader_behind_events\{reader="(?:stock){11}~[0-9a-f]{8}"\} (.*)$`).
			FindSubmatch(client{base: s.base}.send(t.Context(), http.MethodGet, "/metrics", "").text)
		if found == nil {
			return "none"
		}
		return string(found[1])
	}
	read := func(after string) (next string) {
		got := worker.send(t.Context(), http.MethodGet, "/v1/events?limit=1&wait=20&after="+after, "")
		got.is(t, http.StatusOK)
		var page struct {
			Next string `json:"next_cursor"`
		}
		require.NoError(t, json.Unmarshal(got.text, &page))
		return page.Next
	}
	require.Equal(t, "none", behind())
	shop := s.customer()
	shop.pay(t.Context(), shop.order(t), "key-first", "tok_success").is(t, http.StatusCreated)
	eventually(t, "both events have positions", func() bool { return one[int](t, r, "SELECT last FROM outbox_head") == 2 })
	first := read("")
	eventually(t, "the head is read", func() bool { return behind() == "2" })
	second := read(first)
	require.Equal(t, "1", behind())
	worker.send(t.Context(), http.MethodGet, "/v1/events?after="+second, "").is(t, http.StatusOK)
	require.Equal(t, "0", behind())
	worker.send(t.Context(), http.MethodGet, "/v1/events?after=99", "").is(t, http.StatusUnprocessableEntity)
	shop.pay(t.Context(), shop.order(t), "key-second", "tok_success").is(t, http.StatusCreated)
	eventually(t, "others happen", func() bool { return behind() == "2" })
	require.Regexp(t, `(?m)^paylatch_feed_reader_seconds_since_read\{reader="(?:stock){11}~[0-9a-f]{8}"\} [0-9.e-]+$`,
		string(client{base: s.base}.send(t.Context(), http.MethodGet, "/metrics", "").text))
}
