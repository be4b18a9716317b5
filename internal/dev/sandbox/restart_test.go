package sandbox_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func TestRestartGoesOn(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	open := make(chan struct{})
	rec.hook = func(arrival) int {
		select {
		case <-open:
			return http.StatusOK
		default:
			return http.StatusServiceUnavailable
		}
	}
	opts := sandbox.Options{
		StateFile: filepath.Join(t.TempDir(), "new", "state"), WebhookURL: rec.url, WebhookSecret: secret, Delays: quick(),
	}
	opts.Delays.Async, opts.Delays.Late = 300*time.Millisecond, 300*time.Millisecond
	before := start(t, opts)
	done := before.post(t, "/v1/charges", "key-done", order("done", "tok_success"))
	async := before.pay(t, "key-async", order("async", "tok_async_success"))
	disorder := before.pay(t, "key-disorder", order("disorder", "tok_disorder"))
	late := before.pay(t, "key-late", order("late", "tok_late_success"))
	held := before.pay(t, "key-held", manual("held", "tok_success"))
	page := before.pay(t, "key-page", order("page", "tok_redirect"))
	require.Equal(t, http.StatusInternalServerError, before.post(t, "/v1/charges", "key-once", order("once", "tok_500_once")).status)
	refunded := before.post(t, "/v1/charges/"+done.charge(t).ID+"/refunds", "key-refund", `{"amount":99,"reference":"ref-1"}`)
	before.stop()

	close(open)
	after := start(t, opts)
	require.Equal(t, done.body, after.post(t, "/v1/charges", "key-done", order("done", "tok_success")).body)
	require.Equal(t, refunded.refund(t), after.get(t, "/v1/refunds/"+refunded.refund(t).ID).refund(t))
	require.Equal(t, []charge{held}, after.find(t, "held"))
	require.Equal(t, int64(99), after.lookup(t, done.charge(t).ID).AmountRefunded)
	for _, c := range []charge{async, disorder, late} {
		after.becomes(t, c.ID, "succeeded")
	}
	require.Equal(t, "succeeded", after.pay(t, "key-once", order("once", "tok_500_once")).Status)
	require.Equal(t, http.StatusSeeOther, after.press(t, after.url+"/pay/"+page.ID, "approve").status)
	require.Len(t, after.ledger(t), 7)

	want := []string{
		"done charge.succeeded", "done refund.succeeded", "async charge.succeeded", "disorder charge.succeeded", "disorder charge.authorized",
		"late charge.failed", "late charge.succeeded", "held charge.authorized", "once charge.succeeded", "page charge.succeeded",
	}
	require.Eventually(t, func() bool { return received(t, opts.StateFile) == len(want) }, patience, tick)
	require.ElementsMatch(t, want, rec.distinct())
	after.stop()

	sent := len(rec.all())
	last := start(t, opts)
	require.Len(t, last.ledger(t), 7)
	last.stop()
	require.Len(t, rec.all(), sent, "what was received is not sent again")
}

// received counts the events that are marked as received in the state file.
func received(t *testing.T, path string) int {
	t.Helper()
	lines, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Count(string(lines), `"delivered":`)
}

func TestJournalTornLine(t *testing.T) {
	t.Parallel()
	opts := sandbox.Options{StateFile: filepath.Join(t.TempDir(), "state")}
	first := start(t, opts)
	c := first.pay(t, "key-1", order("att-1", "tok_success"))
	first.stop()
	whole, err := os.ReadFile(opts.StateFile)
	require.NoError(t, err)

	for _, keep := range []int{1, len(whole) / 2, len(whole) - 1} {
		require.NoError(t, os.WriteFile(opts.StateFile, append(slices.Clip(whole), whole[:keep]...), 0o600))
		r := start(t, opts)
		require.Equal(t, c, r.lookup(t, c.ID))
		require.Len(t, r.ledger(t), 1)
		r.pay(t, "key-2", order("att-2", "tok_success"))
		r.stop()
		again := start(t, opts)
		require.Len(t, again.ledger(t), 2, "what comes after the torn line can be read")
		again.stop()
	}
}

func TestJournalBroken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(path, []byte("{}\nnonsense\n{}\n"), 0o600))
	_, err := sandbox.New(sandbox.Options{StateFile: path})
	require.ErrorContains(t, err, "line 2")
}

func TestJournalLocked(t *testing.T) {
	t.Parallel()
	opts := sandbox.Options{StateFile: filepath.Join(t.TempDir(), "state")}
	start(t, opts)
	_, err := sandbox.New(opts)
	require.ErrorContains(t, err, "another sandbox")
}

func TestClose(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{StateFile: filepath.Join(t.TempDir(), "state")})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	r := serve(t, s)
	require.Equal(t, http.StatusInternalServerError, r.post(t, "/v1/charges", "key-1", order("att-1", "tok_success")).status)
	require.Empty(t, r.ledger(t), "what was not written did not happen")
}

// TestKill kills a process in the middle of its work: every charge that it
// answered is there, and nothing is there in part.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childState+"="+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	r := &env{url: "http://" + strings.TrimSpace(address), client: &http.Client{}}
	defer r.client.CloseIdleConnections()

	answered, disputed := make([]map[string]string, 8), make([][]dispute, 8)
	enough := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for w := range answered {
		answered[w] = map[string]string{}
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("key-%d-%d", w, i)
				a, err := r.send(t.Context(), http.MethodPost, "/v1/charges", key, order(key, "tok_success"))
				if err != nil {
					return
				}
				answered[w][key] = a.body
				if i == 20 {
					select {
					case enough <- struct{}{}:
					default:
					}
				}
				if i%3 > 0 {
					continue
				}
				path := "/v1/dashboard/charges/" + parse[charge](t, a.body).ID + "/dispute"
				if a, err = r.send(t.Context(), http.MethodPost, path, "", ""); err != nil {
					return
				}
				disputed[w] = append(disputed[w], parse[dispute](t, a.body))
			}
		})
	}
	<-enough
	require.NoError(t, child.Process.Kill())
	wg.Wait()
	require.Error(t, child.Wait())

	after := start(t, sandbox.Options{StateFile: path})
	charged, chargebacks := map[string]int{}, map[string]int{}
	for _, m := range after.ledger(t) {
		if m.Kind == "chargeback" {
			chargebacks[m.EntryID]++
			continue
		}
		charged[m.IdempotencyKey]++
		require.Len(t, after.find(t, m.Reference), 1)
	}
	for _, keys := range answered {
		for key, body := range keys {
			require.Equal(t, 1, charged[key])
			require.Equal(t, body, after.post(t, "/v1/charges", key, order(key, "tok_success")).body)
		}
	}
	for _, d := range slices.Concat(disputed...) {
		require.Equal(t, 1, chargebacks[d.Movements[0].EntryID])
		require.Equal(t, []dispute{d}, after.shown(t, d.ChargeID).Disputes)
	}
}
