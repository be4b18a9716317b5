package e2e_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/webhooks"
)

// TestWorstBodiesAtOnce: 30 of the dearest bodies at once, of any call and to the webhooks of any kind, signed and not, keep the process
// below 128 MiB.
func TestWorstBodiesAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("calls", worstBodiesOfCalls)
	t.Run("webhooks", worstBodiesOfWebhooks)
}

// together sends a request 30 times at once, and measures the most memory that the process has had.
func (r *kindsRig) together(t *testing.T, what, method, path string, header http.Header, body []byte) {
	t.Helper()
	before := r.service.peakMemory()
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			q, err := http.NewRequestWithContext(t.Context(), method, r.service.base+path, bytes.NewReader(body))
			if err != nil {
				panic(err)
			}
			q.Header = header.Clone()
			q.Header.Set("Idempotency-Key", uuid.NewString())
			if response, err := http.DefaultClient.Do(q); err == nil { // else the connection was closed before the end of the body
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
	all.Wait()
	peak := r.service.peakMemory()
	require.Positive(t, peak, "the process has ended: %s", what)
	require.Less(t, peak, int64(128<<20), what)
	if peak > before {
		t.Logf("%3d MiB: %s", peak>>20, what)
	}
}

// measured returns a service with an account of each kind, and a way to measure its memory.
func measured(t *testing.T) *kindsRig {
	t.Helper()
	r := newKindsRig(t, littleGarbage)
	if r.service.peakMemory() == 0 {
		t.Skip("the kernel does not report the peak memory of a process")
	}
	return r
}

func worstBodiesOfCalls(t *testing.T) {
	t.Parallel()
	r := measured(t)
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	id := uuid.NewString()
	ids := strings.NewReplacer("{order_id}", "A-1", "{payment_attempt_id}", id, "{endpoint}", "shop", "{event_id}", id, "{discrepancy_id}", id,
		"{job_id}", id, "{refund_request_id}", id)
	shop, admin, calls := token("shop", "service"), token("ann", "admin"), 0
	for _, op := range doc.Operations() {
		if op.JSON() == nil {
			continue
		}
		calls++
		header := http.Header{"Authorization": {"Bearer " + shop}, "On-Behalf-Of": {"u1"}, "Content-Type": {"application/json"}}
		if slices.Contains(op.Tags, "support") || slices.Contains(op.Tags, "keys") {
			header.Set("Authorization", "Bearer "+admin)
		}
		for name, body := range faults.WorstBodies(int(op.RequestBody.MaxBytes), contract.MaxValues) {
			r.together(t, op.ID+": "+name, op.Method, ids.Replace(op.Path), header, []byte(body))
		}
	}
	require.Greater(t, calls, 15)
}

func worstBodiesOfWebhooks(t *testing.T) {
	t.Parallel()
	r := measured(t)
	const longest = 512 << 10
	worst := faults.WorstBodies(longest, contract.MaxValues)
	worst["form"] = strings.Repeat("a=&", longest/len("a=&"))
	for _, kind := range slices.Sorted(maps.Keys(r.accounts)) {
		for _, name := range []string{"objects", "members", "escapes", "form"} {
			unsigned := webhooks.Delivery{Body: []byte(worst[name]), Header: http.Header{"Content-Type": {"application/json"}}}
			if name == "form" {
				unsigned.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			signed := webhooks.Delivery{Body: unsigned.Body, Header: unsigned.Header.Clone()}
			deliveries := []webhooks.Delivery{unsigned}
			if r.accounts[kind].sign(&signed) == nil {
				deliveries = append(deliveries, signed)
			}
			for _, d := range deliveries {
				r.together(t, kind+": "+name, http.MethodPost, "/webhooks/"+kind, d.Header, d.Body)
			}
		}
	}
}
