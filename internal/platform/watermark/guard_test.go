package watermark_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/watermark"
)

// database is a store that can be copied and restored. It follows the statements of queries/service_marks.sql.
type database struct {
	mark      watermark.Mark
	clock     time.Time
	processes map[uuid.UUID]row
	commits   []watermark.Commit
	held      []string
	crashed   time.Time
	waits     bool
	since     time.Time
	reason    watermark.Reason
	holds     int
	epochs    []time.Time // when they began
	failing   error
}

// row is a process in the database.
type row struct {
	name, server string
	beat, before time.Time
	left         bool
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fresh() *database {
	return &database{mark: watermark.Mark{Database: uuid.New(), Server: "1/00000001", Count: 1, At: epoch}, clock: epoch, processes: map[uuid.UUID]row{}}
}

// backup is the database as it is now.
func (d *database) backup() *database {
	c := *d
	c.epochs = slices.Clone(d.epochs)
	c.processes, c.commits = maps.Clone(d.processes), slices.Clone(d.commits)
	return &c
}

// promoted is a database on another server.
func (d *database) promoted() *database {
	c := d.backup()
	c.mark.Server = "1/00000002"
	return c
}

func (d *database) ReadMark(_ context.Context, of uuid.UUID) (watermark.Reading, error) {
	r, err := d.read()
	r.Beat = d.processes[of].beat
	return r, err
}

func (d *database) read() (watermark.Reading, error) {
	r := watermark.Reading{Mark: d.mark, Held: d.held, Started: epoch, Crashed: d.crashed, Waits: d.waits}
	var last time.Time
	for _, p := range d.processes {
		if at := p.lastOn(d.mark.Server); at.After(last) {
			last = at
		}
	}
	for id, p := range d.processes {
		if p.server != d.mark.Server && !p.left && p.beat.After(last.Add(-watermark.Alive)) {
			r.Silent = append(r.Silent, watermark.Process{ID: id, Name: p.name, Recent: true})
		}
	}
	return r, d.failing
}

// lastOn is when the process lived last before it came to a server.
func (p row) lastOn(server string) time.Time {
	if p.server == server {
		return p.before
	}
	return p.beat
}

func (d *database) RaiseMark(_ context.Context, above int64) (watermark.Mark, error) {
	d.mark.Count, d.mark.At = max(d.mark.Count, above)+1, d.mark.At.Add(watermark.Every)
	raised := d.mark
	raised.Server = ""
	return raised, d.failing
}

func (d *database) BeginEpoch(_ context.Context, _, seen time.Time) error {
	if !slices.ContainsFunc(d.epochs, func(begun time.Time) bool { return begun.After(seen) }) {
		d.epochs = append(d.epochs, d.mark.At.Add(time.Millisecond))
	}
	return d.failing
}

func (d *database) HoldPays(_ context.Context, accounts []string, since time.Time, reason watermark.Reason) error {
	d.held, d.since, d.reason, d.holds, d.mark.Noticed = accounts, since, reason, d.holds+1, d.mark.At.Add(time.Millisecond)
	return d.failing
}

func (d *database) Lost(_ context.Context, server string, of watermark.Process, beatAt time.Time, commits []watermark.Commit) ([]string, error) {
	if server != d.mark.Server {
		return nil, errors.New("another server")
	}
	var lost []string
	if p, there := d.processes[of.ID]; !beatAt.IsZero() && (!there || p.beat.Before(beatAt)) {
		lost = append(lost, "beat")
	}
	for _, c := range commits {
		if !slices.Contains(d.commits, c) {
			lost = append(lost, c.String())
		}
	}
	return lost, d.failing
}

func (d *database) Beat(_ context.Context, of watermark.Process, server string) (time.Time, error) {
	d.clock = d.clock.Add(time.Microsecond)
	p := d.processes[of.ID]
	if p.server != server {
		p.before = p.beat
	}
	p.name, p.server, p.beat, p.left = of.Name, server, d.clock, false
	d.processes[of.ID] = p
	return p.beat, d.failing
}

func (d *database) Leave(_ context.Context, of watermark.Process) error {
	p := d.processes[of.ID]
	p.left = true
	d.processes[of.ID] = p
	return d.failing
}

func (d *database) Forget(_ context.Context, list []watermark.Process) error {
	for _, p := range list {
		delete(d.processes, p.ID)
	}
	return d.failing
}

// commit commits an event and has a process acknowledge it.
func (d *database) commit(g *watermark.Guard) {
	c := watermark.Commit{Kind: watermark.CommitEvent, ID: uuid.New()}
	d.commits = append(d.commits, c)
	g.Acknowledged(c)
}

// process is a process with its directory.
type process struct {
	*watermark.Guard

	o     watermark.Options
	now   time.Time
	asked int
	why   []string
	well  int
}

func newProcess(t *testing.T, name string) *process {
	t.Helper()
	p := &process{now: epoch}
	p.o = watermark.Options{
		Dir: t.TempDir(), Name: name, Boot: "1", Accounts: []string{"a", "b"}, Live: true, Now: func() time.Time { return p.now },
	}
	p.o.Events = watermark.Events{
		Changed: func(watermark.Reason) { p.asked++ }, Unharmed: func() { p.well++ },
		Alarm: func(_ watermark.Reason, _ time.Time, why string) { p.why = append(p.why, why) },
	}
	p.start(t)
	return p
}

// start starts the process, again on the same directory after it was killed.
func (p *process) start(t *testing.T) {
	t.Helper()
	watermark.Kill(p.Guard)
	var err error
	p.Guard, err = watermark.New(p.o)
	require.NoError(t, err)
	t.Cleanup(func() { watermark.Kill(p.Guard) })
}

// ticks has processes tick, each some times, so that each time raises the mark.
func ticks(t *testing.T, d *database, n int, all ...*process) {
	t.Helper()
	for range n {
		for _, p := range all {
			p.now = p.now.Add(watermark.Every)
			require.NoError(t, p.Tick(t.Context(), d))
		}
	}
}

func TestARestoredDatabaseIsHeldFromItsFirstConnection(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		restore func(now, backup *database)
		live    bool
		reason  watermark.Reason
	}{
		"the same":                   {restore: func(*database, *database) {}},
		"yesterday's backup":         {restore: func(now, backup *database) { *now = *backup }, reason: watermark.MarkBehind},
		"a backup on another server": {restore: func(now, backup *database) { *now = *backup.promoted() }, reason: watermark.MarkBehind},
		"an empty one, live":         {restore: func(now, _ *database) { *now = *fresh() }, live: true, reason: watermark.OtherDatabase},
		"an empty one, for tests":    {restore: func(now, _ *database) { *now = *fresh() }},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", the process started anew"}[restarted], func(t *testing.T) {
				t.Parallel()
				p, d := newProcess(t, "p"), fresh()
				p.o.Live = tc.live
				p.start(t)
				ticks(t, d, 1, p)
				backup := d.backup()
				ticks(t, d, 2, p)
				require.False(t, p.Held("a"))

				tc.restore(d, backup)
				from := d.mark.At
				if restarted {
					p.start(t)
				}
				require.NoError(t, p.Look(d.read))
				require.Equal(t, tc.reason != "", p.Held("a"), "before anything is written")
				require.Equal(t, tc.reason != "", p.Unsettled())
				ticks(t, d, 1, p)
				require.Equal(t, tc.reason, d.reason)
				require.Equal(t, tc.reason != "", p.Held("b"))
				require.Equal(t, tc.reason != "", len(d.epochs) == 1)
				require.False(t, p.Unsettled())
				require.Equal(t, tc.reason != "", len(p.All()) == 2)
				if tc.reason == "" {
					return
				}
				require.Equal(t, from, d.since)
				ticks(t, d, 2, p)
				require.Equal(t, 1, d.holds, "once")
				d.held = []string{"b"} // a was reconciled
				ticks(t, d, 1, p)
				require.False(t, p.Held("a"))
				require.True(t, p.Held("b"))
				p.start(t)
				ticks(t, d, 1, p)
				require.Equal(t, 1, d.holds, "a later process has nothing to find")
			})
		}
	}
}

func TestAHoldIsWrittenOnceTheDatabaseTakesIt(t *testing.T) {
	t.Parallel()
	g, d := newProcess(t, "p"), fresh()
	ticks(t, d, 1, g)
	backup := d.backup()
	ticks(t, d, 1, g)
	d = backup
	require.NoError(t, g.Look(d.read))
	d.failing = errors.New("read only")
	require.Error(t, g.Tick(t.Context(), d))
	require.True(t, g.Held("a"), "all the same")
	d.failing, d.holds = nil, 0
	require.NoError(t, g.Tick(t.Context(), d))
	require.Equal(t, 1, d.holds)
}

func TestAnotherProcessThatWasAwayDoesNotHoldAgain(t *testing.T) {
	t.Parallel()
	d := fresh()
	away, p := newProcess(t, "away"), newProcess(t, "p")
	ticks(t, d, 1, away, p)
	watermark.Kill(away.Guard)
	backup := d.backup()
	ticks(t, d, 1, p)
	d = backup.promoted()
	ticks(t, d, 1, p)
	require.Equal(t, 1, d.holds)
	d.held = nil // reconciled
	away.start(t)
	require.NoError(t, away.Look(d.read))
	require.False(t, away.Held("a"))
	ticks(t, d, 1, away)
	require.Equal(t, 1, d.holds)
}

// A process that has seen nothing raises the mark of the restored database first. A process that has seen the mark rise in the
// lost time still holds the accounts, from the time of the backup on.
func TestARestoreThatAnotherProcessCovers(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"restored": false, "only stopped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, d := newProcess(t, "p"), fresh()
			ticks(t, d, 1, g)
			backup := d.mark
			if !down {
				ticks(t, d, 1, g)
			}
			d.mark = backup
			d.mark.GapFrom, d.mark.At = d.mark.At, d.mark.At.Add(28*time.Hour)
			d.mark.GapTo, d.mark.Count = d.mark.At, d.mark.Count+100
			require.NoError(t, g.Tick(t.Context(), d))
			require.Equal(t, !down, g.Held("a"))
			require.Equal(t, !down, g.HeldAny())
			if !down {
				require.Equal(t, backup.At, d.since)
			}
		})
	}
}

func TestAnAccountThatIsNotConfiguredHoldsNothing(t *testing.T) {
	t.Parallel()
	g, d := newProcess(t, "p"), fresh()
	d.held = []string{"gone"}
	require.NoError(t, g.Look(d.read))
	require.False(t, g.HeldAny())
}

func TestAMarkThatRisesWhileAConnectionIsMadeIsNotBehind(t *testing.T) {
	t.Parallel()
	g, d := newProcess(t, "p"), fresh()
	ticks(t, d, 1, g)
	require.NoError(t, g.Look(func() (watermark.Reading, error) {
		early := watermark.Reading{Mark: d.mark}
		ticks(t, d, 1, g)
		return early, nil
	}))
	require.False(t, g.Held("a"))
}

func TestTheCopyOfTheMark(t *testing.T) {
	t.Parallel()
	t.Run("unreadable", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "last-known-mark.json"), []byte(`{"count":`), 0o600))
		_, err := watermark.New(watermark.Options{Dir: dir})
		require.ErrorContains(t, err, "remove it only if")
	})
	t.Run("in no other file", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "made")
		p := newProcess(t, "p")
		p.o.Dir = dir
		p.start(t)
		ticks(t, fresh(), 1, p)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 2, "and the last commits")
	})
}
