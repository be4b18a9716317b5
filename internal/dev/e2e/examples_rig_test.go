package e2e_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// program is one of the examples: how to start it, or why it can't be started here.
type program struct {
	name    string
	command []string
	missing string
}

// examples prepares the programs of examples/.
func examples(t *testing.T) []program {
	t.Helper()
	goShop := filepath.Join(t.TempDir(), "go-shop")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", goShop, "github.com/paylatch/paylatch/examples/go-shop")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	node := program{name: "node"}
	node.command, node.missing = nodeShop(t)
	return []program{{name: "go", command: []string{goShop}}, node}
}

// nodeShop installs the dependencies of the shop in Node, in a copy outside the tree, beside a copy of the client that it names.
func nodeShop(t *testing.T) (command []string, missing string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "there is no node to run the shop with"
	}
	if exec.CommandContext(t.Context(), node, "-e", "process.exit(AbortSignal.any ? 0 : 1)").Run() != nil {
		return nil, "the shop needs node 20.3 or newer"
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return nil, "there is no npm to install what the shop needs"
	}
	root := t.TempDir()
	dir := filepath.Join(root, "examples", "node-shop")
	for from, to := range map[string]string{"examples/node-shop": dir, "sdk/js": filepath.Join(root, "sdk", "js")} {
		require.NoError(t, os.CopyFS(to, os.DirFS("../../../"+from)))
		require.NoError(t, os.RemoveAll(filepath.Join(to, "node_modules")))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--prefer-offline")
	install.Dir, install.WaitDelay = dir, time.Second
	out, err := install.CombinedOutput()
	if ctx.Err() != nil || regexp.MustCompile(`ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH`).Match(out) {
		return nil, "npm can't fetch what the shop needs"
	}
	require.NoError(t, err, "%s", out)
	return []string{node, filepath.Join(dir, "main.js")}, ""
}

// shopSecrets are the secrets of the endpoint: the new one, and the old one.
const shopSecrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// shop is an example with a database of its own.
type shop struct {
	*process
	program

	db      *pgxpool.Pool
	address string
	environ []string
}

// newShop makes the database of a shop by the schema of the example. The shop is not started.
func newShop(t *testing.T, p program, environ ...string) *shop {
	t.Helper()
	dsn := emptyDatabase(t)
	s := &shop{program: p, address: testdb.Address(t)}
	s.environ = append(environ, "SHOP_DATABASE_URL="+dsn, "SHOP_SECRETS="+shopSecrets, "SHOP_LISTEN="+s.address)
	var err error
	s.db, err = pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(s.db.Close)
	schema, err := os.ReadFile("../../../examples/" + p.name + "-shop/schema.sql")
	require.NoError(t, err)
	_, err = s.db.Exec(t.Context(), string(schema))
	require.NoError(t, err)
	return s
}

// launch starts the shop, for the first time or after it was killed.
func (s *shop) launch(t *testing.T) {
	t.Helper()
	s.process = startOf(t, s.command[0], t.TempDir(), s.environ, s.command[1:]...)
}

// listens waits until the shop takes deliveries.
func (s *shop) listens(t *testing.T) {
	t.Helper()
	eventually(t, "the shop takes deliveries", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// pieces returns the number of pieces in stock.
func (s *shop) pieces(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT pieces FROM stock WHERE sku = 'ticket'`).Scan(&n))
	return n
}

// messages are the ids of the events that the shop acted on.
func (s *shop) messages(t *testing.T) []string {
	t.Helper()
	return s.column(t, `SELECT message_id FROM processed_messages ORDER BY 1`)
}

// column reads the first column of a query of the shop's database.
func (s *shop) column(t *testing.T, query string) []string {
	t.Helper()
	rows, err := s.db.Query(t.Context(), query)
	require.NoError(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return values
}

// killedWhileActing kills the shop in the middle of transactions that were begun while during ran: they wait for the stock, with all else
// written.
func (s *shop) killedWhileActing(t *testing.T, during func()) {
	t.Helper()
	tx, err := testdb.Connect(t, s.db.Config().ConnString()).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM stock FOR NO KEY UPDATE`)
	require.NoError(t, err)
	during()
	eventually(t, "a transaction waits for the stock", func() bool {
		var waiting int
		err := s.db.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
			AND query LIKE 'UPDATE stock%'`).Scan(&waiting)
		require.NoError(t, err)
		return waiting > 0
	})
	s.kill()
	rollback(t, tx)
}
