package migrations_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/migrations"
)

// foundation is the last file of the schema as it began, which only empty databases get.
const foundation = 15

// TestLint reads the later files: while one runs, payments go on.
func TestLint(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		number, err := goose.NumericComponent(name)
		require.NoError(t, err)
		if number > foundation {
			text, err := fs.ReadFile(migrations.FS, name)
			require.NoError(t, err)
			require.Empty(t, lint(string(text)), name)
		}
	}
}

var (
	// silent is a body, a text or a comment, whichever begins first: a comment may have an apostrophe, and a text two hyphens.
	silent   = regexp.MustCompile(`(?s)\$\$.*?\$\$|'(?:[^']|'')*'|--[^\n]*`)
	comments = regexp.MustCompile(`(?m)--.*$`)
	created  = regexp.MustCompile(`(?i)\bCREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)`)
	altered  = regexp.MustCompile(`(?i)\b(?:ALTER TABLE|INDEX\b.*?\bON) (?:IF EXISTS )?(?:ONLY )?(\w+)`)
	// blocks are the statements that goose sends as one.
	blocks     = regexp.MustCompile(`(?s)-- \+goose StatementBegin.*?-- \+goose StatementEnd`)
	newTrigger = regexp.MustCompile(`(?i)\bCREATE (?:OR REPLACE )?TRIGGER\b`)
	waits      = regexp.MustCompile(`(?i)\bSET (?:LOCAL |SESSION )?lock_timeout (?:=|TO) '?(\w+)`)

	// dangers are what a statement on a table with rows must not contain, unless it contains
	// what goes after it.
	dangers = []struct{ what, unless, fault string }{
		{`\bALTER (COLUMN )?\w+ (SET DATA )?TYPE\b`, ``, "rewrites the table: add a column and fill it"},
		{`\bADD (COLUMN )?\w+ [^,]*\bGENERATED ALWAYS AS \(`, ``, "rewrites the table: add a column and fill it"},
		{`\bADD (COLUMN )?\w+ [^,]*\bDEFAULT (gen_random_uuid|random|clock_timestamp|nextval)\b`, ``, "rewrites the table: add the column first, its default after"},
		{`\bSET (UNLOGGED|LOGGED|TABLESPACE)\b|\b(VACUUM FULL|CLUSTER)\b`, ``, "rewrites the table"},
		{`\b(CREATE (UNIQUE )?|DROP |RE)INDEX\b`, `INDEX CONCURRENTLY\b`, "locks the table: CONCURRENTLY, in a file with NO TRANSACTION"},
		{`\bADD (CONSTRAINT \w+ )?(UNIQUE|PRIMARY KEY)\b`, `\bUSING INDEX\b`, "builds an index under a lock: build it CONCURRENTLY, then USING INDEX"},
		{`\bADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY)\b|\bADD (COLUMN )?\w+ [^,]*\bREFERENCES\b`, `\bNOT VALID\b`, "reads the table under a lock: NOT VALID, then VALIDATE"},
		{`\bSET NOT NULL\b`, ``, "reads the table under a lock: a CHECK that is NOT VALID, then VALIDATE"},
	}
)

// silenced is a migration without comments, texts and bodies.
func silenced(text string) string {
	return silent.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "--") {
			return ""
		}
		return "''"
	})
}

// lint lists what is wrong with a migration.
func lint(text string) (faults []string) {
	quiet := silenced(text)
	young := map[string]bool{}
	for _, c := range created.FindAllStringSubmatch(quiet, -1) {
		young[c[1]] = true
	}
	for _, w := range waits.FindAllStringSubmatch(comments.ReplaceAllString(text, ""), -1) {
		if limit, err := time.ParseDuration(w[1]); err != nil || limit <= 0 || limit > 3*time.Second {
			faults = append(faults, "lock_timeout "+w[1]+": whatever waits for a table waits behind it, 3s at the most")
		}
	}
	for statement := range strings.SplitSeq(quiet, ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if on := altered.FindStringSubmatch(statement); on != nil && young[on[1]] {
			continue
		}
		for _, d := range dangers {
			if regexp.MustCompile("(?i)"+d.what).MatchString(statement) &&
				(d.unless == "" || !regexp.MustCompile("(?i)"+d.unless).MatchString(statement)) {
				faults = append(faults, statement+": "+d.fault)
			}
		}
		if regexp.MustCompile(`(?i)\bCONCURRENTLY\b`).MatchString(statement) && !strings.Contains(text, "+goose NO TRANSACTION") {
			faults = append(faults, statement+": needs -- +goose NO TRANSACTION")
		}
	}
	for _, block := range blocks.FindAllString(text, -1) {
		block = silenced(block)
		if newTrigger.MatchString(block) && strings.Count(block, ";") > 1 {
			faults = append(faults, "a trigger in a block with other statements: Citus sends the whole block to a worker as one statement")
		}
	}
	return faults
}

func TestLint_finds(t *testing.T) {
	t.Parallel()
	for text, faults := range map[string]int{
		"-- The attempt's row.\nCREATE INDEX x ON orders (amount);\n-- It's there.":                         1,
		"ALTER TABLE orders ADD COLUMN note text NOT NULL DEFAULT ''":                                       0,
		"CREATE TABLE disputes (id uuid PRIMARY KEY); CREATE INDEX disputes_by_id ON disputes (id)":         0,
		"-- +goose NO TRANSACTION\n-- +goose Up\nCREATE INDEX CONCURRENTLY orders_by_note ON orders (note)": 0,
		"ALTER TABLE orders ADD CONSTRAINT orders_note CHECK (note <> '') NOT VALID":                        0,
		"ALTER TABLE orders VALIDATE CONSTRAINT orders_note":                                                0,
		"ALTER TABLE orders ADD CONSTRAINT orders_notes UNIQUE USING INDEX orders_by_note":                  0,
		"SET lock_timeout = '1s'": 0,
		"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ CREATE INDEX i ON orders (note); $$":                                    0,
		"-- CREATE INDEX i ON orders (note)":                                                                                         0,
		"SET lock_timeout = '10s'":                                                                                                   1,
		"SET LOCAL lock_timeout TO 0":                                                                                                1,
		"CREATE INDEX orders_by_note ON orders (note)":                                                                               1,
		"CREATE UNIQUE INDEX CONCURRENTLY orders_by_note ON orders (note)":                                                           1,
		"DROP INDEX orders_by_user":                                                                                                  1,
		"ALTER TABLE orders\n\tALTER COLUMN amount TYPE numeric":                                                                     1,
		"ALTER TABLE orders ADD COLUMN due boolean NOT NULL GENERATED ALWAYS AS (amount > 0) STORED":                                 1,
		"ALTER TABLE orders ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid()":                                                   1,
		"ALTER TABLE orders ADD CONSTRAINT orders_note CHECK (note <> '')":                                                           1,
		"ALTER TABLE refunds ADD CONSTRAINT refunds_of FOREIGN KEY (order_id) REFERENCES orders":                                     1,
		"ALTER TABLE orders ADD COLUMN refund uuid REFERENCES refunds":                                                               1,
		"ALTER TABLE orders ADD CONSTRAINT orders_notes UNIQUE (note)":                                                               1,
		"ALTER TABLE orders ALTER COLUMN note SET NOT NULL":                                                                          1,
		"-- +goose StatementBegin\nCREATE TRIGGER a AFTER INSERT ON orders EXECUTE FUNCTION f();\nSELECT 1;\n-- +goose StatementEnd": 1,
		"-- +goose StatementBegin\nDO $$ BEGIN PERFORM 1; END $$;\n-- +goose StatementEnd\nCREATE TRIGGER a AFTER INSERT ON orders EXECUTE FUNCTION f();": 0,
		"ALTER TABLE orders SET UNLOGGED": 1,
		"CREATE TABLE disputes (); CREATE INDEX i ON orders (note); ALTER TABLE disputes ADD UNIQUE (note)": 1,
	} {
		require.Len(t, lint(text), faults, text)
	}
}
