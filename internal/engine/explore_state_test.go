package engine_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// state is the rows about a trial's order, and the provider's payments, without all that differs from run to run.
type state struct {
	hash string
	// attempts have status and version by the request.
	attempts map[string]standingRow
}

type standingRow struct {
	status  string
	version float64
}

// rowsOfOrder are all rows that a step may read or write.
const rowsOfOrder = `SELECT 'orders', to_jsonb(x) FROM orders x WHERE order_id = $1
	UNION ALL SELECT 'attempts', to_jsonb(x) FROM payment_attempts x WHERE order_id = $1
	UNION ALL SELECT 'references', to_jsonb(x) FROM attempt_references x WHERE order_id = $1
	UNION ALL SELECT 'operations', to_jsonb(x) || jsonb_build_object('lease_until', CASE WHEN lease_until > now() THEN 'leased' WHEN lease_until IS NOT NULL THEN 'over' END,
		'next_at', CASE WHEN next_at > now() THEN 'later' WHEN next_at IS NOT NULL THEN 'due' END) FROM operations x WHERE order_id = $1
	UNION ALL SELECT 'movements', to_jsonb(x) FROM money_movements x WHERE order_id = $1
	UNION ALL SELECT 'log', to_jsonb(x) FROM attempt_transitions x WHERE order_id = $1
	UNION ALL SELECT 'refunds', to_jsonb(x) FROM refunds x WHERE order_id = $1
	UNION ALL SELECT 'discrepancies', to_jsonb(x) - 'text' FROM discrepancies x WHERE attempt_id IN (SELECT attempt_id FROM payment_attempts WHERE order_id = $1)
	UNION ALL SELECT 'outbox', jsonb_build_object('type', type, 'version', version, 'subject', subject) FROM outbox x WHERE order_id = $1
	UNION ALL SELECT 'events', to_jsonb(x) - '{news,headers,body,digest}'::text[] FROM provider_events x WHERE provider_event_id = ANY($2)
	UNION ALL SELECT 'keys', to_jsonb(x) - '{headers,body,request_hash}'::text[]
		|| jsonb_build_object('lease_until', CASE WHEN lease_until > now() THEN 'leased' ELSE 'over' END) FROM idempotency_keys x WHERE user_id = $3`

var anyID = regexp.MustCompile(`[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)

// state reads the present state.
func (c *trial) state(t *testing.T) state {
	t.Helper()
	found, err := c.db.Query(t.Context(), rowsOfOrder, string(c.order), c.noticeIDs(), string(c.user))
	require.NoError(t, err)
	type row struct {
		Table string
		Row   map[string]any
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[row])
	require.NoError(t, err)
	s, ids := state{attempts: map[string]standingRow{}}, map[string]string{}
	for _, r := range all {
		if r.Table == "attempts" {
			request := fmt.Sprint(r.Row["client_request_id"])
			ids[strings.ReplaceAll(fmt.Sprint(r.Row["attempt_id"]), "-", "")] = request
			version, _ := r.Row["version"].(float64)
			s.attempts[request] = standingRow{fmt.Sprint(r.Row["status"]), version}
		}
	}
	lines := make([]string, 0, len(all)+len(c.p.deals))
	for _, r := range all {
		text, err := json.Marshal(timeless("", r.Row))
		require.NoError(t, err)
		lines = append(lines, r.Table+string(text))
	}
	for _, d := range c.p.deals {
		lines = append(lines, fmt.Sprintf("deal %s %s %v %v %v %v %s", d.name, d.key, d.taken, d.held, d.over, d.back, d.second))
	}
	for i, line := range lines {
		line = strings.ReplaceAll(line, c.suffix, "")
		lines[i] = anyID.ReplaceAllStringFunc(line, func(id string) string { return ids[strings.ReplaceAll(id, "-", "")] })
	}
	slices.Sort(lines)
	s.hash = hashed(lines...)
	return s
}

// timeless replaces times, which differ from run to run, and bytes.
func timeless(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			if name == "p" && (key == "t" || key == "r") { // times of the payments of an attempt
				delete(v, key)
			} else {
				v[key] = timeless(key, v[key])
			}
		}
	case []any:
		for i := range v {
			v[i] = timeless(name, v[i])
		}
	case string:
		if name == "at" || strings.HasSuffix(name, "_at") && name != "next_at" || strings.HasPrefix(v, `\x`) {
			return "set"
		}
	}
	return value
}

func hashed(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%d %s", len(p), p)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// remember adds a step to the past of the actors that it moved.
func (c *trial) remember(before, after string) {
	for _, a := range c.moved {
		if a.stage == ended {
			a.past = ""
		} else {
			a.past = hashed(a.past, a.at, before, after)
		}
	}
	c.moved = nil
}

// key names a state together with the position of each actor, and all that it knows.
func (c *trial) key(s state) string {
	parts := []string{s.hash, fmt.Sprint(c.faults, c.passed)}
	for _, a := range c.actors {
		parts = append(parts, a.name, string(a.stage), a.at, a.past, a.result)
	}
	for _, n := range c.p.notices {
		parts = append(parts, n.name, string(n.verdict))
	}
	return hashed(parts...)
}

// broken says which promise a step breaks.
func (c *trial) broken(before, now state) string {
	for request, was := range before.attempts {
		is, there := now.attempts[request]
		switch {
		case !there:
			return "the attempt of " + request + " is gone"
		case (was.status == "succeeded" || was.status == "failed") && is.status != was.status:
			return fmt.Sprintf("the attempt of %s was %s and is %s", request, was.status, is.status)
		case is.version < was.version:
			return "the version of the attempt of " + request + " fell"
		}
	}
	return c.wrong
}
