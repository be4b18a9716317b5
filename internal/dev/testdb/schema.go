package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/migrations"
)

const (
	// citusVariable names a database of Citus, which deploy/citus/database.sql has prepared.
	citusVariable = "PAYLATCH_TEST_CITUS_URL"
	// migrating bounds the wait for one's turn, too: a database migrates one schema at a time.
	migrating = 10 * time.Minute
)

// Schema creates a schema in a database, migrates it, and returns the database's address with this schema. On Citus the schema
// is distributed, so that it moves as a whole. It is dropped when the test ends, unless the test failed.
func Schema(t *testing.T, dsn, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), migrating)
	defer cancel()
	quoted := pgx.Identifier{name}.Sanitize()
	address := With(t, dsn, "search_path", quoted)
	// Outside of Citus this setting has no meaning.
	err := execAll(ctx, dsn, "SET citus.enable_schema_based_sharding = on", "CREATE SCHEMA "+quoted)
	// On Citus all schemas share locks, and another schema may be moved or migrated meanwhile.
	if err = errors.Join(err, migrations.Up(ctx, With(t, address, "lock_timeout", "2min"))); err != nil {
		t.Fatalf("testdb: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		if t.Failed() {
			t.Logf("schema kept: psql '%s'", address)
		} else if err := execAll(ctx, dsn, "DROP SCHEMA "+quoted+" CASCADE"); err != nil {
			t.Errorf("testdb: %v", err)
		}
	})
	return address
}

// CitusURL returns the address of the Citus in PAYLATCH_TEST_CITUS_URL, and skips the test if the variable is empty.
func CitusURL(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv(citusVariable)
	if dsn == "" {
		t.Skip(citusVariable + " is not set: nothing ran on Citus")
	}
	return dsn
}

// Citus returns the address of a fresh, migrated schema on that Citus.
func Citus(t *testing.T) string {
	t.Helper()
	return Schema(t, With(t, CitusURL(t), "plan_cache_mode", "auto"), "cell_"+strings.ToLower(rand.Text()[:10]))
}
