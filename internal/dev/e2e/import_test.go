package e2e_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// importMemory bounds the resident memory of an import, and of verify, in bytes, however many the payments are.
const importMemory = 160 << 20

// TestKilledDuringAnImport kills an import twice, each time in the middle of a file, and runs it a third time: each payment
// is there once, a chargeback finds its payment, and all agree with their logs.
func TestKilledDuringAnImport(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("imports 100,000 lines, which takes a minute")
	}
	lines := 100_000
	if os.Getenv("PAYLATCH_LARGE") != "" {
		lines = 1_000_000
	} else {
		t.Log("imports 100,000 lines; a million with PAYLATCH_LARGE=1")
	}
	i := newImporting(t, lines)
	began := time.Now()
	p := i.start(t, "--dry-run")
	peaks := i.peak(p.ends(t, i.limit))
	t.Logf("a dry run took %.1fs; peak memory, MiB: %v", time.Since(began).Seconds(), peaks)
	require.Equal(t, fmt.Sprintf("%d lines: %[1]d would be imported, 0 already imported, 0 refused\n", lines), p.stdout.String())
	require.Zero(t, i.imported(t))

	i.peaks = nil
	for part := range 2 {
		i.killedAt(t, (part+1)*lines/3)
	}
	cut := i.imported(t)
	began = time.Now()
	p = i.start(t)
	peaks = i.peak(p.ends(t, i.limit))
	t.Logf("%d of %d lines were left, which took %.1fs; peak memory of the three processes, MiB: %v", lines-cut, lines, time.Since(began).Seconds(), peaks)
	require.Equal(t, fmt.Sprintf("%d lines: %d imported, %d already imported, 0 refused\n", lines, lines-cut, cut), p.stdout.String())
	require.Equal(t, lines, i.imported(t))
	require.Equal(t, 2*lines, one[int](t, i.rig, `SELECT count(*) FROM attempt_transitions`))
	require.Equal(t, lines, one[int](t, i.rig, `SELECT count(*) FROM money_movements`))
	require.Equal(t, 3*lines, one[int](t, i.rig, `SELECT count(*) FROM attempt_references`))
	require.Zero(t, one[int](t, i.rig, `SELECT count(*) FROM outbox`))

	i.chargeback(t, lines*7/10)
	began = time.Now()
	p = start(t, i.dir, nil, "verify", "--config", i.config)
	i.peaks = nil
	peaks = i.peak(p.ends(t, i.limit))
	t.Logf("verify took %.1fs; peak memory, MiB: %v", time.Since(began).Seconds(), peaks)
	require.Contains(t, p.stdout.String(), fmt.Sprintf("%d attempts agree with their logs\n", lines))
}

// importing is a file of past payments that succeeded, on its way in.
type importing struct {
	*rig
	lines             int
	dir, file, config string
	// limit is how long one process may take: a hundred times as long as on an idle machine.
	limit time.Duration
	// peaks are the peak memory of the processes, in MiB.
	peaks []int64
}

func newImporting(t *testing.T, lines int) *importing {
	t.Helper()
	i := &importing{rig: newRig(t), lines: lines, dir: t.TempDir(), limit: 10*time.Minute + time.Duration(lines)*time.Millisecond}
	i.file, i.config = filepath.Join(i.dir, "past.jsonl"), filepath.Join(i.dir, "paylatch.yaml")
	past(t, i.file, lines)
	text := fmt.Sprintf(settings, i.dsn, i.dir, secret, i.sandbox, sandboxSecret, stripeSecret, partnerSecret)
	require.NoError(t, os.WriteFile(i.config, []byte(text), 0o600))
	return i
}

func (i *importing) start(t *testing.T, flags ...string) *process {
	t.Helper()
	return start(t, i.dir, nil, append([]string{"import", "--config", i.config, "--account", "stripe-eu", i.file}, flags...)...)
}

func (i *importing) imported(t *testing.T) int {
	t.Helper()
	return one[int](t, i.rig, `SELECT count(*) FROM payment_attempts`)
}

// upTo is a file with the first lines only, whose end does not come before the test's end.
func (i *importing) upTo(t *testing.T, line int) (name string) {
	t.Helper()
	name = filepath.Join(i.dir, fmt.Sprintf("%d.jsonl", line))
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	go func() {
		from, err := os.Open(i.file)
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		to, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		in := bufio.NewReader(from)
		for range line {
			text, err := in.ReadSlice('\n')
			if err == nil {
				_, err = to.Write(text)
			}
			if err != nil {
				return // its reader was killed
			}
		}
		<-t.Context().Done()
	}()
	return name
}

// killedAt starts the import and kills it once a line is made. However late that is, it has not come to the last line.
func (i *importing) killedAt(t *testing.T, line int) {
	t.Helper()
	p := start(t, i.dir, nil, "import", "--config", i.config, "--account", "stripe-eu", i.upTo(t, line+i.lines/6))
	made := func() bool {
		return one[bool](t, i.rig, `SELECT EXISTS (SELECT FROM orders WHERE order_id = $1)`, fmt.Sprintf("P-%d", line))
	}
	require.Eventually(t, made, i.limit, 10*time.Millisecond, "line %d", line)
	i.peak(p.peakMemory())
	p.kill()
	require.Less(t, i.imported(t), i.lines, "it was killed too late")
}

// peak records the peak memory of a process, bounds it and returns all peaks so far in MiB.
func (i *importing) peak(bytes int64) []int64 {
	require.LessOrEqual(i.t, bytes, int64(importMemory))
	i.peaks = append(i.peaks, bytes>>20)
	return i.peaks
}

// chargeback takes back the money of one of the payments.
func (i *importing) chargeback(t *testing.T, line int) {
	t.Helper()
	s := i.serve()
	got := s.deliver(t.Context(), stripeSigner(t), fmt.Sprintf(`{"id":"evt_dispute","object":"event","type":"charge.dispute.funds_withdrawn",
		"created":1767000000,"livemode":false,"data":{"object":{"id":"dp_1","object":"dispute","status":"needs_response","reason":"fraudulent",
		"amount":1999,"currency":"eur","charge":"ch_%[1]d","payment_intent":"pi_%[1]d"}}}`, line))
	got.is(t, http.StatusOK)
	require.Equal(t, "applied", got.header.Get("Webhook-Result"))
	require.Equal(t, []string{fmt.Sprintf("P-%d 1999", line)}, column[string](t, i.rig, `SELECT order_id || ' ' || amount_disputed FROM payment_attempts WHERE amount_disputed > 0`))
}

// past writes a file of payments that succeeded.
func past(t *testing.T, name string, lines int) {
	t.Helper()
	f, err := os.Create(name)
	require.NoError(t, err)
	w := bufio.NewWriter(f)
	for i := range lines {
		_, err = fmt.Fprintf(w, `{"order_id":"P-%d","user_id":"u%d","provider_payment_id":"pi_%d","references":["ch_%d"],"status":"succeeded",`+
			`"amount":1999,"currency":"EUR","created_at":"2024-01-02T03:04:05Z"}`+"\n", i, i%100, i, i)
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}
