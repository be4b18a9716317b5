package watermark_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/watermark"
)

func TestAServerThatLostNothing(t *testing.T) {
	t.Parallel()
	p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
	ticks(t, d, 2, p, q)
	d.commit(p.Guard)
	d.commit(q.Guard)
	before := d
	d = d.promoted()
	require.NoError(t, p.Look(d.read))
	require.True(t, p.Held("a"), "nothing is known yet")
	require.NoError(t, p.Look(before.read))
	require.True(t, p.Held("a"), "one connection leads to the server of before, others don't")
	require.True(t, p.Looking())
	ticks(t, d, 1, p)
	require.True(t, p.Held("a"), "q has not answered")
	ticks(t, d, 1, q)
	require.False(t, q.HeldAny(), "the last to answer sees all answers")
	ticks(t, d, 1, p)
	require.False(t, p.HeldAny())
	require.False(t, p.Looking())
	require.Zero(t, d.holds)
	require.Empty(t, d.epochs, "the feed has forgotten nothing")
	for _, of := range []*process{p, q} {
		require.Equal(t, [2]int{1, 1}, [2]int{of.asked, of.well})
		require.Empty(t, of.why)
	}
	ticks(t, d, 2, p, q)
	require.Zero(t, d.holds, "and it stays so")
}

func TestAServerThatLostACommit(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(d *database, p, q *process){
		"a webhook":                 func(d *database, p, _ *process) { d.backup().commit(p.Guard) },
		"an earlier one than kept":  func(d *database, p, _ *process) { d.backup().commit(p.Guard); d.commit(p.Guard) },
		"of the other":              func(d *database, _, q *process) { d.backup().commit(q.Guard) },
		"and the process is killed": func(d *database, p, _ *process) { d.backup().commit(p.Guard); watermark.Kill(p.Guard) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
			ticks(t, d, 2, p, q)
			d.commit(p.Guard)
			lose(d, p, q)
			d = d.promoted()
			p.start(t)
			ticks(t, d, 3, p, q)
			require.Equal(t, 1, d.holds)
			require.Len(t, d.epochs, 1)
			require.Equal(t, watermark.OtherServer, d.reason)
			require.True(t, p.HeldAny())
			require.True(t, q.HeldAny())
			require.Contains(t, append(p.why, q.why...)[0], "lost: webhook")
			d.held = nil // reconciled
			ticks(t, d, 2, p, q)
			require.False(t, p.HeldAny())
			require.Equal(t, 1, d.holds)
		})
	}
}

// A process that writes only its heartbeat notices by it that the database lost commits.
func TestAServerThatLostASecond(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 1, p)
	standby := d.promoted()
	ticks(t, d, 1, p)
	standby.mark.Count = d.mark.Count // the mark would show it by itself
	ticks(t, standby, 2, p)
	require.Equal(t, 1, standby.holds)
	require.Contains(t, p.why[0], "lost: beat")
}

// Commits of the new server don't stand for those of the old one.
func TestACommitOnTheNewServerShowsNothing(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 2, p)
	d.backup().commit(p.Guard)
	d = d.promoted()
	d.commit(p.Guard) // a webhook, before the first tick
	ticks(t, d, 1, p)
	require.Equal(t, 1, d.holds)
}

// The heartbeat that was meant for the old server may arrive at the new one.
func TestAHeartbeatOnTheNewServerShowsNothing(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 2, p)
	d.backup().commit(p.Guard)
	lost := d.promoted()
	require.NoError(t, p.Tick(t.Context(), between{d, lost}))
	ticks(t, lost, 1, p)
	require.Equal(t, 1, lost.holds)
}

// between is a database whose server changes after it was read.
type between struct {
	*database

	next *database
}

func (b between) Beat(ctx context.Context, of watermark.Process, server string) (time.Time, error) {
	return b.next.Beat(ctx, of, server)
}

func (b between) RaiseMark(ctx context.Context, above int64) (watermark.Mark, error) {
	return b.next.RaiseMark(ctx, above)
}

func TestASilentProcess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ends func(t *testing.T, d *database, q *process)
		hold bool
	}{
		"was killed": {ends: func(_ *testing.T, _ *database, q *process) { watermark.Kill(q.Guard) }, hold: true},
		"ended in order": {ends: func(t *testing.T, d *database, q *process) {
			t.Helper()
			require.NoError(t, q.Leave(t.Context(), d))
		}},
		"was killed long ago": {ends: func(_ *testing.T, d *database, q *process) {
			watermark.Kill(q.Guard)
			d.clock = d.clock.Add(watermark.Alive + time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
			ticks(t, d, 1, p, q)
			tc.ends(t, d, q)
			ticks(t, d, 1, p)
			d = d.promoted()
			ticks(t, d, 2, p)
			require.Zero(t, d.holds, "not at once")
			p.now = p.now.Add(watermark.Patience)
			ticks(t, d, 1, p)
			require.Equal(t, tc.hold, d.holds == 1)
			require.Equal(t, tc.hold, p.HeldAny())
			if !tc.hold {
				return
			}
			require.Equal(t, []string{"no answer from q"}, p.why)
			d.held = nil // reconciled
			ticks(t, d, 2, p)
			require.Equal(t, 1, d.holds, "q is not waited for again")
			begins := newProcess(t, "new")
			require.NoError(t, begins.Look(d.read))
			require.False(t, begins.HeldAny(), "nor by a process that begins now")
			q.start(t)
			ticks(t, d, 2, q, p)
			require.Equal(t, 1, d.holds, "nor does q hold what was reconciled")
		})
	}
}

// A process that was killed answers by its file, also to a process that waits for it.
func TestAKilledProcessAnswersByItsFile(t *testing.T) {
	t.Parallel()
	p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
	ticks(t, d, 2, p, q)
	d.commit(q.Guard)
	watermark.Kill(q.Guard)
	d = d.promoted()
	ticks(t, d, 2, p)
	require.True(t, p.Looking())
	q.start(t)
	ticks(t, d, 1, q)
	require.False(t, q.HeldAny())
	ticks(t, d, 1, p)
	require.False(t, p.HeldAny())
	require.Zero(t, d.holds)
}

// The process that starts again in the middle of the change goes on to wait for the others.
func TestAProcessThatAnsweredAndWasKilled(t *testing.T) {
	t.Parallel()
	p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
	ticks(t, d, 2, p, q)
	d = d.promoted()
	ticks(t, d, 2, p)
	p.start(t)
	require.NoError(t, p.Look(d.read))
	require.True(t, p.HeldAny(), "q has not answered")
	ticks(t, d, 1, q, p)
	require.False(t, p.HeldAny())
	require.Zero(t, d.holds)
}

// Without files there is nothing to answer by.
func TestAProcessWithoutItsFile(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 2, p)
	require.NoError(t, os.Remove(filepath.Join(p.o.Dir, "last-commits-0")))
	d = d.promoted()
	p.start(t)
	ticks(t, d, 1, p)
	require.Equal(t, 1, d.holds)
	require.Contains(t, p.why[0], "no commits are stored in the data_dir of p")
}

// A process that knows nothing of the database begins while another one's answer is missing.
func TestAProcessThatBeginsInTheMiddleOfAChange(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 2, p)
	d = d.promoted()
	begins := newProcess(t, "new")
	require.NoError(t, begins.Look(d.read))
	require.True(t, begins.Looking())
	ticks(t, d, 1, begins)
	require.True(t, begins.Looking())
	ticks(t, d, 1, p, begins)
	require.False(t, begins.HeldAny())
	require.Zero(t, d.holds)
}

func TestACrashOfTheMachine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ends func(t *testing.T, p *process, d *database)
		hold bool
	}{
		"under load":   {ends: func(_ *testing.T, p *process, _ *database) { watermark.Kill(p.Guard) }, hold: true},
		"after an end": {ends: func(t *testing.T, p *process, d *database) { t.Helper(); require.NoError(t, p.Leave(t.Context(), d)) }},
		"long before": {ends: func(t *testing.T, p *process, d *database) {
			t.Helper()
			watermark.Kill(p.Guard)
			d.clock = d.clock.Add(watermark.Alive + time.Second)
			ticks(t, d, 1, newProcess(t, "q"))
		}},
		"twice":            {ends: func(t *testing.T, p *process, _ *database) { t.Helper(); p.o.Boot = "2"; p.start(t) }, hold: true},
		"and back in time": {ends: func(t *testing.T, p *process, d *database) { t.Helper(); p.o.Boot = "2"; p.start(t); ticks(t, d, 2, p) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, d := newProcess(t, "p"), fresh()
			ticks(t, d, 2, p)
			tc.ends(t, p, d)
			p.o.Boot = "2"
			p.start(t)
			d = d.promoted()
			ticks(t, d, 2, p)
			require.Equal(t, tc.hold, slices.ContainsFunc(p.why, func(why string) bool { return strings.Contains(why, "crashed shortly before") }), p.why)
		})
	}
}

// Processes that share a directory have files of their own.
func TestTwoProcessesInOneDirectory(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	q := newProcess(t, "q")
	q.o.Dir = p.o.Dir
	q.start(t)
	ticks(t, d, 2, p, q)
	require.Len(t, d.processes, 2)
	d.backup().commit(q.Guard)
	watermark.Kill(q.Guard)
	d = d.promoted()
	ticks(t, d, 2, p)
	require.True(t, p.Looking())
	q.start(t)
	ticks(t, d, 1, q, p)
	require.Equal(t, 1, d.holds)
	require.True(t, p.HeldAny())
}

// The others did not wait for a process that was not alive. It holds pays all the same if its commits are lost.
func TestALossThatIsFoundLate(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	q := newProcess(t, "q")
	q.o.Dir = p.o.Dir
	q.start(t)
	ticks(t, d, 2, p, q)
	d.backup().commit(q.Guard)
	watermark.Kill(q.Guard)
	d.clock = d.clock.Add(watermark.Alive + time.Second)
	ticks(t, d, 1, p)
	d = d.promoted()
	ticks(t, d, 2, p)
	require.False(t, p.HeldAny())
	q.start(t)
	ticks(t, d, 1, q, p)
	require.Equal(t, 1, d.holds)
	require.True(t, p.HeldAny())
}

// A process whose directory takes no file answers as long as it lives.
func TestADirectoryWithoutFiles(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	q := newProcess(t, "q")
	q.o.Dir = t.TempDir()
	for n := range 64 {
		require.NoError(t, os.Mkdir(filepath.Join(q.o.Dir, fmt.Sprintf("last-commits-%d", n)), 0o700))
	}
	q.start(t)
	for range 2 {
		require.ErrorContains(t, q.Tick(t.Context(), d), "keep the last commits")
		ticks(t, d, 1, p)
	}
	d.commit(q.Guard)
	d = d.promoted()
	ticks(t, d, 1, p)
	require.True(t, p.Looking())
	require.Error(t, q.Tick(t.Context(), d))
	ticks(t, d, 1, p)
	require.False(t, p.HeldAny())
	require.False(t, q.HeldAny())
	d.backup().commit(q.Guard)
	d.mark.Server = "1/00000003"
	require.Error(t, q.Tick(t.Context(), d))
	require.True(t, q.HeldAny())
}

func TestCommitsAreRememberedUntilASignOfLifeFollows(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(p.o.Dir, "last-commits-0"))
		require.NoError(t, err)
		return info.Size()
	}
	ticks(t, d, 2, p)
	begun := size()
	for range 10 {
		for range 50 {
			d.commit(p.Guard)
		}
		ticks(t, d, 2, p)
	}
	require.Equal(t, begun, size(), "places are used again")
	d.commits = nil // older ones are not asked for
	d.commit(p.Guard)
	d = d.promoted()
	ticks(t, d, 2, p)
	require.Zero(t, d.holds)
}

func TestAnOrderWithTheLongestIDIsRemembered(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	ticks(t, d, 2, p)
	long := make([]byte, 128)
	for i := range long {
		long[i] = '<'
	}
	p.Acknowledged(watermark.Commit{
		Kind: watermark.CommitVersion, Order: string(long), ID: uuid.New(), Number: 1 << 30, Operation: "complete", Fence: 1 << 60, At: epoch.Add(time.Microsecond),
	})
	p.start(t)
	d = d.promoted()
	ticks(t, d, 1, p)
	require.Equal(t, 1, d.holds)
}

func BenchmarkAcknowledged(b *testing.B) {
	g, err := watermark.New(watermark.Options{Dir: b.TempDir(), Name: "p", Now: time.Now})
	require.NoError(b, err)
	d := fresh()
	c := watermark.Commit{Kind: watermark.CommitBegun, ID: uuid.New(), Operation: "charge", At: epoch}
	for i := 0; b.Loop(); i++ {
		if g.Acknowledged(c); i%1000 == 0 {
			require.NoError(b, g.Tick(b.Context(), d))
		}
	}
}
