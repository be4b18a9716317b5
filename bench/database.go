package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// database is a migrated database, paylatch's or pgbench's, with its loaded rows.
type database struct {
	name, url string
	conn      *pgx.Conn
	script    func(name string) string
	ids       naming
	// account is the account of the attempts.
	account string
	// attempts and orders are the numbers of loaded rows. The first attemptsUsed and ordersUsed rows are used up.
	attempts, attemptsUsed int
	orders, ordersUsed     int
}

func (r *rig) newDatabase(ctx context.Context, name string) (*database, error) {
	if err := r.dropDatabase(ctx, name); err != nil {
		return nil, err
	}
	if _, err := r.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+shape); err != nil {
		return nil, fmt.Errorf("make database %s: %w", name, err)
	}
	d := &database{name: name, url: r.pg.DSN(name), script: r.script, ids: r.opts.ids, account: "bench"}
	var err error
	if d.conn, err = pgx.Connect(ctx, d.url); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return d, nil
}

func (r *rig) dropDatabase(ctx context.Context, name string) error {
	if _, err := r.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

func (r *rig) drop(ctx context.Context, list ...*database) error {
	for _, d := range list {
		_ = d.conn.Close(ctx)
		if err := r.dropDatabase(ctx, d.name); err != nil {
			return err
		}
	}
	return nil
}

// settle makes a checkpoint before a stage. So no stage pays for the rows that were loaded for it, and all stages begin with the
// same share of full-page writes.
func (d *database) settle(ctx context.Context) error { return d.exec(ctx, "CHECKPOINT") }

// cleanUp vacuums and analyses after a stage, so that autovacuum does not do so in a later stage, perhaps of the other side.
func (d *database) cleanUp(ctx context.Context) error { return d.exec(ctx, "VACUUM (ANALYZE)") }

func (d *database) exec(ctx context.Context, sql string) error {
	if _, err := d.conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s in %s: %w", sql, d.name, err)
	}
	return nil
}
