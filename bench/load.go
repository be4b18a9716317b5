package main

import (
	"context"
	"crypto/md5" //nolint:gosec // spreads ids, guards nothing
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
)

// Loaded attempts are numbered from 0. The loader, pgbench's scripts and this program make an attempt's ids from its number in
// the same way.

func md5Of(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // spreads ids, guards nothing
	return hex.EncodeToString(sum[:])
}

func attemptID(i int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", i) }
func chargeID(i int) string  { return "ch_" + md5Of(strconv.Itoa(i)) }
func attemptUser(i int) string {
	return "u-" + strconv.Itoa(i)
}
func payOrder(i int) string { return fmt.Sprintf("p-%08d", i) }
func payUser(i int) string  { return "up-" + strconv.Itoa(i) }

// naming is the form of providers' event ids.
type naming string

const (
	// atRandom is as a UUID: each id falls on another page of an index. inOrder
	// begins with the time, as a KSUID does, and as Stripe's ids seem to.
	atRandom naming = "random"
	inOrder  naming = "ordered"
)

// event returns the id of a new event; the events of load_inbox.sql are older.
func (n naming) event(i int) string {
	spread := md5Of("e" + strconv.Itoa(i))
	if n == inOrder {
		return fmt.Sprintf("evt_1%012x%s", i, spread[:19])
	}
	return "evt_" + spread
}

// takeAttempts makes sure of n pending attempts that no stage has touched and
// returns the first one's number.
func (d *database) takeAttempts(ctx context.Context, n int) (int, error) {
	if missing := d.attemptsUsed + n - d.attempts; missing > 0 {
		if err := d.load(ctx, "load_attempts.sql", d.attempts, missing); err != nil {
			return 0, err
		}
		if err := d.tidy(ctx, "orders, payment_attempts, operations, attempt_references, attempt_transitions"); err != nil {
			return 0, err
		}
		d.attempts += missing
	}
	first := d.attemptsUsed
	d.attemptsUsed += n
	return first, nil
}

// takeOrders is takeAttempts for open orders without an attempt.
func (d *database) takeOrders(ctx context.Context, n int) (int, error) {
	if missing := d.ordersUsed + n - d.orders; missing > 0 {
		if err := d.load(ctx, "load_orders.sql", d.orders, missing); err != nil {
			return 0, err
		}
		if err := d.tidy(ctx, "orders"); err != nil {
			return 0, err
		}
		d.orders += missing
	}
	first := d.ordersUsed
	d.ordersUsed += n
	return first, nil
}

// fillInbox adds settled events, numbered from first, in steps that keep the transactions short. After each step it calls tell
// with the number of events.
func (d *database) fillInbox(ctx context.Context, first, n int, tell func(filled int)) error {
	const step = 100_000
	for done := 0; done < n; done += step {
		if err := d.load(ctx, "load_inbox.sql", first+done, min(step, n-done)); err != nil {
			return err
		}
		tell(first + min(done+step, n))
	}
	return d.tidy(ctx, "provider_events")
}

// searchOn moves the cursors of the search's copy behind the loaded rows. The copy would otherwise index them during the stages,
// several times as many orders as a stage has. Rows that a stage adds are copied as usual.
const searchOn = `UPDATE search_cursors SET at = now(),
	id = CASE source WHEN 'events' THEN lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0') || repeat('0', 20) ELSE '' END;`

// load runs a script that adds n rows from first on. Meanwhile foreign keys are not checked and commits do not wait for the
// disk, since loading is not measured.
func (d *database) load(ctx context.Context, name string, first, n int) error {
	text, err := os.ReadFile(d.script(name))
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	begin := "BEGIN; SET LOCAL session_replication_role = replica; SET LOCAL synchronous_commit = off;" +
		fmt.Sprintf("SET LOCAL bench.first = %d; SET LOCAL bench.last = %d; SET LOCAL bench.ids = '%s'; SET LOCAL bench.account = '%s';", first, first+n-1, d.ids, d.account)
	return d.exec(ctx, begin+string(text)+"COMMIT;"+searchOn)
}

// tidy vacuums and analyses loaded tables, so that autovacuum does not do so during a stage.
func (d *database) tidy(ctx context.Context, tables string) error {
	return d.exec(ctx, "VACUUM (ANALYZE) "+tables)
}
