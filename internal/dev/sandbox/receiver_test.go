package sandbox_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const secret = "whsec_c2FuZGJveC10ZXN0LXNlY3JldC0wMTIzNDU2Nzg5"

// arrival is one delivery that was received with a 2xx.
type arrival struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Created string `json:"created"`
	Data    struct {
		ChargeID    string  `json:"charge_id"`
		RefundID    *string `json:"refund_id"`
		Reference   string  `json:"reference"`
		Amount      int64   `json:"amount"`
		Currency    string  `json:"currency"`
		FailureCode *string `json:"failure_code"`
	} `json:"data"`

	raw   string
	began time.Time
	ended time.Time
}

// receiver verifies each delivery and keeps the good ones.
type receiver struct {
	url      string
	verifier webhooks.Verifier
	// hook may delay a delivery, and decides its response.
	hook func(arrival) int

	mu       sync.Mutex
	arrivals []arrival
	refused  []error
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	verifier, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	r := &receiver{verifier: verifier, hook: func(arrival) int { return http.StatusOK }}
	server := httptest.NewServer(r)
	r.url = server.URL + "/webhooks/sandbox"
	t.Cleanup(func() {
		server.Close()
		require.Empty(t, r.refused, "every delivery is signed")
	})
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	began := time.Now()
	body, _ := io.ReadAll(req.Body)
	_, err := r.verifier.Verify(req.Context(), webhooks.Delivery{
		Method: req.Method, URL: r.url, Header: req.Header, Body: body, ReceivedAt: began,
	})
	got := arrival{raw: string(body), began: began}
	if err == nil {
		err = json.Unmarshal(body, &got)
	}
	if err == nil && got.ID != req.Header.Get("Webhook-Id") {
		err = io.ErrUnexpectedEOF
	}
	status := http.StatusBadRequest
	if err == nil {
		status = r.hook(got)
	}
	r.keep(got, status, err)
	w.WriteHeader(status)
}

func (r *receiver) keep(got arrival, status int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refused = append(r.refused, err)
	}
	if status < 300 {
		got.ended = time.Now()
		r.arrivals = append(r.arrivals, got)
	}
}

// all returns the events received so far, in the order of the responses.
func (r *receiver) all() []arrival {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.arrivals)
}

func (r *receiver) types() []string {
	var types []string
	for _, a := range r.all() {
		types = append(types, a.Type)
	}
	return types
}

// distinct names each event once: a stop may cut the acknowledgement off, so that
// an event comes again.
func (r *receiver) distinct() []string {
	names := map[string]string{}
	for _, a := range r.all() {
		names[a.ID] = a.Data.Reference + " " + a.Type
	}
	return slices.Collect(maps.Values(names))
}

// gets waits for exactly these types. Each delivery is a request of its own, and one may overtake another.
func (r *receiver) gets(t *testing.T, types ...string) []arrival {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.all()) >= len(types) }, patience, tick)
	require.ElementsMatch(t, types, r.types())
	return r.all()
}
