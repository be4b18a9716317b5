package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// followed is a stream that is being read.
type followed struct {
	*http.Response
	lines *bufio.Scanner
	// version is the id of the last event.
	version string
}

// event is one status in a stream.
type event struct {
	attempt
	version string
}

// follow opens a stream after the event of a version; empty if there is none.
func (c client) follow(t *testing.T, id, last string, headers ...string) *followed {
	t.Helper()
	resp := c.open(t, "/v1/payment-attempts/"+id+"/stream", append([]string{"Last-Event-ID: " + last}, headers...)...)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return &followed{resp, bufio.NewScanner(resp.Body), last}
}

// open begins a request whose response may be a stream, and again while the service has no connection for it.
func (c client) open(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	for began := time.Now(); ; breathe(t.Context(), pause) {
		resp := c.openOnce(t, path, headers...)
		if resp.StatusCode != http.StatusServiceUnavailable || time.Since(began) > soon {
			return resp
		}
	}
}

func (c client) openOnce(t *testing.T, path string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+c.token)
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := plain.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// next returns the next status, false at the stream's end.
func (f *followed) next(t *testing.T) (event, bool) {
	t.Helper()
	for f.lines.Scan() {
		if id, ok := strings.CutPrefix(f.lines.Text(), "id: "); ok {
			f.version = id
		}
		if data, ok := strings.CutPrefix(f.lines.Text(), "data: "); ok {
			var e event
			require.NoError(t, json.Unmarshal([]byte(data), &e.attempt))
			require.Equal(t, f.version, strconv.Itoa(e.Version))
			e.version = f.version
			return e, true
		}
	}
	require.NoError(t, f.lines.Err())
	return event{}, false
}

// tells requires that the next status is of a version.
func (f *followed) tells(t *testing.T, version string) event {
	t.Helper()
	e, ok := f.next(t)
	require.True(t, ok, "the stream has ended")
	require.Equal(t, version, e.version)
	return e
}

func (f *followed) ends(t *testing.T) {
	t.Helper()
	e, ok := f.next(t)
	require.False(t, ok, "%+v", e)
}

// poll requests an attempt above a version, and requests it again after a wait without a change, as a client would.
func (c client) poll(ctx context.Context, id, version string) answer {
	for {
		a := c.send(ctx, http.MethodGet, "/v1/payment-attempts/"+id+"?wait=30", "", `If-None-Match: "`+version+`"`)
		if a.status != http.StatusNotModified {
			return a
		}
	}
}

// waits begins a poll.
func (c client) waits(ctx context.Context, id, version string) <-chan answer {
	out := make(chan answer, 1)
	go func() { out <- c.poll(ctx, id, version) }()
	return out
}

// metric reads a number that the service counts.
func (s *service) metric(t *testing.T, name string) int {
	t.Helper()
	text := string(client{base: s.base}.send(t.Context(), http.MethodGet, "/metrics", "").text)
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(text)
	require.NotNil(t, found, name)
	n, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return n
}

// waiting returns once so many wait at the service.
func (s *service) waiting(t *testing.T, n int) {
	t.Helper()
	eventually(t, strconv.Itoa(n)+" waiters", func() bool { return s.metric(t, "paylatch_waiters") == n })
}

// news sends a service a webhook about a payment at the account "partner".
func (s *service) news(t *testing.T, kind, charge, attempt string) {
	t.Helper()
	id := unique("evt")
	body := strings.Replace(chargeSucceeded(id, charge, attempt), "charge.succeeded", "charge."+kind, 1)
	a := again(t.Context(), false, func() answer {
		return s.deliverOnce(t.Context(), "partner", partner(t), body, "Webhook-Id: "+id)
	})
	a.is(t, http.StatusOK)
	require.Contains(t, []string{"applied", "duplicate"}, a.header.Get("Webhook-Result"))
}

// pending is an attempt that news of the partner can move.
func (r *rig) pending(t *testing.T) (id, charge string) {
	t.Helper()
	charge = unique("ch")
	return r.pendingAt(t, "partner", charge), charge
}

// listening counts the connections on which processes listen for changes.
func (r *rig) listening(t *testing.T) int {
	t.Helper()
	return one[int](t, r, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'paylatch listen'`)
}
