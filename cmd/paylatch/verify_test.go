package main_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
)

// attempts puts so many pending attempts on disk, each of an order of its own.
func attempts(t *testing.T, dsn string, n int) {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer store.Close()
	now := time.Now().Truncate(time.Microsecond)
	require.NoError(t, store.InCommandTx(t.Context(), func(ctx context.Context, tx commands.Tx) error {
		for range n {
			id := payment.AttemptID(payment.OnlyCell.NewID())
			o := payment.Order{
				ID: payment.OrderID("A-" + id.String()), UserID: "u1", CreatedBy: payment.RoleService, RequestID: payment.RequestID(id.String()),
				Money: payment.Money{Minor: 1999, Currency: "EUR"}, CreatedAt: now,
			}
			if _, err := tx.OrderInsert(ctx, o); err != nil {
				return err
			}
			if err := tx.AttemptsInsert(ctx, []payment.Attempt{{
				ID: id, OrderID: o.ID, UserID: "u1", RequestID: o.RequestID, Account: "a", State: "requested", Money: o.Money,
				Version: 1, CreatedAt: now,
				Operations: []payment.Operation{{
					OrderID: o.ID, AttemptID: id, Kind: payment.OperationCharge, Account: "a", Origin: payment.OperationOriginRequest,
					State: "accepted", Sends: 1, Fence: 1, NextAt: &now, CreatedAt: now,
				}},
			}}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestVerify(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	attempts(t, dsn, 5)
	dir := t.TempDir()
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_DATA_DIR=" + dir}
	code, stdout, stderr := run(t, environ, "verify", "--batch", "2")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "0 entries of the audit log are chained, the last has the hash "+strings.Repeat("0", 64)+"\n5 attempts agree with their logs\n", stdout)
	require.Equal(t, "the end of the audit log is not verified: "+watermark.AuditFile(dir)+" does not exist; name a head by --head\n"+
		"2 attempts verified, 0 differences\n4 attempts verified, 0 differences\n5 attempts verified, 0 differences\n", stderr)

	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), "UPDATE payment_attempts SET version = 9 WHERE attempt_id = (SELECT attempt_id FROM payment_attempts LIMIT 1)")
	require.NoError(t, err)

	code, stdout, stderr = run(t, environ, "verify")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "the log ends with version 1, the attempt is at 9")
	require.Contains(t, stderr, "1 differences in 5 attempts")

	code, stdout, _ = run(t, environ, "verify", "--json")
	require.Equal(t, 1, code)
	var said struct {
		Attempts    int                 `json:"attempts"`
		Differences []map[string]string `json:"differences"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &said))
	require.Equal(t, 5, said.Attempts)
	require.Len(t, said.Differences, 1)
	require.Equal(t, "row_follows_log", said.Differences[0]["check"])
	require.Equal(t, "A-"+said.Differences[0]["payment_attempt_id"], said.Differences[0]["order_id"])

	code, _, _ = run(t, environ, "verify", "--batch", "0")
	require.Equal(t, 2, code)
}

// The command finds the head of the audit log that the service logged, or reports that it is missing.
func TestVerifyTheHeadOfTheAuditLog(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn}
	furnished(t, dsn)
	for range 3 {
		code, _, stderr := run(t, environ, "discrepancy", "list")
		require.Zero(t, code, stderr)
	}
	code, stdout, stderr := run(t, environ, "verify", "--json")
	require.Zero(t, code, stderr)
	var said struct {
		Audit struct {
			Entries int    `json:"entries"`
			Head    string `json:"head"`
			Broken  any    `json:"broken"`
		} `json:"audit"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &said))
	require.Equal(t, 3, said.Audit.Entries)
	require.Nil(t, said.Audit.Broken)
	head := said.Audit.Head
	code, _, stderr = run(t, environ, "verify", "--head", head)
	require.Zero(t, code, stderr)
	hash := strings.TrimPrefix(head, "3:")
	for given, want := range map[string]string{
		"4:" + hash: "the audit log is broken at entry 4: the log ends with entry 3, but it had 4 entries",
		"2:" + hash: "the log was rewritten",
	} {
		code, stdout, stderr = run(t, environ, "verify", "--head", given)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, want)
		require.Contains(t, stdout, want)
	}
	for _, given := range []string{"3", "3:", "0:" + hash, "x:" + hash, "3:" + hash[:62]} {
		code, _, stderr = run(t, environ, "verify", "--head", given)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "--head: must be ENTRIES:HASH")
	}
}

// TestVerifyMissesTheAuditLogsTail: the command compares the head that a service stored in data_dir without a flag.
func TestVerifyMissesTheAuditLogsTail(t *testing.T) {
	t.Parallel()
	dsn, dir := testdb.New(t), t.TempDir()
	environ := []string{"PAYLATCH_DATABASE_URL=" + dsn, "PAYLATCH_DATA_DIR=" + dir}
	furnished(t, dsn)
	for range 3 {
		code, _, stderr := run(t, environ, "discrepancy", "list")
		require.Zero(t, code, stderr)
	}
	_, stdout, _ := run(t, environ, "verify", "--json")
	var said struct {
		Audit struct {
			Head string `json:"head"`
		} `json:"audit"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &said))
	conn := testdb.Connect(t, dsn)
	kept := watermark.AuditHead{Head: said.Audit.Head}
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT database_id FROM service_marks").Scan(&kept.Database))
	require.NoError(t, watermark.WriteAuditHead(dir, kept))
	code, _, stderr := run(t, environ, "verify")
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "the audit log must contain the head "+kept.Head+", which is kept in "+watermark.AuditFile(dir)+"\n")

	_, err := conn.Exec(t.Context(), "ALTER TABLE staff_audit DISABLE TRIGGER ALL; DELETE FROM staff_audit WHERE position > 1; ALTER TABLE staff_audit ENABLE TRIGGER ALL")
	require.NoError(t, err)
	code, stdout, stderr = run(t, environ, "verify")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stdout, "the log ends with entry 1, but it had 3 entries")

	kept.Database = uuid.New()
	require.NoError(t, watermark.WriteAuditHead(dir, kept))
	code, _, stderr = run(t, environ, "verify")
	require.Zero(t, code, "what is kept of another database is none of this one's: %s", stderr)
	require.Contains(t, stderr, watermark.AuditFile(dir)+" has the head of another database; name a head by --head\n")
}
