package rehearse

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// TestNetwork: the proxy breaks the commands to the shop, over http and https, and passes everything else.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pays, reads, others atomic.Int64
			shop := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					pays.Add(1)
				} else {
					reads.Add(1)
				}
				body, _ := io.ReadAll(r.Body)
				_, _ = w.Write(append(body, r.URL.RequestURI()...))
			}))
			t.Cleanup(shop.Close)
			other := start(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others.Add(1) }))
			t.Cleanup(other.Close)

			n, err := newNetwork(t.Context(), strings.TrimPrefix(shop.URL, name+"://"), time.Now)
			require.NoError(t, err)
			browser := &http.Client{Transport: &http.Transport{
				Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: n.address}), DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			}}
			post := func(to string) (string, error) {
				resp, err := browser.Post(to+"/pay?a=b", "text/plain", strings.NewReader("body "))
				if err != nil {
					return "", err
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				return string(body), err
			}

			n.breakBy(faults.Repeat)
			body, err := post(shop.URL)
			require.NoError(t, err)
			require.Equal(t, "body /pay?a=b", body)
			require.EqualValues(t, 2, pays.Load())
			require.EqualValues(t, 1, n.arrived.Load())
			_, err = post(other.URL)
			require.NoError(t, err)
			require.EqualValues(t, 1, others.Load(), "the other server is not the shop")
			resp, err := browser.Get(shop.URL)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.EqualValues(t, 1, reads.Load(), "a page is not repeated")

			n.breakBy(faults.Lose)
			_, err = post(shop.URL)
			require.Error(t, err)
			require.EqualValues(t, 3, pays.Load(), "the shop has done it")
		})
	}
}
