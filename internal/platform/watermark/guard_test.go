package watermark_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/watermark"
)

// database is a store that can be copied and restored.
type database struct {
	mark    watermark.Mark
	held    []string
	since   time.Time
	reason  watermark.Reason
	holds   int
	failing error
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func fresh() *database {
	return &database{mark: watermark.Mark{Database: uuid.New(), Server: "1/00000001", Count: 1, At: epoch}}
}

func (d *database) ReadMark(context.Context) (watermark.Mark, []string, error) {
	return d.mark, d.held, d.failing
}

func (d *database) RaiseMark(_ context.Context, above int64) (watermark.Mark, error) {
	d.mark.Count, d.mark.At = max(d.mark.Count, above)+1, d.mark.At.Add(watermark.Every)
	raised := d.mark
	raised.Server = ""
	return raised, d.failing
}

func (d *database) HoldPays(_ context.Context, accounts []string, since time.Time, reason watermark.Reason) error {
	d.held, d.since, d.reason, d.holds, d.mark.Noticed = accounts, since, reason, d.holds+1, d.mark.At.Add(time.Millisecond)
	return d.failing
}

func (d *database) read() (watermark.Mark, []string, error) { return d.mark, d.held, d.failing }

func guard(t *testing.T, dir string, live bool) *watermark.Guard {
	t.Helper()
	g, err := watermark.New(watermark.Options{Dir: dir, Accounts: []string{"a", "b"}, Live: live})
	require.NoError(t, err)
	return g
}

func TestARestoredDatabaseIsHeldFromItsFirstConnection(t *testing.T) {
	t.Parallel()
	otherServer := func(d *database) { d.mark.Server = "1/00000002" }
	for name, tc := range map[string]struct {
		restore func(now, backup *database)
		live    bool
		reason  watermark.Reason
	}{
		"the same":                    {restore: func(*database, *database) {}},
		"yesterday's backup":          {restore: func(now, backup *database) { *now = *backup }, reason: watermark.MarkBehind},
		"to the last byte, elsewhere": {restore: func(now, _ *database) { otherServer(now) }, reason: watermark.OtherServer},
		"a backup on another server":  {restore: func(now, backup *database) { *now = *backup; otherServer(now) }, reason: watermark.MarkBehind},
		"an empty one, live":          {restore: func(now, _ *database) { *now = *fresh() }, live: true, reason: watermark.OtherDatabase},
		"an empty one, for tests":     {restore: func(now, _ *database) { *now = *fresh() }},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", the process started anew"}[restarted], func(t *testing.T) {
				t.Parallel()
				dir, d := t.TempDir(), fresh()
				g := guard(t, dir, tc.live)
				require.NoError(t, g.Tick(t.Context(), d))
				backup := *d
				require.NoError(t, g.Tick(t.Context(), d))
				require.NoError(t, g.Tick(t.Context(), d))
				require.False(t, g.Held("a"))

				tc.restore(d, &backup)
				from := d.mark.At
				if restarted {
					g = guard(t, dir, tc.live)
				}
				require.NoError(t, g.Look(d.read))
				require.Equal(t, tc.reason != "", g.Held("a"), "before anything is written")
				require.NoError(t, g.Tick(t.Context(), d))
				require.Equal(t, tc.reason, d.reason)
				require.Equal(t, tc.reason != "", g.Held("b"))
				require.Equal(t, tc.reason != "", len(g.All()) == 2)
				if tc.reason == "" {
					return
				}
				require.Equal(t, from, d.since)
				for range 2 {
					require.NoError(t, g.Tick(t.Context(), d))
				}
				require.Equal(t, 1, d.holds, "once")
				d.held = []string{"b"} // a was reconciled
				require.NoError(t, g.Tick(t.Context(), d))
				require.False(t, g.Held("a"))
				require.True(t, g.Held("b"))
				require.NoError(t, guard(t, dir, tc.live).Tick(t.Context(), d))
				require.Equal(t, 1, d.holds, "a later process has nothing to find")
			})
		}
	}
}

func TestAHoldIsWrittenOnceTheDatabaseTakesIt(t *testing.T) {
	t.Parallel()
	d := fresh()
	g := guard(t, t.TempDir(), true)
	require.NoError(t, g.Tick(t.Context(), d))
	backup := *d
	require.NoError(t, g.Tick(t.Context(), d))
	*d = backup
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
	d, away := fresh(), t.TempDir()
	require.NoError(t, guard(t, away, true).Tick(t.Context(), d))
	g := guard(t, t.TempDir(), true)
	require.NoError(t, g.Tick(t.Context(), d))
	d.mark.Server = "1/00000002"
	require.NoError(t, g.Tick(t.Context(), d))
	require.Equal(t, 1, d.holds)
	d.held = nil // reconciled
	back := guard(t, away, true)
	require.NoError(t, back.Look(d.read))
	require.False(t, back.Held("a"))
	require.NoError(t, back.Tick(t.Context(), d))
	require.Equal(t, 1, d.holds)
}

// A process that has seen nothing raises the mark of the restored database first. A process that has seen the mark rise in the
// lost time still holds the accounts, from the time of the backup on.
func TestARestoreThatAnotherProcessCovers(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]bool{"restored": false, "only stopped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := fresh()
			g := guard(t, t.TempDir(), true)
			require.NoError(t, g.Tick(t.Context(), d))
			backup := d.mark
			if !down {
				require.NoError(t, g.Tick(t.Context(), d))
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
	d := fresh()
	d.held = []string{"gone"}
	g := guard(t, t.TempDir(), true)
	require.NoError(t, g.Look(d.read))
	require.False(t, g.HeldAny())
}

func TestAMarkThatRisesWhileAConnectionIsMadeIsNotBehind(t *testing.T) {
	t.Parallel()
	d := fresh()
	g := guard(t, t.TempDir(), true)
	require.NoError(t, g.Tick(t.Context(), d))
	require.NoError(t, g.Look(func() (watermark.Mark, []string, error) {
		early := d.mark
		err := g.Tick(t.Context(), d)
		return early, nil, err
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
		require.NoError(t, guard(t, dir, true).Tick(t.Context(), fresh()))
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
	})
}
