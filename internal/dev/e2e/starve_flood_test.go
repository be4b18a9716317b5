package e2e_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// notice delivers an unsigned notice of Mollie's about a payment.
func notice(ctx context.Context, from *http.Client, base, payment string) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/webhooks/mollie", strings.NewReader("id="+payment))
	if err != nil {
		return answer{err: err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := from.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, text: text, err: err}
}

// sender sends from an address of its own.
func sender(t *testing.T, address string) *http.Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: soon}
}

// flood sends notices of unknown payments, 400 a second, until it is stopped.
func flood(t *testing.T, base string) (sent *atomic.Int64, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	from := sender(t, "127.0.66.6")
	sent = new(atomic.Int64)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for ctx.Err() == nil {
				got := notice(ctx, from, base, "tr_"+strings.ReplaceAll(uuid.NewString(), "-", ""))
				if got.err == nil {
					sent.Add(1)
				}
				select {
				case <-ctx.Done():
				case <-tick.C:
				}
			}
		})
	}
	stop = func() {
		cancel()
		all.Wait()
	}
	t.Cleanup(stop)
	return sent, stop
}

// floodsStayOutside: anyone can send unsigned notices. A flood of them takes neither the place of the genuine notices of its
// account nor the place of the pays, and leaves no rows behind.
func floodsStayOutside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var asked atomic.Int64
	mollie := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/hal+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"status":404,"title":"Not Found","detail":"No payment exists with token."}`)
	}))
	t.Cleanup(mollie.Close)
	s := r.serve("PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: '"+r.gate.URL+"', webhook_secrets: ["+sandboxSecret+"]}, "+
		"{name: mollie, kind: mollie, api_key: test_key, base_url: '"+mollie.URL+"', public_url: 'https://shop.example/webhooks/mollie'}]", leftAlone)
	patient, c := s.customer(), s.bluntly(token("u1", "customer"))
	const known = "tr_known"
	r.pendingAt(t, "mollie", known)
	genuine := sender(t, "127.0.0.1")

	const rounds = 40
	var orders []string
	for range 6 * rounds {
		orders = append(orders, patient.order(t))
	}
	median := func(do func()) time.Duration {
		took := make([]time.Duration, rounds)
		for i := range took {
			began := time.Now()
			do()
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[rounds/2]
	}
	pay := func() {
		order, key := orders[0], unique("pay")
		orders = orders[1:]
		served(t.Context(), func() answer { return c.pay(t.Context(), order, key, "tok_success") }).is(t, http.StatusCreated)
	}
	hear := func() {
		got := served(t.Context(), func() answer { return notice(t.Context(), genuine, s.base, known) })
		got.is(t, http.StatusOK)
		require.Equal(t, "deferred", got.header.Get("Webhook-Result"))
	}
	pays, notices := median(pay), median(hear)

	sent, stop := flood(t, s.base)
	began := time.Now()
	eventually(t, "a flood", func() bool { return sent.Load() > 700 })
	fast := func() bool {
		paid, heard := median(pay), median(hear)
		t.Logf("pays %v, then %v; notices %v, then %v; %d of the flood", pays, paid, notices, heard, sent.Load())
		return paid <= 2*pays+2*time.Millisecond && heard <= 2*notices+2*time.Millisecond
	}
	within := fast()
	for range 2 {
		within = within || fast()
	}
	if os.Getenv("PAYLATCH_TIMED") == "" {
		t.Log("latencies are compared where this runs alone: PAYLATCH_TIMED=1")
	} else {
		require.True(t, within, "within twice what they took before")
	}
	stop()
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM provider_events WHERE account = 'mollie' AND NOT refs && ARRAY['`+known+`']`), "of what is not known here nothing is stored")
	require.Zero(t, one[int](t, r, `SELECT count(*) FROM discrepancies WHERE text NOT LIKE '%`+known+`%'`))
	// Of one sender 100 wait, two seconds each: of a flood that a slow machine makes smaller, that is a larger part.
	most := max(sent.Load()/4, 100*int64(time.Since(began)/(2*time.Second)+2))
	t.Logf("asked about %d of %d", asked.Load(), sent.Load())
	require.Less(t, asked.Load(), most, "nor is its provider asked about all of it")
}
