package e2e_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
)

// full is the kind of fault that needs a filesystem of PostgreSQL's own.
const full = "PostgreSQL's disk is full"

// refusedByDisk counts what the full disk did.
const refusedByDisk = "writes refused by PostgreSQL with disk_full"

// inMemory is how long a run may be whose database is in memory, and roomy the most that each server may take of it.
const inMemory, roomy = 60, "4g"

// disks are the filesystems of the servers. They are gone with the process, also if it is interrupted.
type disks struct {
	mu   sync.Mutex
	dirs []string
}

// newDisks returns nil if the faults can't have filesystems.
func newDisks(t *testing.T) *disks {
	t.Helper()
	switch {
	case os.Geteuid() != 0:
		t.Logf("not in this run: %s: only root can mount a filesystem of its own", full)
		return nil
	case *proveMinutes > inMemory:
		t.Logf("not in this run: %s: the filesystem is in memory, and this run is longer than %d minutes", full, inMemory)
		return nil
	}
	d := &disks{}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, open := <-interrupted; open {
			d.release()
			os.Exit(130)
		}
	}()
	t.Cleanup(func() {
		signal.Stop(interrupted)
		close(interrupted)
		d.release()
	})
	return d
}

func (d *disks) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, dir := range d.dirs {
		_ = exec.Command("umount", "-l", dir).Run()
	}
	d.dirs = nil
}

// move puts a server's files on a filesystem of their own. If the machine allows no mount, they stay.
func (d *disks) move(t *testing.T, pg *devpg.Server) (moved *devpg.Server, ok bool) {
	t.Helper()
	require.NoError(t, pg.Stop())
	dir, kept := pg.Dir(), pg.Dir()+".moved"
	copyFiles(t, dir, kept)
	t.Cleanup(func() { _ = os.RemoveAll(kept) })
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "mode=0711,size="+roomy, "paylatch-prove", dir).CombinedOutput()
	if err != nil {
		t.Logf("not in this run: %s: %v: %s", full, err, out)
		return startServer(t, dir), false
	}
	d.mu.Lock()
	d.dirs = append(d.dirs, dir)
	d.mu.Unlock()
	copyFiles(t, kept+"/.", dir)
	owned(t, kept, dir)
	require.NoError(t, os.RemoveAll(kept))
	return startServer(t, dir), true
}

// ownDisks moves both servers.
func (p *proof) ownDisks(t *testing.T) {
	t.Helper()
	if p.disks = newDisks(t); p.disks == nil {
		return
	}
	standby, ok := p.disks.move(t, p.pair.standby)
	p.pair.standby = standby
	if !ok {
		p.disks = nil
		return
	}
	primary, ok := p.disks.move(t, p.pg)
	require.True(t, ok)
	p.servedBy(primary)
}

// fillDisk leaves PostgreSQL no free block. Its log has some segments in reserve.
func (p *proof) fillDisk(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	on := p.pg
	p.shrink(t, on.Dir())
	p.writesIntoFull(t, on)
	return func() {
		out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size="+roomy, on.Dir()).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// shrink makes a filesystem as small as what is in it. Files may grow meanwhile.
func (p *proof) shrink(t *testing.T, dir string) {
	t.Helper()
	eventually(t, "a full disk", func() bool {
		var s syscall.Statfs_t
		require.NoError(t, syscall.Statfs(dir, &s))
		used := (s.Blocks - s.Bfree) * uint64(s.Bsize)
		return exec.CommandContext(t.Context(), "mount", "-o", "remount,size="+strconv.FormatUint(used, 10), dir).Run() == nil
	})
}

// writesIntoFull shows that the disk is full.
func (p *proof) writesIntoFull(t *testing.T, on *devpg.Server) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), on.DSN("postgres"))
	if err != nil {
		return // it has ended already
	}
	defer func() { _ = c.Close(t.Context()) }()
	_, err = c.Exec(t.Context(), "CREATE TEMP TABLE filler AS SELECT repeat(n::text, 1000) FROM generate_series(1, 10000) n")
	if of := (*pgconn.PgError)(nil); errors.As(err, &of) && of.Code == "53100" {
		p.history.count(refusedByDisk)
	}
}

// reviveDead starts PostgreSQL again after it has ended by itself, as a supervisor does.
func (p *proof) reviveDead(t *testing.T) {
	t.Helper()
	select {
	case <-p.pg.Done():
		_ = p.pg.Stop() // gives the directory back
		p.history.note("started again", "PostgreSQL", "")
		p.servedBy(revive(t, p.pg))
	default:
	}
}
