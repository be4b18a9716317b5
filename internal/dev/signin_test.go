package dev_test

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// The link is the first address that is printed, and signs in one browser as the form does. No token is in it.
func TestSignInLink(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Auth: config.Auth{HS256Secret: "0123456789abcdef0123456789abcdef"}}
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	var signIns atomic.Int32
	m := dev.New("http://127.0.0.1:9090")
	handler, err := m.Shop(cfg, at, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signIns.Add(1)
		if r.Method == http.MethodPost && r.URL.Path == "/support/sign-in" && strings.Count(r.PostFormValue("token"), ".") == 2 &&
			r.RemoteAddr == "192.0.2.1:1234" && r.Header.Get("Authorization") == "" {
			http.Redirect(w, r, "/support", http.StatusSeeOther)
		}
	}), nil)
	require.NoError(t, err)
	var printed bytes.Buffer
	require.NoError(t, m.Welcome(&printed, cfg, at, time.Unix(0, 0)))
	link := regexp.MustCompile(`http://\S+`).FindString(printed.String())
	require.Regexp(t, `^http://127\.0\.0\.1:8080/dev/sign-in\?code=[A-Z2-7]{26}$`, link)
	get := func(method, link string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest(method, link, nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer another")
		handler.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, http.StatusMethodNotAllowed, get(http.MethodPost, link).Code)
	for _, wrong := range []string{link + "A", strings.TrimRight(link, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), "http://127.0.0.1:8080/dev/sign-in"} {
		require.Equal(t, http.StatusGone, get(http.MethodGet, wrong).Code, wrong)
	}
	var all sync.WaitGroup
	var in atomic.Int32
	for range 8 {
		all.Go(func() {
			if get(http.MethodGet, link).Code == http.StatusSeeOther {
				in.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, in.Load())
	require.EqualValues(t, 1, signIns.Load())
	require.Contains(t, get(http.MethodGet, link).Body.String(), "paylatch token")
	other := dev.New("")
	var second bytes.Buffer
	require.NoError(t, other.Welcome(&second, cfg, at, time.Unix(0, 0)))
	require.NotContains(t, second.String(), link, "each start has one of its own")
}
