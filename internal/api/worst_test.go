package api_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/dev/faults"
)

// TestWorstBodyIsCheap: the refusal of any body of any call takes at most 1 MiB of memory, and a body that is longer than the
// contract allows is refused before it is read.
//
//nolint:paralleltest // it measures the memory of the process
func TestWorstBodyIsCheap(t *testing.T) {
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	p := &payments{order: order()}
	handler := api.New(api.Options{Payments: p, Reads: p, Deliveries: p, Auth: tokens{}, Log: zerolog.Nop(), Support: &desk{}, Endpoints: &endpoints{}, Keys: &keyDesk{}})
	ids := strings.NewReplacer("{order_id}", "A-1", "{payment_attempt_id}", attemptID.String(), "{endpoint}", "shop", "{event_id}", attemptID.String(),
		"{discrepancy_id}", attemptID.String(), "{job_id}", attemptID.String(), "{refund_request_id}", attemptID.String())
	calls, slowest, largest := 0, time.Duration(0), uint64(0)
	for _, op := range doc.Operations() {
		if op.JSON() == nil {
			continue
		}
		calls++
		send := func(body string) (took time.Duration, bytes uint64, status int) {
			r := httptest.NewRequest(op.Method, ids.Replace(op.Path), strings.NewReader(body))
			who := "service-1"
			if slices.Contains(op.Tags, "support") || slices.Contains(op.Tags, "keys") {
				who = "admin"
			}
			for name, value := range map[string]string{"Authorization": "Bearer " + who, "On-Behalf-Of": "u1", "Content-Type": "application/json", "Idempotency-Key": "key-00000001"} {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			handler.ServeHTTP(w, r)
			took = time.Since(began)
			runtime.ReadMemStats(&after)
			return took, after.TotalAlloc - before.TotalAlloc, w.Code
		}
		limit := int(op.RequestBody.MaxBytes)
		_, bytes, status := send(strings.Repeat("x", limit+1))
		require.Equal(t, http.StatusRequestEntityTooLarge, status, op.ID)
		require.Less(t, bytes, uint64(128<<10), op.ID)
		for name, body := range faults.WorstBodies(limit, contract.MaxValues) {
			require.LessOrEqual(t, len(body), limit, name)
			best := time.Hour
			for range 3 {
				took, bytes, status := send(body)
				require.Contains(t, []int{400, 403, 422}, status, "%s: %s", op.ID, name)
				require.LessOrEqual(t, bytes, uint64(1<<20), "%s: %s", op.ID, name)
				best, largest = min(best, took), max(largest, bytes)
			}
			t.Logf("%-20s %-14s %7d bytes: %s", op.ID, name, len(body), best)
			slowest = max(slowest, best)
		}
	}
	require.Greater(t, calls, 15)
	t.Logf("%d calls: the slowest refusal took %s, the largest %d bytes", calls, slowest, largest)
}
