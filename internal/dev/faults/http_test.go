package faults_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit bounds the wait for events that must happen.
const limit = 5 * time.Minute

// provider responds 201 with the request's body, and counts.
func provider(t *testing.T) (address string, done *atomic.Int64) {
	t.Helper()
	done = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Query", r.URL.RawQuery)
		w.Header().Set("X-Key", r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
		done.Add(1)
	}))
	t.Cleanup(s.Close)
	return s.URL, done
}

type response struct {
	status int
	header http.Header
	body   string
}

func send(ctx context.Context, method, url string) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, url+"/v1/charges?a=b", strings.NewReader("0123456789"))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Idempotency-Key", "k")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, string(body)}, err
}

func TestARequestPasses(t *testing.T) {
	t.Parallel()
	to, done := provider(t)
	p := faults.NewHTTP(t, to)
	got, err := send(t.Context(), http.MethodPost, p.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, got.status)
	require.Equal(t, "0123456789", got.body)
	require.Equal(t, "a=b", got.header.Get("X-Query"))
	require.Equal(t, "k", got.header.Get("X-Key"))
	require.EqualValues(t, 1, done.Load())
	require.EqualValues(t, 1, p.Count("POST /v1/charges"))
	require.Zero(t, p.Count("GET /v1/charges"))
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  faults.Fault
		done   int64
		status int // 0 where no response begins
		body   string
	}{
		"dropped":   {faults.Drop, 0, 0, ""},
		"lost":      {faults.Lose, 1, 0, ""},
		"cut":       {faults.Cut, 1, http.StatusCreated, "01234"},
		"an answer": {faults.Answer(http.StatusBadGateway, "later"), 0, http.StatusBadGateway, "later"},
		"delayed":   {faults.Delay(time.Millisecond), 1, http.StatusCreated, "0123456789"},
		"repeated":  {faults.Repeat, 2, http.StatusCreated, "0123456789"},
		"late":      {faults.Late(time.Millisecond), 1, http.StatusCreated, "0123456789"},
		"others":    {faults.When(func(*faults.Request) bool { return false }, faults.Drop), 1, http.StatusCreated, "0123456789"},
		"these":     {faults.When(faults.Commands, faults.Drop), 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, done := provider(t)
			p := faults.NewHTTP(t, to)
			p.Break(c.fault)
			got, err := send(t.Context(), http.MethodPost, p.URL)
			require.Equal(t, c.status, got.status)
			require.Equal(t, c.body, got.body)
			require.Equal(t, c.status == 0 || name == "cut", err != nil, "%v", err)
			require.Equal(t, c.done, done.Load())

			p.Mend()
			got, err = send(t.Context(), http.MethodPost, p.URL)
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, got.status)
			require.EqualValues(t, 2, p.Count("POST /v1/charges"))
		})
	}
}

func TestFaultsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	to, done := provider(t)
	var always atomic.Int64
	p := faults.NewHTTP(t, to, func(on faults.Way) faults.Way {
		return func(r *faults.Request) *faults.Response {
			always.Add(1)
			return on(r)
		}
	})
	p.Break(faults.Answer(http.StatusTeapot, ""), faults.Drop)
	got, err := send(t.Context(), http.MethodPost, p.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusTeapot, got.status)
	require.EqualValues(t, 1, always.Load())
	require.Zero(t, done.Load())
}

func TestTheFirstOfItsKind(t *testing.T) {
	t.Parallel()
	to, done := provider(t)
	p := faults.NewHTTP(t, to)
	p.Break(faults.When(faults.First(faults.Commands), faults.Drop))
	_, err := send(t.Context(), http.MethodGet, p.URL)
	require.NoError(t, err)
	_, err = send(t.Context(), http.MethodPost, p.URL)
	require.Error(t, err)
	_, err = send(t.Context(), http.MethodPost, p.URL)
	require.NoError(t, err)
	require.EqualValues(t, 2, done.Load())
}

func TestAProxyLeadsElsewhere(t *testing.T) {
	t.Parallel()
	p := faults.NewHTTP(t, "")
	got, err := send(t.Context(), http.MethodPost, p.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	to, done := provider(t)
	p.Lead(to)
	_, err = send(t.Context(), http.MethodPost, p.URL)
	require.NoError(t, err)
	require.EqualValues(t, 1, done.Load())
	p.Lead("http://127.0.0.1:1")
	_, err = send(t.Context(), http.MethodPost, p.URL)
	require.Error(t, err, "a server that can't be reached is no response")
}

func TestForward(t *testing.T) {
	t.Parallel()
	to, done := provider(t)
	p := faults.Forward(t.Context(), &http.Transport{DisableKeepAlives: true})
	p.Break(faults.Repeat)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, to+"/v1/charges?a=b", strings.NewReader("0123456789"))
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	require.Equal(t, http.StatusCreated, w.Code)
	require.Equal(t, "0123456789", w.Body.String())
	require.Equal(t, "a=b", w.Header().Get("X-Query"))
	require.EqualValues(t, 2, done.Load())
}

// A request that is held before the server arrives when its caller has gone; a request whose response is held has arrived
// already.
func TestAHoldOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		place func(h *faults.Hold) faults.Fault
		held  int64
	}{
		"before": {func(h *faults.Hold) faults.Fault { return h.Before }, 0},
		"after":  {func(h *faults.Hold) faults.Fault { return h.After }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, done := provider(t)
			p, h := faults.NewHTTP(t, to), faults.NewHold(t)
			p.Break(at.place(h))
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan error, 1)
			go func() {
				_, err := send(ctx, http.MethodPost, p.URL)
				gone <- err
			}()
			<-h.Reached()
			require.EqualValues(t, 1, h.Held())
			require.Equal(t, at.held, done.Load())
			cancel()
			require.ErrorIs(t, <-gone, context.Canceled)
			h.Free()
			require.Eventually(t, func() bool { return done.Load() == 1 }, limit, time.Millisecond)

			_, err := send(t.Context(), http.MethodPost, p.URL)
			require.NoError(t, err, "it holds nothing any more")
		})
	}
}

func TestWhatHangsNeverArrives(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faults.Fault{"hang": faults.Hang, "delay": faults.Delay(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to, done := provider(t)
			p := faults.NewHTTP(t, to)
			p.Break(fault)
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan error, 1)
			go func() {
				_, err := send(ctx, http.MethodPost, p.URL)
				gone <- err
			}()
			require.Eventually(t, func() bool { return p.Count("POST /v1/charges") == 1 }, limit, time.Millisecond)
			cancel()
			require.ErrorIs(t, <-gone, context.Canceled)
			require.Zero(t, done.Load())
		})
	}
}
