package api_test

import (
	"fmt"
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
	"github.com/paylatch/paylatch/internal/api/strictjson"
)

// worstBodies are forms of JSON that cost much by the byte, cut to so many bytes. None is what a call takes.
func worstBodies(size int) map[string]string {
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, max(0, size-len(head)-len(tail))/len(part)) + tail
	}
	list := func(item string) string { return fill(`{"metadata":[`+item, ","+item, "]}") }
	// most has as many values as a body may have, or bytes.
	most := func(item string, values int) string {
		return `{"metadata":[` + item + strings.Repeat(","+item, min((strictjson.MaxValues-5)/values, (size-30)/(len(item)+1))-1) + "]}"
	}
	var names strings.Builder
	for i := 0; names.Len() < size-40; i++ {
		fmt.Fprintf(&names, `"%x":0,`, i)
	}
	largest := names.String()
	if parts := strings.SplitAfter(largest, ","); len(parts) > 400 {
		largest = strings.Join(parts[:400], "")
	}
	largest = "{" + largest + `"z":0}`
	return map[string]string{
		"empty lists":   list("[]"),
		"empty objects": list("{}"),
		"numbers":       list("0"),
		"texts":         list(`""`),
		"objects":       list(`{"a":{}}`),
		"nested":        fill("", "[", ""),
		"members":       "{" + names.String() + `"z":0}`,
		"most lists":    most("[]", 2),
		"most objects":  most(`{"a":0}`, 2),
		"most texts":    most(`"a"`, 1),
		"most numbers":  most("1", 1),
		"most members":  most(largest, 402),
		"blanks":        fill(`{"x":0`, " ", "}"),
		"escapes":       fill(`{"description":"`, `\u00e9`, `"}`),
		"surrogates":    fill(`{"description":"`, `\ud83d\ude00`, `"}`),
		"digits":        fill(`{"description":"`, "9", `"}`),
		"runs":          fill(`{"description":"`, "1234567890123 ", `"}`),
		"groups":        fill(`{"description":"`, "1234 5678 9012 3456-", `"}`),
		"long name":     fill(`{"`, "9", `":0}`),
		"long number":   fill(`{"amount":`, "9", `}`),
		"broken":        fill(`{"description":"`, "a", ""),
		"no UTF-8":      fill(`{"description":"`, "a", "\xff\"}"),
	}
}

// TestWorstBodyIsCheap: whatever a body is, of whatever call, refusing it takes at most 1 MiB of memory, and a body that is longer than the
// contract allows is refused before it is read.
//
//nolint:paralleltest // it measures the memory of the process
func TestWorstBodyIsCheap(t *testing.T) {
	doc, err := contract.Load(contractfile.Document)
	require.NoError(t, err)
	p := &payments{order: order()}
	handler := api.New(api.Options{Payments: p, Deliveries: p, Auth: tokens{}, Log: zerolog.Nop(), Support: &desk{}, Endpoints: &endpoints{}})
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
			if slices.Contains(op.Tags, "support") {
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
		for name, body := range worstBodies(limit) {
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
