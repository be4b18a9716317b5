package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestPoll_ends_with_the_change(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	byQuery, byHeader := w.ask("?wait=60", `If-None-Match: "2"`), w.ask("", `If-None-Match: "1", W/"2"`, `Prefer: respond-async, Wait="99"; x=1`)
	w.wait(2)
	w.move(succeeded())
	first, second := <-byQuery, <-byHeader
	for _, got := range []answer{first, second} {
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Equal(t, `"3"`, got.Header.Get("ETag"))
		require.Empty(t, got.Header.Get("Retry-After"), "there is nothing more to come")
		require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
		require.Equal(t, "application/json", got.Header.Get("Content-Type"))
		require.NotEmpty(t, got.Header.Get("Date"))
	}
	require.Equal(t, first.text, second.text)
	require.Empty(t, first.Header.Get("Preference-Applied"))
	require.Equal(t, "wait=60", second.Header.Get("Preference-Applied"))
	w.payments.shows(succeeded())
	require.Equal(t, first.text, w.send(http.MethodGet, path, "").text, "as without a wait")
	w.logs(`"route":"/v1/payment-attempts/:payment_attempt_id","status":200`, 3)
	require.Contains(t, w.log.String(), `"attempt_id":"`+attemptID.String()+`"`)
}

func TestPoll_ends_with_its_time(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	began := time.Now()
	got := <-w.ask("?wait=1", `If-None-Match: "2"`)
	require.Equal(t, http.StatusNotModified, got.StatusCode)
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, `"2"`, got.Header.Get("ETag"))
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Empty(t, got.text)
	got = <-w.ask("", `If-None-Match: "2"`, "Prefer: wait=1", "Prefer: wait=50")
	require.Equal(t, http.StatusNotModified, got.StatusCode)
	require.Equal(t, "wait=1", got.Header.Get("Preference-Applied"), "the first counts")
	w.wait(0)
}

func TestPoll_waits_past_a_version_that_the_caller_has(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	waits := w.ask("?wait=60", `If-None-Match: "2", "3"`)
	w.wait(1)
	a := pending()
	a.Version = 3
	w.move(a)
	require.Eventually(t, func() bool { return w.hub.Stats().Wakes == 1 }, soon, time.Millisecond)
	end := succeeded()
	end.Version = 4
	w.move(end)
	require.Equal(t, `"4"`, (<-waits).Header.Get("ETag"))
}

func TestPoll_at_once(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	for name, c := range map[string]struct {
		query, header, prefer string
		status                int
	}{
		"another version":       {"?wait=60", `If-None-Match: "1"`, "-", 200},
		"no version":            {"?wait=60", "If-None-Match: -", "-", 200},
		"no seconds":            {"?wait=0", `If-None-Match: "2"`, "-", 304},
		"no wait":               {"", `If-None-Match: "2"`, "-", 304},
		"other preferences":     {"", `If-None-Match: "2"`, "respond-async, return=minimal", 304},
		"a preference in words": {"", `If-None-Match: "2"`, "wait=long", 304},
		"the query goes first":  {"?wait=0", `If-None-Match: "2"`, "wait=60", 304},
	} {
		got := w.send(http.MethodGet, path+c.query, "", c.header, "Prefer: "+c.prefer)
		require.Equal(t, c.status, got.StatusCode, name)
		require.Empty(t, got.Header.Get("Preference-Applied"), name)
	}
	asked := time.Now()
	w.send(http.MethodHead, path+"?wait=60", "", `If-None-Match: "2"`)
	require.Less(t, time.Since(asked), time.Minute, "a HEAD")
	w.payments.shows(succeeded())
	require.Equal(t, 304, w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "3"`).StatusCode, "it is final")
	w.payments.err = payment.ErrForbidden
	w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "3"`).is(t, 403, "forbidden")
	w.wait(0)
}

func TestPoll_invalid_wait(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	for _, query := range []string{"?wait=", "?wait=soon", "?wait=-1", "?wait=1.5", "?wait=%2B1", "?wait=1s"} {
		p := w.send(http.MethodGet, path+query, "", `If-None-Match: "2"`).is(t, 422, "validation-failed")
		require.Equal(t, "wait", p.Errors[0].Field, query)
	}
	require.Zero(t, w.payments.calls)
	long := w.ask("?wait=99999999999999999999", `If-None-Match: "2"`)
	w.wait(1)
	w.move(succeeded())
	require.Equal(t, 200, (<-long).StatusCode, "a value above 60 counts as 60")
}

func TestPoll_limit(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 1)
	first := w.ask("?wait=60", `If-None-Match: "2"`)
	w.wait(1)
	got := w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "2"`, "Prefer: wait=1")
	got.is(t, 503, "overloaded")
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.Empty(t, got.Header.Get("ETag"))
	w.send(http.MethodGet, path+"/stream", "").is(t, 503, "overloaded")
	require.Equal(t, 200, w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "1"`).StatusCode, "who has not to wait is answered")
	require.Equal(t, 304, w.send(http.MethodGet, path, "", `If-None-Match: "2"`).StatusCode)
	w.payments.shows(succeeded())
	require.Equal(t, 304, w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "3"`).StatusCode, "what is final needs no place")
	w.move(succeeded())
	require.Equal(t, 200, (<-first).StatusCode)
	w.wait(0)
}

func TestPoll_peer_closes(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	ctx, hangUp := context.WithCancel(t.Context())
	for _, at := range []string{path + "?wait=60", path + "/stream"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+at, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer u1")
		r.Header.Set("If-None-Match", `"2"`)
		go func() {
			if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
				<-ctx.Done()
				_ = resp.Body.Close()
			}
		}()
	}
	w.wait(2)
	hangUp()
	w.wait(0)
	w.logs(`"status":499`, 1)
}

func TestPoll_end_of_the_hub(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0)
	poll, s := w.ask("?wait=60", `If-None-Match: "2"`), w.follow()
	w.wait(2)
	s.begins()
	require.Contains(t, s.event(), "id: 2\n")
	w.end()
	require.Equal(t, 304, (<-poll).StatusCode)
	s.ends()
	w.logs(`"message":"request"`, 2)
	require.Equal(t, 304, w.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "2"`).StatusCode, "nobody waits any more")
	s = w.follow()
	s.begins()
	require.Contains(t, s.event(), "id: 2\n")
	s.ends()
}

func TestPoll_without_a_hub(t *testing.T) {
	t.Parallel()
	w := newWaiting(t, 0, func(o *api.Options) { o.Hub = nil })
	b := newBench(t)
	b.payments.view = w.view
	require.Equal(t, 304, b.send(http.MethodGet, path+"?wait=60", "", `If-None-Match: "2"`).StatusCode)
	w.bench = b
	s := w.follow()
	s.begins()
	require.Contains(t, s.event(), "id: 2\n")
	s.ends()
}
