package postgres_test

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/migrations"
)

// The tests of this file show that a schema of any name can be a cell: a database of its own, beside others on one server, or
// moved as a whole from one worker of Citus to another. The statements take their tables from the session's search_path.
// A database has one set of locks and channels, so their names contain the schema. TestStatements has the additional
// rules of Citus.

var (
	comments      = regexp.MustCompile(`(?m)--.*$`)
	portableNames = regexp.MustCompile(`(?m)^-- name: (\w+) :\w+$`)
	whole         = regexp.MustCompile(`(?s).*`)
	changes       = regexp.MustCompile(`(?s)\bUPDATE \w+( AS)?( \w+)? SET\b.*`)
	conflict      = regexp.MustCompile(`(?s)\bON CONFLICT\b.*?(\bRETURNING\b|$)`)
	inserted      = regexp.MustCompile(`(?s)\bSELECT\b(.*?)(?:\bFROM\b(.*?))?(?:\bWHERE\b|\bORDER BY\b|\bON CONFLICT\b|\bRETURNING\b|;|$)`)
	sources       = regexp.MustCompile(`(?:^|,|JOIN)\s*([a-z_]+)`)
	column        = regexp.MustCompile(`^\s*[a-z_]+\.[a-z_]+\s*$`)
	defined       = regexp.MustCompile(`(?s)CREATE (?:OR REPLACE )?FUNCTION (\w+)\(.*?\$\$(.*?)\$\$`)
	watching      = regexp.MustCompile(`CREATE (?:OR REPLACE )?TRIGGER (\w+) (?:BEFORE|AFTER) ([A-Z ]+) ON (\w+)`)
)

// rule is a pattern that a part of a statement must not match, unless the part also matches its exception.
type rule struct {
	part                *regexp.Regexp
	what, unless, fault string
}

// everywhere lists the rules for schemas of one database.
func everywhere() []rule {
	return []rule{
		{whole, `(?i)\bpublic\.|schema public\b|search_path[^;\n]*public`, ``, "names a schema: tables come from the search_path"},
		{whole, `(?i)\b(FROM|JOIN|INSERT INTO|UPDATE|TABLE|REFERENCES|FUNCTION|TYPE) \w+\.[a-z_]+`, `\b(FROM|JOIN) pg_catalog\.`, "names a schema: tables come from the search_path"},
		{whole, `advisory\w*_lock`, `current_schema\(\)|TG_TABLE_SCHEMA|nspname`, "a database has one set of advisory locks: add current_schema()"},
		{whole, `(?i)\bpg_notify\b|\bLISTEN\b|\bNOTIFY\b`, `current_schema\(\)`, "a database has one set of channels: add current_schema()"},
		{whole, `(?i)\b(nextval|setval|currval)\b|\bCREATE SEQUENCE\b`, ``, "a sequence belongs to its column: GENERATED AS IDENTITY"},
	}
}

// distributed lists the rules for statements on tables that Citus keeps on another machine.
func distributed() []rule {
	return []rule{
		{conflict, `\bnow\(\)|clock_timestamp|random`, ``, "ON CONFLICT takes constants and columns: a time that was to be inserted is in EXCLUDED"},
		{conflict, `EXCLUDED\.\w+ [-+] make_interval`, ``, "a time and an interval depend on the session's zone: compare the difference of two times with the interval"},
		{changes, `clock_timestamp|random\(`, ``, "UPDATE takes no volatile function: now()"},
		{changes, `\bCASE\b[^;)]*(\([^)]*\)[^;)]*)*\bTHEN\b[^;]*\bnow\(\)[^;]*\bEND\b`, ``, "UPDATE takes no now() in CASE: join (SELECT now() AS at)"},
		{changes, `\bRETURNING\b[^;)]*\bnow\(\)`, ``, "RETURNING takes no now(): select it from the UPDATE"},
		{changes, `now\(\) [-+] \(?(now\(\) [-+] )?[a-z]+\.\w+`, ``, "SET takes no sum of now() and a column: compute it in a subquery"},
		{changes, `_at\)? \+ interval`, ``, "a sum of a time and an interval depends on the session's zone: (column AT TIME ZONE 'UTC' + interval) AT TIME ZONE 'UTC'"},
		{conflict, `_at\)? \+ interval`, ``, "a sum of a time and an interval depends on the session's zone: (column AT TIME ZONE 'UTC' + interval) AT TIME ZONE 'UTC'"},
		{whole, `\bFROM \(\s*SELECT FROM\b`, ``, "a subquery without a column can't be sent to another server: SELECT 1"},
		{whole, `\bset_config\(`, `\bset_config\('(synchronous_commit|statement_timeout)'`, "a setting does not reach another server: pass an argument, or a row of a table"},
		{whole, `\bpg_(control_system|settings|current_wal_lsn|stat_\w+)\b`, `\bservice_marks m\b|\bk\.tableoid\b`, "each server answers for itself: the statement must read a table, so that the table's server answers"},
		{changes, `\w\(unnest\(|unnest\([^)]*\)::`, ``, "UPDATE takes no unnest() within an expression: put the expression around the subquery"},
	}
}

func (r rule) broken(statement string) bool {
	part := r.part.FindString(statement)
	return regexp.MustCompile(r.what).MatchString(part) && (r.unless == "" || !regexp.MustCompile(r.unless).MatchString(statement))
}

// topLevel returns the text outside of parentheses.
func topLevel(sql string) string {
	var out strings.Builder
	depth := 0
	for _, r := range sql {
		if r == ')' {
			depth--
		}
		if depth == 0 {
			out.WriteRune(r)
		}
		if r == '(' {
			depth++
		}
	}
	return out.String()
}

// insertFaults lists the faults of an INSERT … SELECT at the end of a statement. Citus copies the rows of one without RETURNING: its tag
// counts rows that met a conflict, and its errors have neither code nor constraint. A constant beside a table gets an empty condition,
// which is a syntax error.
func insertFaults(statement string) (found []string) {
	at := strings.LastIndex(statement, "INSERT INTO")
	if at < 0 || strings.Count(statement[:at], "(") != strings.Count(statement[:at], ")") {
		return nil
	}
	insert := statement[at:]
	parts := inserted.FindStringSubmatch(topLevel(insert))
	if parts == nil {
		return nil
	}
	if !strings.Contains(insert, "RETURNING") {
		found = append(found, "INSERT … SELECT needs RETURNING")
	}
	tables := migrations.Served()
	reads := false
	for _, source := range sources.FindAllStringSubmatch(parts[2], -1) {
		_, is := tables[source[1]]
		reads = reads || is
	}
	if parts[2] == "" {
		for table := range tables {
			reads = reads || regexp.MustCompile(`\b(FROM|JOIN) `+table+`\b`).MatchString(insert)
		}
	}
	constant := slices.ContainsFunc(strings.Split(parts[1], ","), func(item string) bool { return !column.MatchString(item) })
	if reads && constant {
		found = append(found, "INSERT … SELECT of a constant beside a table: read the table in a CTE")
	}
	return found
}

// portableFaults lists the violations of a statement.
func portableFaults(statement string, rules []rule) (found []string) {
	statement = strings.ReplaceAll(comments.ReplaceAllString(statement, ""), "epoch FROM", "")
	for _, r := range rules {
		if r.broken(statement) {
			found = append(found, r.fault)
		}
	}
	return found
}

// queries returns the statements of queries/ by name.
func queries(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../../queries")
	files, err := fs.Glob(root, "*.sql")
	require.NoError(t, err)
	found := map[string]string{}
	for _, file := range files {
		raw, err := fs.ReadFile(root, file)
		require.NoError(t, err)
		text := string(raw)
		begin := portableNames.FindAllStringSubmatchIndex(text, -1)
		for i, at := range begin {
			end := len(text)
			if i+1 < len(begin) {
				end = begin[i+1][0]
			}
			found[text[at[2]:at[3]]] = text[at[1]:end]
		}
	}
	return found
}

func TestStatements(t *testing.T) {
	t.Parallel()
	all := queries(t)
	require.Greater(t, len(all), 200)
	for name, statement := range all {
		require.Empty(t, portableFaults(statement, append(everywhere(), distributed()...)), name)
		require.Empty(t, insertFaults(comments.ReplaceAllString(statement, "")), name)
	}
}

// TestFunctions reads the functions and triggers as the last file leaves them. On Citus a trigger runs on a part of the table, which has
// another name, in another session with its own settings; and a part has no trigger that is also for TRUNCATE.
func TestFunctions(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	bodies, events := map[string]string{}, map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS, file)
		require.NoError(t, err)
		sql := comments.ReplaceAllString(string(text), "")
		for _, f := range defined.FindAllStringSubmatch(sql, -1) {
			bodies[f[1]] = f[2]
		}
		for _, w := range watching.FindAllStringSubmatch(sql, -1) {
			events[w[1]+" on "+w[3]] = w[2]
		}
	}
	require.Greater(t, len(bodies), 20)
	require.Greater(t, len(events), 15)
	for name, body := range bodies {
		require.NotRegexp(t, `current_setting\(|set_config\(`, body, "%s: a setting does not reach another server", name)
		body = strings.NewReplacer("regexp_replace(TG_TABLE_NAME,", "", "TG_TABLE_SCHEMA, TG_TABLE_NAME)", "").Replace(body)
		require.NotContains(t, body, "TG_TABLE_NAME", "%s: the name of a part ends with its number", name)
		for statement := range strings.SplitSeq(body, ";") {
			if _, insert, found := strings.Cut(statement, "INSERT INTO"); found {
				require.NotContains(t, insertFaults("INSERT INTO"+insert), "INSERT … SELECT of a constant beside a table: read the table in a CTE", name)
			}
		}
	}
	for trigger, on := range events {
		require.False(t, strings.Contains(on, "TRUNCATE") && on != "TRUNCATE", "%s: TRUNCATE needs a trigger of its own", trigger)
	}
}

func TestInsertFaults(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]int{
		"INSERT INTO orders (order_id) VALUES (@id)":                                                                                           0,
		"INSERT INTO orders (order_id) SELECT unnest(@ids::text[]) RETURNING 1":                                                                0,
		"INSERT INTO orders (order_id) SELECT unnest(@ids::text[]) ON CONFLICT DO NOTHING":                                                     1,
		"INSERT INTO orders (order_id) SELECT @id WHERE NOT EXISTS (SELECT FROM erased_requests r WHERE r.digest = @d) RETURNING 1":            1,
		"WITH e AS (SELECT count(*) AS n FROM erased_requests) INSERT INTO orders (order_id) SELECT @id FROM e WHERE e.n = 0 RETURNING 1":      0,
		"INSERT INTO notices (name, at) SELECT n.name, now() FROM (SELECT unnest(@names::text[]) AS name) n, outbox_head h RETURNING 1":        1,
		"INSERT INTO streams (name, position) SELECT n.name, h.last FROM (SELECT unnest(@names::text[]) AS name) n, outbox_head h RETURNING 1": 0,
	} {
		require.Len(t, insertFaults(statement), want, statement)
	}
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS, file)
		require.NoError(t, err)
		if file != "00012_staff_audit.sql" { // a later file replaces its function
			require.Empty(t, portableFaults(string(text), everywhere()), file)
		}
	}
}

func TestStatements_finds(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]int{
		"SELECT * FROM orders o JOIN pg_catalog.pg_class c ON c.oid = o.oid": 0,
		"-- public\nSELECT 1": 0,
		"SELECT pg_advisory_xact_lock(hashtextextended('x' || current_schema(), 0))":                             0,
		"UPDATE orders o SET at = n.at FROM (SELECT now() AS at) n WHERE o.at < now()":                           0,
		"UPDATE orders SET at = now() + make_interval(secs => @s) RETURNING id":                                  0,
		"WITH a AS (UPDATE orders SET at = now() RETURNING id) SELECT id, now() FROM a":                          0,
		"UPDATE orders SET a = NULLIF(n.a, '') FROM (SELECT unnest(@a::text[]) AS a) n":                          0,
		"INSERT INTO k VALUES (now()) ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at WHERE k.at <= EXCLUDED.at": 0,
		"SELECT * FROM public.orders":                                          2,
		"SELECT * FROM cell_1.orders":                                          1,
		"SELECT pg_advisory_xact_lock(1)":                                      1,
		"SELECT pg_notify('paylatch', 'x')":                                    1,
		"SELECT nextval('orders_seq')":                                         1,
		"INSERT INTO k VALUES (1) ON CONFLICT (id) DO UPDATE SET at = now()":   1,
		"INSERT INTO k VALUES (1) ON CONFLICT (id) DO NOTHING RETURNING now()": 0,
		"INSERT INTO k VALUES (1) ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at WHERE k.at < EXCLUDED.at - make_interval(secs => 1)": 1,
		"UPDATE orders SET at = clock_timestamp()":                                      1,
		"UPDATE orders SET at = CASE WHEN a THEN NULL ELSE now() END":                   1,
		"UPDATE orders SET updated_at = updated_at + interval '1 microsecond'":          1,
		"SELECT count(*) FROM (SELECT FROM orders LIMIT 9) o":                           1,
		"SELECT set_config('paylatch.erasing', 'on', true)":                             1,
		"SELECT system_identifier FROM pg_control_system()":                             1,
		"UPDATE orders SET at = 1 RETURNING id, now() AS at":                            1,
		"UPDATE orders d SET at = now() + (now() - d.at)":                               1,
		"UPDATE orders SET a = n.a FROM (SELECT NULLIF(unnest(@a::text[]), '') AS a) n": 1,
		"UPDATE orders SET a = n.a FROM (SELECT unnest(@a::text[])::state AS a) n":      1,
	} {
		require.Len(t, portableFaults(statement, append(everywhere(), distributed()...)), want, statement)
	}
}
