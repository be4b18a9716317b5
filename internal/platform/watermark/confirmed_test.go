package watermark_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/watermark"
)

// A read is confirmed by a fresh heartbeat that was acknowledged since the server started or crashed.
func TestConfirmed(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	d.crashed = epoch
	require.NoError(t, p.Look(d.read))
	require.True(t, p.Confirmed(), "no commit waits for a standby")
	d.waits = true
	require.NoError(t, p.Look(d.read))
	require.False(t, p.Confirmed(), "no heartbeat has been acknowledged")
	ticks(t, d, 1, p)
	require.True(t, p.Confirmed())
	p.now = p.now.Add(watermark.Fresh)
	require.False(t, p.Confirmed(), "the heartbeat is old")
	ticks(t, d, 1, p)
	require.True(t, p.Confirmed())
	d.crashed = epoch.Add(time.Hour)
	require.NoError(t, p.Look(d.read))
	require.False(t, p.Confirmed(), "the server has crashed, and shows commits that no standby has")
	ticks(t, d, 1, p)
	require.True(t, p.Confirmed())
}

// A heartbeat that began before a crash confirms nothing after it.
func TestConfirmed_crashDuringTheHeartbeat(t *testing.T) {
	t.Parallel()
	p, d := newProcess(t, "p"), fresh()
	d.crashed, d.waits = epoch, true
	ticks(t, d, 1, p)
	require.NoError(t, p.Tick(t.Context(), crashing{d, p}))
	require.False(t, p.Confirmed())
}

// crashing is a database that crashes once a heartbeat is acknowledged, and another connection is made before the process goes on.
type crashing struct {
	*database

	p *process
}

func (c crashing) Beat(ctx context.Context, of watermark.Process, server string) (time.Time, error) {
	at, err := c.database.Beat(ctx, of, server)
	c.crashed = epoch.Add(time.Hour)
	return at, errors.Join(err, c.p.Look(c.read))
}

// A server that has crashed is asked for the last commits, as another server is.
func TestACrash(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"with all commits": false, "without the last one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
			d.crashed = epoch
			ticks(t, d, 2, p, q)
			if kept := d; lost {
				kept = d.backup()
				kept.commit(p.Guard)
			} else {
				kept.commit(p.Guard)
			}
			d.crashed = epoch.Add(time.Hour)
			require.NoError(t, p.Look(d.read))
			require.True(t, p.Looking())
			p.now = p.now.Add(watermark.Beat)
			require.NoError(t, p.Tick(t.Context(), d))
			require.Equal(t, lost, p.HeldAny(), "q has nothing to answer for")
			ticks(t, d, 2, p, q)
			if !lost {
				require.Equal(t, [3]int{1, 1, 0}, [3]int{p.asked, p.well, d.holds})
				return
			}
			require.Equal(t, 1, d.holds)
			require.Equal(t, watermark.MarkBehind, d.reason)
			require.Contains(t, p.why[0], "lost: webhook")
		})
	}
}

// A server that comes back without its last seconds is noticed by the heartbeat, though its mark has not risen in them.
func TestAForgottenHeartbeat(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		p, q, d := newProcess(t, "p"), newProcess(t, "q"), fresh()
		ticks(t, d, 2, p, q)
		backup := d.backup()
		p.now = p.now.Add(watermark.Beat)
		require.NoError(t, p.Tick(t.Context(), d))
		require.Equal(t, backup.mark, d.mark, "the mark shows nothing")
		*d = *backup
		if restarted {
			p.start(t)
		}
		p.now = p.now.Add(watermark.Beat)
		require.NoError(t, p.Tick(t.Context(), d))
		require.True(t, p.HeldAny())
		require.Equal(t, watermark.MarkBehind, d.reason)
		ticks(t, d, 2, q, p)
		require.Equal(t, 1, d.holds, "the loss is noticed once")
		d.held = nil // reconciled
		ticks(t, d, 2, p, q)
		require.False(t, p.HeldAny())
	}
}
