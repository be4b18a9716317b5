package kit_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// unknown asserts that an error leaves a call's outcome unknown.
func unknown(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
}

func TestUnknownWhenTheConnectionIsResetAfterTheRequest(t *testing.T) {
	t.Parallel()
	url := wire(t, func(c net.Conn) {
		_ = readRequest(bufio.NewReader(c))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	_, err := kit.Do(t.Context(), client(t), post(url))
	unknown(t, err)
}

func TestUnknownWhenNoAnswerComesInTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url, hits := server(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	_, err := kit.Do(ctx, client(t), post(url))
	unknown(t, err)
	require.EqualValues(t, 1, hits.Load())
}

func TestUnknownWhenTheAnswerIsBroken(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"cut":           "HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{",
		"no HTTP":       "hello\r\n\r\n",
		"endless chunk": "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nfffff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := wire(t, func(c net.Conn) {
				_ = readRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, answer)
			})
			_, err := kit.Do(t.Context(), client(t), post(url))
			unknown(t, err)
		})
	}
}

func TestAnAnswerOfAMebibyteIsReadAndALongerOneIsUnknown(t *testing.T) {
	t.Parallel()
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		_, _ = io.WriteString(w, strings.Repeat(" ", n))
	})
	r := post(url)
	r.URL = url + "/?n=" + strconv.Itoa(1<<20)
	a, err := kit.Do(t.Context(), client(t), r)
	require.NoError(t, err)
	require.Len(t, a.Body, 1<<20)
	r.URL = url + "/?n=" + strconv.Itoa(1<<20+1)
	_, err = kit.Do(t.Context(), client(t), r)
	unknown(t, err)
}

func TestInterimAnswersAreNotTheAnswer(t *testing.T) {
	t.Parallel()
	url, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		w.Header().Set("X-Said", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "{}")
	})
	a, err := kit.Do(t.Context(), client(t), post(url))
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, a.Status)
	require.Equal(t, "yes", a.Header.Get("X-Said"))
	require.Equal(t, "{}", string(a.Body))
}

// The page of a redirect is not the provider's answer, and its server must not get our key.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			url, hits := server(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", status)
			})
			r := post(url)
			r.Method = method
			a, err := kit.Do(t.Context(), client(t), r)
			require.NoError(t, err)
			require.Equal(t, status, a.Status)
			require.EqualValues(t, 1, hits.Load(), "%s %d", method, status)
		}
	}
}

// net/http repeats a request with an Idempotency-Key if a reused connection breaks. The adapter decides whether that is
// safe, after another check of the permit.
func TestACutConnectionNeverRepeatsACommand(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"amount":1999}`, ""} {
		var requests atomic.Int32
		url := wire(t, func(c net.Conn) {
			r := bufio.NewReader(c)
			for n := 0; ; n++ {
				if err := readRequest(r); err != nil {
					return
				}
				requests.Add(1)
				if n > 0 {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")
			}
		})
		kept, r := client(t), post(url)
		r.Body = []byte(body)
		_, err := kit.Do(t.Context(), kept, r)
		require.NoError(t, err)
		_, err = kit.Do(t.Context(), kept, r)
		unknown(t, err)
		require.EqualValues(t, 2, requests.Load())
	}
}

// A read may be sent twice, so a broken reused connection loses no answer.
func TestACutConnectionRepeatsAQuestion(t *testing.T) {
	t.Parallel()
	url := wire(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		if err := readRequest(r); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		_ = readRequest(r)
	})
	kept := client(t)
	for range 2 {
		a, err := kit.Do(t.Context(), kept, kit.Request{Method: http.MethodGet, URL: url})
		require.NoError(t, err)
		require.Equal(t, "{}", string(a.Body))
	}
}

func TestReadsAreNeverNotSent(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err := kit.Do(t.Context(), client(t), kit.Request{Method: http.MethodGet, URL: gone.URL})
	unknown(t, err)
	question := post(gone.URL)
	question.Question, question.Permit = true, nil
	_, err = kit.Do(t.Context(), client(t), question)
	unknown(t, err)

	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.Copy(w, r.Body)
	})
	a, err := kit.Do(t.Context(), client(t), kit.Request{Method: http.MethodGet, URL: url})
	require.NoError(t, err)
	require.Equal(t, http.StatusTeapot, a.Status)
	require.Empty(t, a.Body)
}
