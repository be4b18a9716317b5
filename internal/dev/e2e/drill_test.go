package e2e_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// archived is a PostgreSQL that archives its WAL in a folder, segment by segment.
type archived struct {
	*devpg.Server

	bin, wal string
}

// backupTools is the directory of PostgreSQL's programs, with pg_basebackup.
func backupTools(t *testing.T) string {
	t.Helper()
	bin, err := devpg.FindBin()
	require.NoError(t, err)
	server, err := filepath.EvalSymlinks(filepath.Join(bin, "postgres"))
	require.NoError(t, err)
	bin = filepath.Dir(server)
	if _, err := os.Stat(filepath.Join(bin, "pg_basebackup")); err != nil {
		t.Skip("there is no pg_basebackup beside the server (Debian: apt-get install postgresql-client)")
	}
	return bin
}

func newArchived(t *testing.T) *archived {
	t.Helper()
	bin := backupTools(t)
	pg := testdb.Private(t)
	a := &archived{bin: bin, wal: pg.Dir() + ".wal"}
	require.NoError(t, os.Mkdir(a.wal, 0o700))
	owned(t, filepath.Join(pg.Dir(), "data"), a.wal)
	t.Cleanup(func() { _ = os.RemoveAll(a.wal) })
	require.NoError(t, pg.Stop())
	a.start(t, pg.Dir(), map[string]string{"archive_mode": "on", "archive_command": "cp %p " + a.wal + "/%f"})
	return a
}

func (a *archived) start(t *testing.T, dir string, params map[string]string) {
	t.Helper()
	printed := &journal{}
	pg, err := devpg.Start(t.Context(), devpg.Config{Dir: dir, Params: params, Log: printed})
	require.NoError(t, err, "%s", printed)
	t.Cleanup(func() { _ = pg.Stop() })
	a.Server = pg
}

// owned gives a folder to the user of another.
func owned(t *testing.T, as, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "chown", "-R", "--reference="+as, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// backUp copies the files of the running server, as an operator does.
func (a *archived) backUp(t *testing.T) (dir string) {
	t.Helper()
	dir = a.Dir() + ".base"
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	out, err := exec.CommandContext(t.Context(), filepath.Join(a.bin, "pg_basebackup"), "--dbname="+a.DSN("postgres"), "--pgdata="+dir,
		"--checkpoint=fast", "--wal-method=none", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	owned(t, filepath.Join(a.Dir(), "data"), dir)
	return dir
}

// keepLog waits until the WAL written so far is in the folder.
func (a *archived) keepLog(t *testing.T, r *rig) {
	t.Helper()
	segment := one[string](t, r, "SELECT pg_walfile_name(pg_switch_wal())")
	eventually(t, "the segment in the archive", func() bool { _, err := os.Stat(filepath.Join(a.wal, segment)); return err == nil })
}

// restore loses the server with its disk, and puts the backup and the log in its place.
func (a *archived) restore(t *testing.T, base string) {
	t.Helper()
	dir := a.Dir()
	data := filepath.Join(dir, "data")
	crash(t, a.Server)
	require.NoError(t, os.RemoveAll(data))
	require.NoError(t, os.Rename(base, data))
	signal := filepath.Join(data, "recovery.signal")
	require.NoError(t, os.WriteFile(signal, nil, 0o600))
	owned(t, data, signal)
	a.start(t, dir, map[string]string{"restore_command": "cp " + a.wal + "/%f %p"})
}

// TestBackupAndRestoreDrill is the drill of docs/how-to/operate.md: a base backup, the WAL after it, and the loss of the disk.
// Rows in the archived WAL are restored and agree with each other. Payments after its last segment are found in the provider's
// books before any new payment.
func TestBackupAndRestoreDrill(t *testing.T) {
	t.Parallel()
	pg := newArchived(t)
	r := newRigOn(t, pg.DSN("postgres"))
	kept := "PAYLATCH_DATA_DIR=" + t.TempDir()
	s := r.serve(kept)
	c := s.customer()
	before := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	base := pg.backUp(t)
	since := c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	require.Equal(t, http.StatusCreated, c.refundFive(t.Context(), since.ID).status)
	order := c.order(t)
	pg.keepLog(t, r)
	lost := c.pay(t.Context(), order, unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	moved := len(r.movements(t))
	s.kill()

	pg.restore(t, base)
	r.db.Reset()
	eventually(t, "the end of the recovery", func() bool {
		var recovering bool
		return r.db.QueryRow(t.Context(), "SELECT pg_is_in_recovery()").Scan(&recovering) == nil && !recovering
	})
	require.ElementsMatch(t, []string{before.ID, since.ID}, column[string](t, r, "SELECT attempt_id::text FROM payment_attempts WHERE status = 'succeeded'"))
	r.verifies(t)

	s = r.serve(kept)
	c = s.bluntly(token("u1", "customer"))
	eventually(t, "an answer that no pay is needed", func() bool {
		a := c.pay(t.Context(), order, unique("pay"), "tok_success")
		if a.status != http.StatusServiceUnavailable {
			a.problem(t, http.StatusConflict, "order-already-paid")
		}
		return a.status == http.StatusConflict
	})
	require.Len(t, r.movements(t), moved, "nothing was moved twice")
	require.Equal(t, "succeeded", c.read(t.Context(), lost.ID).attempt(t, http.StatusOK).Status)
	r.reconciles(t, kept)
	r.verifies(t)
}

// reconciles has an operator compare the day with the provider's books.
func (r *rig) reconciles(t *testing.T, environ string) {
	t.Helper()
	now := time.Now().UTC()
	cmd := exec.CommandContext(t.Context(), binary, "reconcile", "--account", "sandbox", "--from", now.Add(-time.Hour).Format(time.RFC3339), "--to", now.Format(time.RFC3339))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), environ, "PAYLATCH_DATABASE_URL="+r.dsn+"&connect_timeout=60", "PAYLATCH_ENVIRONMENT=test",
		"PAYLATCH_ENCRYPTION_KEYS=[{id: e2e, key: ZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTJlZTI=}]",
		"PAYLATCH_ACCOUNTS=[{name: sandbox, kind: sandbox, base_url: \""+r.sandbox+"\", webhook_secrets: ["+sandboxSecret+"]}]")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "differs", "%s", out)
}
