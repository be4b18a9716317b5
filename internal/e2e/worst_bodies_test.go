package e2e_test

import (
	"bytes"
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
	"github.com/paylatch/paylatch/internal/api/strictjson"
	"github.com/paylatch/paylatch/internal/faults"
	"github.com/paylatch/paylatch/webhooks"
)

// TestWorstBodiesAtOnce: 30 of the dearest bodies at once, of any call and to the webhooks of any kind, signed and not, keep the process
// below 128 MiB.
func TestWorstBodiesAtOnce(t *testing.T) {
	t.Parallel()
	const together, most, longestWebhook = 30, 128 << 20, 512 << 10
	r := newKindsRig(t)
	if r.service.peakMemory() == 0 {
		t.Skip("the kernel does not report the peak memory of a process")
	}
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	send := func(request func() *http.Request) {
		var all sync.WaitGroup
		for range together {
			all.Go(func() {
				response, err := http.DefaultClient.Do(request())
				if err == nil { // else the service has closed the connection before the body's end
					_ = response.Body.Close()
				}
			})
		}
		all.Wait()
	}
	shop, admin, before := token("shop", "service"), token("ann", "admin"), r.service.peakMemory()
	measure := func(t *testing.T, what string) {
		t.Helper()
		peak := r.service.peakMemory()
		require.Less(t, peak, int64(most), what)
		require.Positive(t, peak, "the process has ended: %s", what)
		if peak > before {
			t.Logf("%3d MiB: %s", peak>>20, what)
		}
		before = peak
	}
	id := uuid.NewString()
	ids := strings.NewReplacer("{order_id}", "A-1", "{payment_attempt_id}", id, "{endpoint}", "shop", "{event_id}", id, "{discrepancy_id}", id,
		"{job_id}", id, "{refund_request_id}", id)
	calls := 0
	for _, op := range doc.Operations() {
		if op.JSON() == nil {
			continue
		}
		calls++
		by := shop
		if slices.Contains(op.Tags, "support") {
			by = admin
		}
		for name, body := range faults.WorstBodies(int(op.RequestBody.MaxBytes), strictjson.MaxValues) {
			send(func() *http.Request {
				q, err := http.NewRequestWithContext(t.Context(), op.Method, r.service.base+ids.Replace(op.Path), strings.NewReader(body))
				require.NoError(t, err)
				for name, value := range map[string]string{
					"Authorization": "Bearer " + by, "On-Behalf-Of": "u1", "Content-Type": "application/json", "Idempotency-Key": uuid.NewString(),
				} {
					q.Header.Set(name, value)
				}
				return q
			})
			measure(t, op.ID+": "+name)
		}
	}
	require.Greater(t, calls, 15)
	worst := faults.WorstBodies(longestWebhook, strictjson.MaxValues)
	for _, kind := range slices.Sorted(maps.Keys(r.accounts)) {
		for _, name := range []string{"objects", "members", "escapes"} {
			delivery := webhooks.Delivery{Body: []byte(worst[name]), Header: http.Header{"Content-Type": {"application/json"}}}
			signed := delivery
			signed.Header = delivery.Header.Clone()
			signings := []webhooks.Delivery{delivery}
			if r.accounts[kind].sign(&signed) == nil {
				signings = append(signings, signed)
			}
			for _, d := range signings {
				send(func() *http.Request {
					q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.service.base+"/webhooks/"+kind, bytes.NewReader(d.Body))
					require.NoError(t, err)
					q.Header = d.Header.Clone()
					return q
				})
				measure(t, kind+": "+name)
			}
		}
	}
}
