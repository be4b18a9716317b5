package paypal_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paypal"
)

// timed returns a client of a fake, and a clock that tests can move.
func timed(t *testing.T, h http.Handler) (*paypal.Client, *atomic.Int64) {
	t.Helper()
	var ahead atomic.Int64
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return paypal.New(s.URL, clientID, secret, s.Client(), func() time.Time { return noon.Add(time.Duration(ahead.Load())) }), &ahead
}

func (f *fake) fetched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tokens
}

func TestOneTokenServesAllCalls(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := timed(t, f)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if _, err := c.Charge(t.Context(), charge("card:1")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	charged(t, c, charge("card:1"))
	require.Equal(t, 1, f.fetched())
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, ahead := timed(t, f)
	charged(t, c, charge("card:1"))
	ahead.Store(int64(9*time.Hour - time.Minute - 1))
	charged(t, c, charge("card:1"))
	require.Equal(t, 1, f.fetched())
	ahead.Store(int64(9*time.Hour - time.Minute))
	charged(t, c, charge("card:1"))
	require.Equal(t, 2, f.fetched())
}

// PayPal may end a token early. The first caller that notices renews it for all, and sends its request again.
func TestATokenThatIsRefusedIsRenewedOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := timed(t, f)
	charged(t, c, charge("card:1"))
	f.mu.Lock()
	f.ended["A21AA-1"] = true
	f.mu.Unlock()
	ch := charge("card:1")
	require.Equal(t, fsm.EventSucceeded, charged(t, c, ch).Event)
	require.Equal(t, 2, f.fetched())
	_, err := c.Lookup(t.Context(), charged(t, c, ch).ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, 2, f.fetched())
}

// If PayPal rejects the new token as well, the account is wrong, and nothing is tried again.
func TestATokenThatStaysRefused(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusUnauthorized, `{"error":"invalid_token","error_description":"Token signature verification failed"}`)
	o := charged(t, c, charge("card:1"))
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "invalid_token")}, o)
	_, err := c.Lookup(t.Context(), "1")
	require.ErrorContains(t, err, "invalid_token")
}

// The second send checks the permit again, because time has passed.
func TestTheSecondSendNeedsALicence(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := timed(t, f)
	charged(t, c, charge("card:1"))
	f.mu.Lock()
	f.ended["A21AA-1"] = true
	f.mu.Unlock()
	asked := 0
	ch := charge("card:1")
	ch.Permit = gateway.NewPermit(noon, time.Hour, func() time.Time {
		if asked++; asked > 1 {
			return noon.Add(2 * time.Hour)
		}
		return noon
	})
	_, err := c.Charge(t.Context(), ch)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Equal(t, 2, f.fetched())
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"wrong secret": {401, `{"error":"invalid_client","error_description":"Client Authentication failed"}`},
		"unavailable":  {503, `{}`},
		"no JSON":      {200, `<html>`},
		"no token":     {200, `{"expires_in":32400}`},
		"no end":       {200, `{"access_token":"A21"}`},
		"elsewhere":    {302, `{"access_token":"A21","expires_in":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := timed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/oauth2/token" {
					t.Errorf("%s was sent", r.URL)
				}
				w.WriteHeader(answer.status)
				_, _ = io.WriteString(w, answer.body)
			}))
			_, err := c.Charge(t.Context(), charge("paypal"))
			require.ErrorIs(t, err, gateway.ErrNotSent)
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "A21")
			_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
			require.ErrorIs(t, err, gateway.ErrNotSent)
			_, err = c.Lookup(t.Context(), "1")
			require.Error(t, err)
			require.NotErrorIs(t, err, gateway.ErrNotSent)
			require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
		})
	}
}

// If a caller gives up, the fetch continues for the others.
func TestAFetchOutlivesWhoBeganIt(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	arrived, goOn := make(chan struct{}), make(chan struct{})
	c, _ := timed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/oauth2/token" {
			close(arrived)
			<-goOn
		}
		f.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := c.Charge(ctx, charge("card:1"))
		first <- err
	}()
	<-arrived
	go func() {
		_, err := c.Charge(t.Context(), charge("card:1"))
		second <- err
	}()
	cancel()
	require.ErrorIs(t, <-first, gateway.ErrNotSent)
	close(goOn)
	require.NoError(t, <-second)
	require.Equal(t, 1, f.fetched())
}

// A caller that learns late about the old token's rejection must not drop the new token.
func TestANewTokenIsNotDroppedForTheOldOne(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	late, goOn := make(chan struct{}), make(chan struct{})
	c, _ := timed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer A21AA-1" && r.Header.Get("PayPal-Request-Id") == "late" {
			close(late)
			<-goOn
		}
		f.ServeHTTP(w, r)
	}))
	charged(t, c, charge("card:1"))
	f.mu.Lock()
	f.ended["A21AA-1"] = true
	f.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		ch := charge("card:1")
		ch.IdempotencyKey = "late"
		_, err := c.Charge(t.Context(), ch)
		done <- err
	}()
	<-late
	charged(t, c, charge("card:1"))
	close(goOn)
	require.NoError(t, <-done)
	require.Equal(t, 2, f.fetched())
}

// A 401 that does not come from PayPal is no evidence about the request. The request is not sent again, and the error is
// not ErrNotSent.
func TestA401OfSomebodyElseLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	c, _ := timed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/oauth2/token":
			sent.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, "<html>")
		case sent.Load() == 0:
			_, _ = io.WriteString(w, `{"access_token":"A21","expires_in":32400}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	_, err := c.Charge(t.Context(), charge("card:1"))
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNotSent)
	require.EqualValues(t, 1, sent.Load())
}
