package main

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"math"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadPgbench(t *testing.T) {
	t.Parallel()
	const progress = "progress: 1.0 s, 100.0 tps, lat 1.2 ms stddev 0.9, 0 failed\nprogress: 2.0 s, 400.0 tps, lat\nprogress: 4.0 s, 550.0 tps, lat\n"
	result, err := readPgbench([]byte(progress + "number of transactions actually processed: 1600\nnumber of failed transactions: 0 (0.000%)\n"))
	require.NoError(t, err)
	require.Equal(t, pgbenchResult{rate: 500, done: 1600, warm: 1500}, result)

	for _, said := range []string{
		progress + "number of transactions actually processed: 9\nnumber of failed transactions: 1 (11%)\n",
		"progress: 1.0 s, 100.0 tps\nnumber of transactions actually processed: 100\n",
		progress,
	} {
		_, err = readPgbench([]byte(said))
		require.ErrorIs(t, err, errPgbench)
	}
}

// TestLiteralsNameNoVariables searches the literals for texts that pgbench would replace, since pgbench does not know where a
// literal begins.
func TestLiteralsNameNoVariables(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(scripts, "sql/*.sql")
	require.NoError(t, err)
	require.Greater(t, len(names), 5)
	for _, name := range names {
		text, err := fs.ReadFile(scripts, name)
		require.NoError(t, err)
		for _, literal := range regexp.MustCompile(`'[^']*'`).FindAllString(string(text), -1) {
			require.NotRegexp(t, `:[A-Za-z_]`, literal, name)
		}
	}
}

func TestWhatPgbenchUsesBeforeItIsWarmIsLeftOut(t *testing.T) {
	t.Parallel()
	calls := 0
	o := &pgbenchOutput{warmed: func() error { calls++; return nil }}
	for i, said := range []string{"starting\npro", "gress: 1.0 s, 5.0 tps\n", "progress: 2.0 s, 5.0 tps\n"} {
		_, err := io.Copy(o, strings.NewReader(said)) // as from a process
		require.NoError(t, err)
		require.Equal(t, min(i, 1), calls)
		require.Equal(t, i == 0, o.since.IsZero())
	}
	require.Equal(t, 3*time.Second, pgbenchTime(2500*time.Millisecond))
	require.Equal(t, 3*time.Second, pgbenchTime(500*time.Millisecond))
}

func TestReadPgbenchLogs(t *testing.T) {
	t.Parallel()
	latency, err := readPgbenchLogs(fstest.MapFS{
		"log.7":   {Data: []byte("0 7 9500 0 1411985 90000\n0 1 1500 0 1411985 110823\n3 2 4000 0 1411985 110900\n")},
		"log.7.1": {Data: []byte("1 9 2000 0 1411985 120000\n")},
	}, time.Unix(1411985, 100_000_000))
	require.NoError(t, err)
	require.Equal(t, int64(3), latency.TotalCount())
	require.InDelta(t, 2, millis(latency, 50), 0.05)
	require.InDelta(t, 4, millis(latency, 99), 0.05)

	_, err = readPgbenchLogs(fstest.MapFS{"log.7": {Data: []byte("0 1 failed 0 1411985 110823\n")}}, time.Time{})
	require.ErrorIs(t, err, errPgbench)
}

func TestMedianAndRatio(t *testing.T) {
	t.Parallel()
	f := figures{}
	for _, v := range []float64{30, 10, 20} {
		f.add(ourHooks, 64, rate, v)
		f.add(pgTransaction, 64, rate, 10)
	}
	require.InDelta(t, 20, f.median(ourHooks, 64, rate), 0)
	require.InDelta(t, 2, f.ratio(ourHooks, 64, pgTransaction, 64), 0)
	ratios := f.ratios(figure{ourHooks, 64, rate}, figure{pgTransaction, 64, rate})
	require.Equal(t, []float64{3, 1, 2}, ratios)
	require.Equal(t, "1.00–3.00", spread(ratios))
	require.Equal(t, "–", spread(nil))
	require.True(t, math.IsNaN(f.median(ourHooks, 1, rate)))
	require.Equal(t, "–", number(math.NaN()))
	require.Equal(t, "12,345", number(12_345))
}

func TestAWireReadsWholeAnswers(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	w := &wire{conn: here, in: bufio.NewReader(here)}
	t.Cleanup(w.close)
	go func() {
		buffer := make([]byte, 64)
		for _, text := range []string{
			"HTTP/1.1 200 OK\r\nWebhook-Result: applied\r\nContent-Length: 2\r\n\r\nok",
			"HTTP/1.1 201 Created\r\nIdempotency-Result: reused\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
			"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		} {
			_, _ = there.Read(buffer)
			_, _ = there.Write([]byte(text))
		}
	}()
	for _, want := range []answer{{200, applied}, {201, reused}, {503, ""}} {
		got, err := w.do([]byte("GET / HTTP/1.1\r\n\r\n"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestHooksRepeatAShare(t *testing.T) {
	t.Parallel()
	shots, err := hooks("127.0.0.1:1", atRandom, 100, 2000, 0.3)
	require.NoError(t, err)
	distinct := map[int]bool{}
	for _, s := range shots {
		distinct[s.of] = true
	}
	require.Len(t, shots, 2000)
	require.InDelta(t, 1400, len(distinct), 120)
	require.True(t, distinct[100])
}

func TestTreeTimeCountsThisProcess(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc here")
	}
	parent, _ := readStat(os.Getpid())
	require.Equal(t, os.Getppid(), parent)
	require.Eventually(t, func() bool { return treeTime(os.Getpid()) > 0 }, time.Minute, time.Millisecond, "looking takes time, too")
}

func TestTheStubTakesEveryCharge(t *testing.T) {
	t.Parallel()
	s, err := newStub(context.Background())
	require.NoError(t, err)
	t.Cleanup(s.close)
	w, err := dial(context.Background(), s.url[len("http://"):])
	require.NoError(t, err)
	t.Cleanup(w.close)
	got, err := w.do(request("POST", "/v1/charges", "stub", `{"amount":5,"currency":"EUR"}`, "Idempotency-Key", "k"))
	require.NoError(t, err)
	require.Equal(t, 201, got.status)
	require.EqualValues(t, 1, s.charges.Load())
}

func TestTheFirstSecondDoesNotCount(t *testing.T) {
	t.Parallel()
	s, err := newStub(context.Background())
	require.NoError(t, err)
	t.Cleanup(s.close)
	charge := request("POST", "/v1/charges", "stub", `{"amount":5,"currency":"EUR"}`, "Idempotency-Key", "k")
	tally, err := closed(t.Context(), s.url[len("http://"):], 2, 200*time.Millisecond, repeat([]shot{{charge, 0}}, 1_000_000))
	require.NoError(t, err)
	require.EqualValues(t, tally.sent(), s.charges.Load())
	counted := tally.latency.TotalCount()
	require.Positive(t, counted)
	require.Less(t, counted, int64(tally.sent())/2, "of a window of a fifth of a second")
	rate, err := tally.rate()
	require.NoError(t, err)
	require.InEpsilon(t, float64(counted)/(tally.elapsed-time.Second).Seconds(), rate, 0.001)

	tally, err = closed(t.Context(), s.url[len("http://"):], 2, 200*time.Millisecond, repeat([]shot{{charge, 0}}, 10))
	require.NoError(t, err)
	require.Equal(t, 10, tally.sent())
	_, err = tally.rate()
	require.ErrorIs(t, err, errTooFew)
}
