package postgres_test

import (
	"io/fs"
	"os"
	"regexp"
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
		{changes, `\w\(unnest\(|unnest\([^)]*\)::`, ``, "UPDATE takes no unnest() within an expression: put the expression around the subquery"},
	}
}

func (r rule) broken(statement string) bool {
	part := r.part.FindString(statement)
	return regexp.MustCompile(r.what).MatchString(part) && (r.unless == "" || !regexp.MustCompile(r.unless).MatchString(statement))
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
	}
	// Without RETURNING, Citus copies the rows that INSERT reads from a SELECT, and the error of a violation has neither
	// its code nor the constraint.
	for _, name := range []string{"AttemptsInsert", "EventsInsert", "MovementsInsert", "ReferencesInsert"} {
		require.Contains(t, all[name], "RETURNING", name+": its violations are told apart by their constraints")
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
		"UPDATE orders SET at = 1 RETURNING id, now() AS at":                            1,
		"UPDATE orders d SET at = now() + (now() - d.at)":                               1,
		"UPDATE orders SET a = n.a FROM (SELECT NULLIF(unnest(@a::text[]), '') AS a) n": 1,
		"UPDATE orders SET a = n.a FROM (SELECT unnest(@a::text[])::state AS a) n":      1,
	} {
		require.Len(t, portableFaults(statement, append(everywhere(), distributed()...)), want, statement)
	}
}
