package postgres

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/testdb"
)

func TestAStatementAboutOneRowHasNoArrays(t *testing.T) {
	t.Parallel()
	const insert = "INSERT INTO x SELECT unnest($2::text[]), NULLIF(unnest($1::int[]), 0), $3 WHERE must_touch(cardinality($2::text[]))"
	for name, c := range map[string]struct {
		sql  string
		args []any
		want string
		with []any
	}{
		"one row":              {insert, []any{[]int32{7}, []string{"a"}, "b"}, "INSERT INTO x SELECT $2::text, NULLIF($1::int, 0), $3 WHERE must_touch(1)", []any{int32(7), "a", "b"}},
		"two rows":             {insert, []any{[]int32{7, 8}, []string{"a", "b"}, "b"}, insert, []any{[]int32{7, 8}, []string{"a", "b"}, "b"}},
		"no row":               {insert, []any{[]int32{}, []string{}, "b"}, insert, []any{[]int32{}, []string{}, "b"}},
		"arrays unlike":        {insert, []any{[]int32(nil), []string{"a"}, "b"}, insert, []any{[]int32(nil), []string{"a"}, "b"}},
		"bytes":                {"SELECT unnest($1::bytea[]), $2::bytea", []any{[][]byte{{1, 2}}, []byte{3}}, "SELECT $1::bytea, $2::bytea", []any{[]byte{1, 2}, []byte{3}}},
		"any of them":          {"SELECT FROM x WHERE y = ANY ($1::uuid[]) AND z", []any{[]string{"a"}}, "SELECT FROM x WHERE y = $1::uuid AND z", []any{"a"}},
		"an array as such":     {"SELECT unnest($1::text[]) FROM x WHERE y && $2::text[]", []any{[]string{"a"}, []string{"b"}}, "SELECT unnest($1::text[]) FROM x WHERE y && $2::text[]", []any{[]string{"a"}, []string{"b"}}},
		"one row of two":       {"SELECT unnest($1::text[]), cardinality($2::text[])", []any{[]string{"a"}, []string{"b", "c"}}, "SELECT unnest($1::text[]), cardinality($2::text[])", []any{[]string{"a"}, []string{"b", "c"}}},
		"nothing to do at all": {"COMMIT", nil, "COMMIT", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sql, args := write{sql: c.sql, args: c.args}.plain()
			require.Equal(t, c.want, sql)
			require.Equal(t, c.with, args)
		})
	}
}

// TestPostgreSQLTakesEachStatementAboutOneRow has all of them parsed.
func TestPostgreSQLTakesEachStatementAboutOneRow(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testdb.New(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	found := 0
	for name, sql := range statements(t) {
		if s := singleOf(sql); len(s.elements) > 0 {
			found++
			_, err := conn.Prepare(t.Context(), name, s.sql)
			require.NoError(t, err, s.sql)
		} else {
			require.NotContains(t, sql, "unnest($", name)
		}
	}
	require.Greater(t, found, 20)
}

// statements are those that were generated, by the names of their constants.
func statements(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("dbsqlc/*.sql.go")
	require.NoError(t, err)
	found := map[string]string{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if c, ok := n.(*ast.ValueSpec); ok && len(c.Values) == 1 {
				if text, ok := c.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
					found[c.Names[0].Name], err = strconv.Unquote(text.Value)
					require.NoError(t, err)
				}
			}
			return true
		})
	}
	return found
}
