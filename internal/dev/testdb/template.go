package testdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/paylatch/paylatch/migrations"
)

const (
	prefix         = "paylatch_"
	templatePrefix = prefix + "template_"
)

// ensureTemplate returns the name of the migrated template. The template gets this name when it is finished, so that the
// unfinished template of a killed process is never used. A lock makes the other processes wait for the process that makes it.
func ensureTemplate(ctx context.Context, admin string) (string, error) {
	name := templatePrefix + migrations.Hash()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		return "", fmt.Errorf("lock template: %w", err)
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil {
		return "", fmt.Errorf("look for template: %w", err)
	}
	if exists {
		return name, nil
	}
	return name, errors.Join(dropOldTemplates(ctx, admin), makeTemplate(ctx, admin, name))
}

func makeTemplate(ctx context.Context, admin, name string) error {
	half := name + "_half"
	err := execAll(ctx, admin,
		"DROP DATABASE IF EXISTS "+half,
		"CREATE DATABASE "+half+" TEMPLATE template0",
		"DO $$ BEGIN EXECUTE format('COMMENT ON DATABASE "+half+" IS %L', now()); END $$")
	if err != nil {
		return err
	}
	if err := migrations.Up(ctx, withDatabase(admin, half)); err != nil {
		return err
	}
	return execAll(ctx, admin,
		"ALTER DATABASE "+half+" ALLOW_CONNECTIONS false", // a session in it would make a clone fail
		"ALTER DATABASE "+half+" RENAME TO "+name)
}

// dropOldTemplates keeps the templates of the last day, since two branches may be worked on in turn.
func dropOldTemplates(ctx context.Context, admin string) error {
	return dropDatabases(ctx, admin, `datname LIKE '`+templatePrefix+`%'
		AND shobj_description(oid, 'pg_database')::timestamptz < now() - interval '1 day'`)
}

// dropLeftovers drops the databases of killed tests, and databases that failed tests kept before the server was last stopped.
func dropLeftovers(ctx context.Context, admin string) error {
	return dropDatabases(ctx, admin, `datname LIKE '`+prefix+`test_%'`)
}

func dropDatabases(ctx context.Context, admin, where string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT 'DROP DATABASE IF EXISTS ' || quote_ident(datname) || ' WITH (FORCE)' FROM pg_database WHERE `+where)
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	return execAll(ctx, admin, drops...)
}
