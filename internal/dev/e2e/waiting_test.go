package e2e_test

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestAPageFollowsItsPayment with nothing but the token that the pay gave it.
func TestAPageFollowsItsPayment(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_CORS_ORIGINS=[https://shop.example]")
	c := s.customer()
	a := c.pay(t.Context(), c.order(t), unique("pay"), "tok_redirect").attempt(t, http.StatusCreated)
	page := s.as(a.StatusToken)
	f := page.follow(t, a.ID, "", "Origin: https://shop.example")
	require.Equal(t, "https://shop.example", f.Header.Get("Access-Control-Allow-Origin"))
	first, ok := f.next(t)
	require.True(t, ok)
	require.Equal(t, "pending", first.Status)
	polled := page.waits(t.Context(), a.ID, first.version)
	s.waiting(t, 2)
	resp, err := http.PostForm(a.NextAction.URL, map[string][]string{"decision": {"approve"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	last := first
	for e, ok := f.next(t); ok; e, ok = f.next(t) {
		require.Greater(t, e.Version, last.Version)
		last = e
	}
	require.Equal(t, "succeeded", last.Status)
	for a := (<-polled).attempt(t, http.StatusOK); a.Version < last.Version; {
		a = page.poll(t.Context(), a.ID, first.version).attempt(t, http.StatusOK)
	}
	again := page.open(t, "/v1/payment-attempts/"+a.ID+"/stream", "Last-Event-ID: "+last.version)
	require.Equal(t, http.StatusNoContent, again.StatusCode)
	page.send(t.Context(), http.MethodGet, "/v1/orders/"+a.OrderID, "").problem(t, http.StatusForbidden, "forbidden")
	s.waiting(t, 0)
}

// TestAChangeWakesOtherReplicas: a change by one process wakes the waiters at another.
func TestAChangeWakesOtherReplicas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	here, there := r.serve(), r.serve()
	for _, s := range []*service{here, there} {
		eventually(t, "the listening", func() bool { return s.metric(t, "paylatch_listening") == 1 })
	}
	id, charge := r.pending(t)
	f := here.customer().follow(t, id, "")
	f.tells(t, "1")
	polled := here.customer().waits(t.Context(), id, "1")
	here.waiting(t, 2)
	there.news(t, "authorized", charge, id)
	require.Equal(t, "authorized", f.tells(t, "2").Stage)
	require.Equal(t, "authorized", (<-polled).attempt(t, http.StatusOK).Stage)
	there.news(t, "succeeded", charge, id)
	require.Equal(t, "succeeded", f.tells(t, "3").Status)
	f.ends(t)
	require.Equal(t, 2, here.metric(t, "paylatch_notices_heard_total"), "told, not found by looking")
	require.Equal(t, 2, r.listening(t), "one connection for each process")
}

// TestTheListenerIsKilled: waiters get a change that happens without a listener, and the connection comes back.
func TestTheListenerIsKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	here, there := r.serve(), r.serve()
	bothListen := func() bool { return r.listening(t) == 2 }
	for _, kind := range []string{"at once", "when it is back"} {
		id, charge := r.pending(t)
		f := here.customer().follow(t, id, "")
		f.tells(t, "1")
		here.waiting(t, 1)
		eventually(t, "the connections", bothListen)
		require.Equal(t, 2, one[int](t, r, `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 200000)) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'paylatch listen'`))
		if kind == "when it is back" {
			here.says(t, "notices of changes don't arrive; until they do, waiters check for changes each second")
			eventually(t, "the connections", bothListen)
			eventually(t, "the listening", func() bool { return here.metric(t, "paylatch_listening") == 1 })
		}
		there.news(t, "succeeded", charge, id)
		require.Equal(t, "succeeded", f.tells(t, "2").Status, kind)
		f.ends(t)
	}
}

// TestPostgresRestartsUnderWaiters: they notice nothing of it.
func TestPostgresRestartsUnderWaiters(t *testing.T) {
	t.Parallel()
	pg := testdb.Private(t)
	r := newRigOn(t, pg.DSN("postgres"))
	here, there := r.serve(), r.serve()
	id, charge := r.pending(t)
	f := here.customer().follow(t, id, "")
	f.tells(t, "1")
	polled := here.customer().waits(t.Context(), id, "1")
	here.waiting(t, 2)
	crash(t, pg)
	here.says(t, "notices of changes don't arrive; until they do, waiters check for changes each second")
	revive(t, pg)
	r.db.Reset()
	there.news(t, "succeeded", charge, id)
	require.Equal(t, "succeeded", f.tells(t, "2").Status)
	f.ends(t)
	require.Equal(t, "succeeded", (<-polled).attempt(t, http.StatusOK).Status)
}

// TestAStoppedServiceSendsItsWaitersElsewhere: they are answered, come back to
// another replica, and miss nothing that happened in between.
func TestAStoppedServiceSendsItsWaitersElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	here, there := r.serve(), r.serve()
	id, charge := r.pending(t)
	var streams []*followed
	for range 20 {
		f := here.customer().follow(t, id, "")
		f.tells(t, "1")
		streams = append(streams, f)
	}
	polls := make(chan answer, 20)
	var stopping atomic.Bool
	for range cap(polls) {
		go func() {
			poll := func() answer {
				return here.customer().send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+id+"?wait=60", "", `If-None-Match: "1"`)
			}
			a := poll()
			for a.status == http.StatusNotModified && !stopping.Load() { // it has ended by itself
				if next := poll(); next.err == nil {
					a = next
				}
			}
			polls <- a
		}()
	}
	here.waiting(t, 40)
	stopping.Store(true)
	code, took := here.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	require.Less(t, took, stopLimit)
	for range cap(polls) {
		a := <-polls
		a.is(t, http.StatusNotModified)
		require.Equal(t, `"1"`, a.header.Get("ETag"))
	}
	there.news(t, "authorized", charge, id)
	polled := there.customer().poll(t.Context(), id, "1").attempt(t, http.StatusOK)
	require.Equal(t, 2, polled.Version)
	for i, f := range streams {
		f.ends(t)
		require.Equal(t, "1", f.version)
		streams[i] = there.customer().follow(t, id, f.version)
		require.Equal(t, "authorized", streams[i].tells(t, "2").Stage, "what was missed comes at once")
	}
	there.news(t, "succeeded", charge, id)
	for _, f := range streams {
		require.Equal(t, "succeeded", f.tells(t, "3").Status)
		f.ends(t)
	}
}

// TestAReaderThatDoesNotRead delays neither the other readers nor the stop.
func TestAReaderThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve()
	id, charge := r.pending(t)
	for n := range 50 {
		eventually(t, "a reader that does not read", func() bool {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(1))
			_, err = conn.Write([]byte("GET /v1/payment-attempts/" + id + "/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token("shop", "service") + "\r\n\r\n"))
			require.NoError(t, err)
			for began := time.Now(); time.Since(began) < soon/10; breathe(t.Context(), 10*time.Millisecond) {
				if s.metric(t, "paylatch_waiters") == n+1 {
					return true
				}
			}
			_ = conn.Close() // the service may have had no connection for it
			return false
		})
	}
	f := s.customer().follow(t, id, "")
	f.tells(t, "1")
	s.waiting(t, 51)
	s.news(t, "authorized", charge, id)
	f.tells(t, "2")
	code, took := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	require.Less(t, took, stopLimit)
	f.ends(t)
}

// TestTheLimitOfWaiters: a waiter above the limit gets a 503 with Retry-After, and all other requests go on.
func TestTheLimitOfWaiters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_MAX_WAITERS=3")
	c := s.bluntly(token("u1", "customer"))
	id, charge := r.pending(t)
	var streams []*followed
	for range 3 {
		streams = append(streams, c.follow(t, id, ""))
	}
	s.waiting(t, 3)
	send := func(path string) answer {
		return served(t.Context(), func() answer {
			return c.send(t.Context(), http.MethodGet, "/v1/payment-attempts/"+id+path, "", `If-None-Match: "1"`)
		})
	}
	for _, path := range []string{"?wait=30", "/stream"} {
		a := send(path)
		a.problem(t, http.StatusServiceUnavailable, "overloaded")
		require.Equal(t, "1", a.header.Get("Retry-After"))
	}
	require.Equal(t, 2, s.metric(t, "paylatch_waiters_refused_total"))
	send("").is(t, http.StatusNotModified)
	u := s.customer()
	require.Equal(t, "succeeded", u.pay(t.Context(), u.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated).Status)
	require.NoError(t, streams[0].Body.Close())
	s.waiting(t, 2)
	f := c.follow(t, id, "")
	f.tells(t, "1")
	s.news(t, "succeeded", charge, id)
	f.tells(t, "2")
	f.ends(t)
}
