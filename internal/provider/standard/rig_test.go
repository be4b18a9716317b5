package standard_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	client "github.com/paylatch/paylatch/internal/provider/standard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apiKey is the account's key at the running sandbox.
const apiKey = "key_of_the_account"

// rig is a client of a running sandbox.
type rig struct {
	*client.Client
	url string
}

func start(t *testing.T) rig {
	t.Helper()
	s, err := sandbox.New(sandbox.Options{APIKey: apiKey, Delays: sandbox.Delays{Async: 20 * time.Millisecond, Late: 20 * time.Millisecond}})
	require.NoError(t, err)
	running(t, s)
	return serve(t, s)
}

// running runs a sandbox until the test ends.
func running(t *testing.T, s *sandbox.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ran)
		require.NoError(t, s.Close())
	})
}

func serve(t *testing.T, h http.Handler) rig {
	t.Helper()
	h = providertest.Recorded(t, h)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return rig{client.New(server.URL+"/", apiKey, server.Client()), server.URL}
}

// says returns a client of a provider that gives every request the same answer.
func says(t *testing.T, status int, body string) rig {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

func charge(token string) gateway.Charge {
	id := payment.AttemptID(uuid.New())
	return gateway.Charge{
		Details: gateway.Details{Token: token},
		Attempt: id, Order: "A-1", Money: euro(1999), Capture: payment.CaptureAutomatic, IdempotencyKey: id.String() + "-pay", Permit: permit(),
	}
}

func manual(token string) gateway.Charge {
	c := charge(token)
	c.Capture = payment.CaptureManual
	return c
}

func euro(minor int64) payment.Money { return payment.Money{Minor: minor, Currency: "EUR"} }

func permit() gateway.Permit { return gateway.NewPermit(time.Now(), time.Minute, time.Now) }

func ended() gateway.Permit { return gateway.NewPermit(time.Now(), 0, time.Now) }

func (r rig) charged(t *testing.T, c gateway.Charge) gateway.Outcome {
	t.Helper()
	o, err := r.Charge(t.Context(), c)
	require.NoError(t, err)
	return o
}

type movement struct {
	Kind           string `json:"kind"`
	Amount         int64  `json:"amount"`
	Reference      string `json:"reference"`
	IdempotencyKey string `json:"idempotency_key"`
}

func (r rig) ledger(t *testing.T) []movement {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/ledger", http.NoBody)
	require.NoError(t, err)
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+apiKey)
	res, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var all []movement
	require.NoError(t, json.NewDecoder(res.Body).Decode(&all))
	return all
}
