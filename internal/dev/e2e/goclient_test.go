package e2e_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
	"github.com/paylatch/paylatch/internal/dev/faults"
)

// lossy is a proxy that loses the response of each second request: the server has done it, its caller can't know.
func lossy(t *testing.T, base string) (address string, lost *atomic.Int32) {
	t.Helper()
	var responses atomic.Int32
	lost = new(atomic.Int32)
	return faults.NewHTTP(t, base, func(on faults.Way) faults.Way {
		return func(r *faults.Request) *faults.Response {
			a := on(r)
			if a == nil || responses.Add(1)%2 == 0 {
				return a
			}
			lost.Add(1)
			return nil
		}
	}).URL, lost
}

// A shop's backend with the Go client charges once, whichever responses are lost.
func TestGoClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address, lost := lossy(t, r.serve().base)
	c, err := goclient.New(address, token("shop", "service"), goclient.Options{
		HTTP: &http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}, FirstPause: 10 * time.Millisecond, Tries: 100,
	})
	require.NoError(t, err)
	method := api.PaymentMethod{Token: "tok_success"}

	for range 3 {
		// Its key is made by the client: only its tries have it.
		o, err := c.CreateOrder(t.Context(), api.CreateOrder{Amount: 1999, Currency: "EUR"}, goclient.Command{OnBehalfOf: "u1"})
		require.NoError(t, err)
		cmd := goclient.Command{Key: goclient.NewKey(), OnBehalfOf: "u1"}
		attempts := make([]*api.Attempt, 5)
		var all sync.WaitGroup
		for i := range attempts {
			all.Go(func() {
				a, err := c.Pay(t.Context(), o.OrderID, api.Pay{PaymentMethod: method}, cmd)
				if err != nil {
					t.Error(err)
					return
				}
				attempts[i] = a
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		for _, a := range attempts {
			require.Equal(t, attempts[0].PaymentAttemptID, a.PaymentAttemptID)
			require.Equal(t, api.AttemptStatusSucceeded, a.Status)
		}
		r.charged(t, attempts[0].PaymentAttemptID, 1999)

		refund, err := c.CreateRefund(t.Context(), attempts[0].PaymentAttemptID, api.CreateRefund{}, goclient.Command{OnBehalfOf: "u1"})
		require.NoError(t, err)
		require.EqualValues(t, 1999, refund.Amount)
		require.Len(t, r.ledger(t, attempts[0].PaymentAttemptID), 2, "one charge and one refund")

		_, err = c.Pay(t.Context(), o.OrderID, api.Pay{PaymentMethod: method}, cmd)
		require.NoError(t, err, "a copy after all that")
		_, err = c.Pay(t.Context(), o.OrderID, api.Pay{PaymentMethod: api.PaymentMethod{Token: "tok_decline"}}, cmd)
		var p *goclient.ProblemError
		require.ErrorAs(t, err, &p)
		require.Equal(t, "idempotency-key-reused", p.Code)
	}
	require.Equal(t, 3, one[int](t, r, "SELECT count(*) FROM orders"))
	require.GreaterOrEqual(t, lost.Load(), int32(20))
	require.Len(t, r.movements(t), 6)

	paid := map[string]bool{}
	for e, err := range c.Events(t.Context(), "", goclient.Feed{Types: []string{"order.paid"}, Limit: 2, Wait: 5 * time.Second}) {
		require.NoError(t, err)
		require.Equal(t, "order.paid", e.Type)
		require.False(t, paid[e.Subject], "once")
		if paid[e.Subject] = true; len(paid) == 3 {
			break
		}
	}
}
