package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/webhooks"
)

// answered is a client whose requests are answered by a function.
func answered(answer http.HandlerFunc) *http.Client {
	return &http.Client{Transport: handled(answer)}
}

type handled http.HandlerFunc

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h(w, r)
	return w.Result(), nil
}

// Of what anybody can make us do so much is done. The provider sends again what came
// to nothing.
func TestCertificatesLimit(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	c := accounts.NewCertificates(answered(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		_, _ = w.Write([]byte("pem"))
	}), time.Now)
	synctest.Test(t, func(t *testing.T) {
		for i := range 50 {
			pem, err := c.Fetch(t.Context(), "paypal", fmt.Sprint("https://paypal.example/", i))
			if i < 20 {
				require.NoError(t, err)
				require.Equal(t, "pem", string(pem))
				continue
			}
			require.ErrorIs(t, err, webhooks.ErrUnavailable)
		}
		require.EqualValues(t, 20, fetched.Load())
		_, err := c.Fetch(t.Context(), "paypal-us", "https://paypal.example/0")
		require.NoError(t, err, "each account has its own")
	})
}

func TestCertificatesShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fetched atomic.Int32
		answer := make(chan struct{})
		c := accounts.NewCertificates(answered(func(w http.ResponseWriter, _ *http.Request) {
			fetched.Add(1)
			<-answer
			_, _ = w.Write([]byte("pem"))
		}), time.Now)
		var all sync.WaitGroup
		var got atomic.Int32
		for range 100 {
			all.Go(func() {
				if pem, err := c.Fetch(t.Context(), "paypal", "https://paypal.example/"); err == nil && string(pem) == "pem" {
					got.Add(1)
				}
			})
		}
		synctest.Wait()
		close(answer)
		all.Wait()
		require.EqualValues(t, 1, fetched.Load())
		require.EqualValues(t, 100, got.Load())
	})
}

// What isn't there is no certificate; what may be there later is asked for again.
func TestCertificatesStatus(t *testing.T) {
	t.Parallel()
	for status, unavailable := range map[int]bool{
		302: true, 400: false, 403: false, 404: false, 410: false, 408: true, 429: true, 500: true, 503: true,
	} {
		client := answered(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		_, err := accounts.NewCertificates(client, time.Now).Fetch(t.Context(), "paypal", "https://paypal.example/")
		require.Error(t, err)
		if unavailable {
			require.ErrorIs(t, err, webhooks.ErrUnavailable, status)
		} else {
			require.NotErrorIs(t, err, webhooks.ErrUnavailable, status)
		}
	}
}
