package postgres_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestOnCitus runs the statements of queries/ and the promises of the schema on tables that Citus keeps on a worker.
func TestOnCitus(t *testing.T) {
	t.Parallel()
	cell := testdb.Citus(t)
	t.Run("every statement", func(t *testing.T) {
		t.Parallel()
		everyStatement(t, cell)
	})
	t.Run("promises", func(t *testing.T) {
		t.Parallel()
		promisesOnCitus(t, testdb.Citus(t))
	})
}

// everyStatement runs each statement there and on plain PostgreSQL and compares the responses: about the rows of the stage, about no
// row, and twice about no row. So an INSERT meets a stored row, no row, and a row of its own transaction.
//
//nolint:thelper // it is a test
func everyStatement(t *testing.T, cell string) {
	addresses := []string{testdb.New(t), cell}
	sides := make([]*pgx.Conn, len(addresses))
	for i, dsn := range addresses {
		sides[i] = testdb.Connect(t, dsn)
		_, rows, _ := strings.Cut(stage, "END $$;")
		_, err := sides[i].Exec(t.Context(), names.Replace(rows))
		require.NoError(t, err, "the stage")
	}
	staged := stagedValues(t, sides[0])
	accepted, never := map[string]bool{}, map[string]string{}
	all := queries(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sql, params := positional(all[name])
		for _, kind := range []string{"a row", "no row", "twice"} {
			var told []string
			for _, side := range sides {
				told = append(told, responses(t, side, given[name], sql, func(i int, oid uint32) string {
					return staged.value(tablesOf(sql), name, params[i], oid, kind != "a row")
				}, kind == "twice"))
			}
			if told[0] != told[1] {
				t.Errorf("%s, %s: %s instead of %s", name, kind, told[1], told[0])
			}
			if !strings.Contains(told[0], "refused") {
				accepted[name] = true
			} else {
				never[name] = told[0]
			}
		}
	}
	maps.DeleteFunc(never, func(name, _ string) bool { return accepted[name] })
	require.Empty(t, never, "always refused, so their rows were not compared")
}

// responses runs a statement in a transaction that it undoes, and returns the tags and the numbers of rows, or the refusal.
func responses(t *testing.T, c *pgx.Conn, before, sql string, value func(i int, oid uint32) string, twice bool) string {
	t.Helper()
	ctx := t.Context()
	_, err := c.Exec(ctx, "BEGIN")
	require.NoError(t, err)
	defer func() {
		_, err := c.Exec(ctx, "ROLLBACK")
		require.NoError(t, err)
	}()
	_, err = c.Exec(ctx, before)
	require.NoError(t, err)
	described, err := c.PgConn().Prepare(ctx, "", sql, nil)
	if err != nil {
		return refusal(t, err)
	}
	args := make([][]byte, len(described.ParamOIDs))
	for i, oid := range described.ParamOIDs {
		args[i] = []byte(value(i, oid))
	}
	times := 1
	if twice {
		times = 2
	}
	var told []string
	for range times {
		r := c.PgConn().ExecPrepared(ctx, "", args, nil, nil).Read()
		if r.Err != nil {
			return refusal(t, r.Err)
		}
		told = append(told, fmt.Sprintf("%s, %d rows", r.CommandTag, len(r.Rows)))
	}
	return strings.Join(told, "; ")
}

var (
	partNumber = regexp.MustCompile(`_\d{6,}$`)
	lastName   = regexp.MustCompile(`[a-z][a-z0-9]*_[a-z0-9_]+`)
)

// refusal is the code of an error, and the constraint's name where the message of a worker has it.
func refusal(t *testing.T, err error) string {
	t.Helper()
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	name := refused.ConstraintName
	if found := lastName.FindAllString(refused.Message, -1); name == "" && len(found) > 0 {
		name = found[len(found)-1]
	}
	return refusedWith(refused.Code, name)
}

func refusedWith(code, constraint string) string {
	if !strings.HasPrefix(code, "235") || code == foreign { // a trigger's, or followed by the other table
		constraint = ""
	}
	return strings.TrimSpace("refused with " + code + " " + partNumber.ReplaceAllString(constraint, ""))
}

var (
	embedded  = regexp.MustCompile(`sqlc\.embed\((\w+)\)`)
	anyArg    = regexp.MustCompile(`sqlc\.n?arg\('?(\w+)'?\)`)
	parameter = regexp.MustCompile(`@[a-z]\w*`)
	ofTable   = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE) ([a-z_]+)\b`)
)

// positional returns a statement as PostgreSQL takes it, and the names of its parameters.
func positional(statement string) (sql string, params []string) {
	sql = comments.ReplaceAllString(statement, "")
	sql = anyArg.ReplaceAllString(embedded.ReplaceAllString(sql, "$1.*"), "@$1")
	sql = parameter.ReplaceAllStringFunc(sql, func(name string) string {
		i := slices.Index(params, name[1:])
		if i < 0 {
			i = len(params)
			params = append(params, name[1:])
		}
		return "$" + strconv.Itoa(i+1)
	})
	return strings.TrimRight(strings.TrimSpace(sql), ";"), params
}

func tablesOf(sql string) (tables []string) {
	for _, found := range ofTable.FindAllStringSubmatch(sql, -1) {
		tables = append(tables, found[1])
	}
	return tables
}

// staged are the values of the stage, by table and column.
type staged map[string]map[string]string

func stagedValues(t *testing.T, c *pgx.Conn) staged {
	t.Helper()
	rows, err := c.Query(t.Context(), "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	s := staged{}
	for _, table := range tables {
		s[table] = map[string]string{}
		rows, err := c.Query(t.Context(), "SELECT v.key, v.value FROM (SELECT * FROM "+table+" LIMIT 1) r, jsonb_each_text(to_jsonb(r)) v WHERE v.value IS NOT NULL") //nolint:rowserrcheck // ForEachRow returns it
		require.NoError(t, err)
		var column, value string
		_, err = pgx.ForEachRow(rows, []any{&column, &value}, func() error {
			s[table][column] = value
			return nil
		})
		require.NoError(t, err)
	}
	return s
}

// given runs before a statement that the rows of the stage would refuse.
var given = map[string]string{
	"AttemptsInsert": failed,
	"NoticedInsert":  "DELETE FROM noticed_requests",
}

// fitting are the values of a statement's parameters that its table accepts, where other values would be refused.
var fitting = map[string]string{
	"APIKeyInsert.hash": `\x` + strings.Repeat("22", 32), "APIKeyInsert.roles": "service",
	"AccountEntriesSave.fees": "1", "AccountEntriesSave.nets": "1",
	"AttemptsAdvance.was": "3", "AttemptsAdvance.saved_methods": "{}", "AttemptsAdvance.reviews": "{}", "AttemptsAdvance.payments": "{}",
	"AttemptsAdvance.finalized_ats": zeroTime,
	"AttemptsImport.order_ids":      "o1", "AttemptsImport.statuses": "failed", "AttemptsImport.payments": "{}",
	"AttemptsInsert.order_ids": "o1",
	"DisputeInsert.order_id":   "o1", "DisputeInsert.attempt_id": stagedAttempt, "DisputeInsert.provider_dispute_id": "dp_2", "DisputeInsert.status": "won",
	"DisputeMoveInsert.order_id": "o1", "DisputeMoveInsert.attempt_id": stagedAttempt, "DisputeMoveInsert.number": "2",
	"ErasureBegin.fresh":        "erased-" + strings.Repeat("a", 24),
	"EventsInsert.next_try_ats": zeroTime,
	"KeysStore.statuses":        "200", "KeysStore.headers": "{}",
	"NoticedInsert.notice": "team", "NoticedInsert.ids": "00000000-0000-7000-8000-0000000000d1",
	"OperationsMove.were_states":  "sent",
	"ReconciliationInsert.source": "person",
	"RefundInsert.order_id":       "o1", "RefundInsert.attempt_id": stagedAttempt, "RefundInsert.provider_refund_id": "re_2", "RefundInsert.status": "failed",
	"SealedDetailsInsert.order_ids": "o1",
	"SettlementsSave.fees":          "1", "SettlementsSave.nets": "1", "SettlementsSave.order_ids": "o1", "SettlementsSave.attempt_ids": stagedAttempt,
}

const (
	stagedAttempt = "00000000-0000-7000-8000-0000000000a1"
	zeroTime      = "0001-01-01T00:00:00Z"
)

// constants are the values of parameters that have no column of their name, or whose columns take few values.
var constants = map[string]string{
	"recently": "60", "lately": "60", "most": "10", "scan": "10",
}

// column returns the stage's value of the column with the parameter's name, or with the singular of it.
func (s staged) column(tables []string, param string) string {
	for _, name := range []string{param, strings.TrimSuffix(param, "s"), strings.TrimSuffix(param, "es"), strings.TrimSuffix(param, "ies") + "y"} {
		for _, table := range append(tables, slices.Sorted(maps.Keys(s))...) {
			if v, has := s[table][name]; has && !strings.HasPrefix(v, "[") {
				return v
			}
		}
	}
	return ""
}

// value is the text of a parameter.
func (s staged) value(tables []string, statement, param string, oid uint32, other bool) string {
	if element, is := elements[oid]; is {
		return `{"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s.value(tables, statement, param, element, other)) + `"}`
	}
	if v, has := fitting[statement+"."+param]; has {
		return v
	}
	v := cmp.Or(constants[param], s.column(tables, param))
	if !fits(v, oid) {
		v = cmp.Or(defaults[oid], "x")
	}
	if !other {
		return v
	}
	switch oid {
	case pgtype.UUIDOID:
		return "00000000-0000-7000-8000-00000000ffff"
	case pgtype.TextOID:
		if slices.Contains([]string{"order_id", "user_id", "client_request_id", "account", "key", "name", "entry_id", "token"}, strings.TrimSuffix(param, "s")) {
			return v + "9"
		}
	}
	return v
}

// fits reports whether a text can be a value of a type.
func fits(v string, oid uint32) bool {
	var err error
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		_, err = strconv.ParseInt(v, 10, 16)
	case pgtype.Float8OID:
		_, err = strconv.ParseFloat(v, 64)
	case pgtype.BoolOID:
		_, err = strconv.ParseBool(v)
	case pgtype.UUIDOID:
		return len(v) == len("00000000-0000-7000-8000-00000000ffff") && strings.Count(v, "-") == 4
	case pgtype.TimestamptzOID:
		_, err = time.Parse(time.RFC3339, v)
	case pgtype.DateOID:
		_, err = time.Parse(time.DateOnly, v)
	case pgtype.ByteaOID:
		return strings.HasPrefix(v, `\x`)
	case pgtype.JSONOID, pgtype.JSONBOID:
		return strings.HasPrefix(v, "{")
	}
	return v != "" && err == nil
}

var (
	defaults = map[uint32]string{
		pgtype.Int2OID: "1", pgtype.Int4OID: "1", pgtype.Int8OID: "1", pgtype.Float8OID: "1", pgtype.BoolOID: "true", pgtype.DateOID: "2026-01-01",
		pgtype.UUIDOID: "00000000-0000-7000-8000-0000000000a1", pgtype.TimestamptzOID: "2026-01-01T00:00:00Z", pgtype.ByteaOID: `\x01`,
		pgtype.JSONOID: "{}", pgtype.JSONBOID: "{}", pgtype.IntervalOID: "1 hour",
	}
	elements = map[uint32]uint32{
		pgtype.TextArrayOID: pgtype.TextOID, pgtype.UUIDArrayOID: pgtype.UUIDOID, pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int4ArrayOID: pgtype.Int4OID,
		pgtype.Int8ArrayOID: pgtype.Int8OID, pgtype.BoolArrayOID: pgtype.BoolOID, pgtype.TimestamptzArrayOID: pgtype.TimestamptzOID, pgtype.DateArrayOID: pgtype.DateOID,
		pgtype.ByteaArrayOID: pgtype.ByteaOID, pgtype.JSONArrayOID: pgtype.JSONOID, pgtype.JSONBArrayOID: pgtype.JSONBOID, pgtype.Float8ArrayOID: pgtype.Float8OID,
	}
)

// promisesOnCitus is TestSchemaKeepsItsPromises there. A commit checks the deferred constraints of another server.
//
//nolint:thelper // it is a test
func promisesOnCitus(t *testing.T, cell string) {
	c := testdb.Connect(t, cell)
	function, rows, _ := strings.Cut(stage, "END $$;")
	_, err := c.Exec(t.Context(), function+"END $$")
	require.NoError(t, err)
	for _, p := range promises() {
		tx, err := c.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), names.Replace(rows))
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), names.Replace(p.given)) // by itself: ALTER TABLE reaches the other server only alone
		told := "nothing"
		if err == nil {
			_, err = tx.Exec(t.Context(), names.Replace(p.breaks))
		} else {
			told = "before: "
		}
		if err == nil {
			err = tx.Commit(t.Context())
			if refused, is := errors.AsType[*pgconn.PgError](err); is && strings.HasPrefix(refused.Message, "could not commit transaction for shard") {
				refused.Code, refused.Message = p.code, "the cause is only in a warning"
			}
		}
		if err != nil {
			told = strings.TrimPrefix(told, "nothing") + refusal(t, err)
		}
		if want := refusedWith(p.code, p.constraint); told != want {
			t.Errorf("%s: %s instead of %s", p.name, told, want)
		}
		_ = tx.Rollback(t.Context())
	}
}
