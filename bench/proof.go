package main

import (
	"context"
	"errors"
	"fmt"
)

// rows counts the rows that durable work leaves behind.
type rows struct {
	events, succeeded, transitions, outbox, keys, references int64
}

func (r rows) minus(o rows) rows {
	return rows{
		r.events - o.events, r.succeeded - o.succeeded, r.transitions - o.transitions, r.outbox - o.outbox,
		r.keys - o.keys, r.references - o.references,
	}
}

// rows leaves out the events of load_inbox.sql, which are a week old: reading gigabytes just before a stage would change its
// measurement.
func (d *database) rows(ctx context.Context) (rows, error) {
	var r rows
	err := d.conn.QueryRow(ctx, `SELECT
		(SELECT count(*) FROM provider_events JOIN event_bytes USING (event_id) WHERE verdict = 'applied' AND received_at > now() - interval '1 day'),
		(SELECT count(*) FROM payment_attempts WHERE status = 'succeeded' AND amount_captured = amount),
		(SELECT count(*) FROM attempt_transitions),
		(SELECT count(*) FROM outbox),
		(SELECT count(*) FROM idempotency_keys WHERE answered),
		(SELECT count(*) FROM attempt_references)`).
		Scan(&r.events, &r.succeeded, &r.transitions, &r.outbox, &r.keys, &r.references)
	if err != nil {
		return r, fmt.Errorf("count rows of %s: %w", d.name, err)
	}
	return r, nil
}

// errProof is returned if acknowledged work is not in the database.
var errProof = errors.New("the work was not done as it was acknowledged")

// proveHooks succeeds if n webhooks left exactly the rows of n webhooks.
func proveHooks(before, after rows, n int64) error {
	if got, want := after.minus(before), (rows{events: n, succeeded: n, transitions: n, outbox: 2 * n}); got != want {
		return fmt.Errorf("%w: of %d webhooks there are %+v", errProof, n, got)
	}
	return nil
}

// provePays succeeds if n pays left exactly the rows of n pays.
func provePays(before, after rows, n int64) error {
	if got, want := after.minus(before), (rows{succeeded: n, transitions: 2 * n, outbox: 2 * n, keys: n, references: 2 * n}); got != want {
		return fmt.Errorf("%w: of %d pays there are %+v", errProof, n, got)
	}
	return nil
}

// proveAcks looks for every single event that was acknowledged, and returns in
// how many commits they came.
func (d *database) proveAcks(ctx context.Context, t *tally) (commits int64, err error) {
	ids := map[string]bool{}
	for i, a := range t.answers {
		if a.status == 200 {
			ids[d.ids.event(t.shots[i].of)] = true
		}
	}
	list := make([]string, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	var found int
	err = d.conn.QueryRow(ctx, `SELECT count(*), count(DISTINCT xmin::text) FROM provider_events
		WHERE account = $2 AND provider_event_id = ANY ($1) AND verdict = 'applied'`, list, d.account).Scan(&found, &commits)
	if err != nil {
		return 0, fmt.Errorf("look for acknowledged events: %w", err)
	}
	if n := t.count(200, applied); found != len(ids) || n != len(ids) {
		return 0, fmt.Errorf("%w: %d events were acknowledged, %d as applied, %d are on disk", errProof, len(ids), n, found)
	}
	return commits, nil
}
