package postgres

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"
)

// TestHeadroomIsEnough: what is sent fits into the room that was made for it, and
// less than half of it stays empty.
func TestHeadroomIsEnough(t *testing.T) {
	t.Parallel()
	text, now := strings.Repeat("x", 300), time.Now()
	for name, list := range map[string]struct {
		oid uint32
		of  func(n int) any
	}{
		"texts": {pgtype.TextArrayOID, func(n int) any { return slices.Repeat([]string{text}, n) }},
		"bytes": {pgtype.ByteaArrayOID, func(n int) any { return slices.Repeat([][]byte{[]byte(text)}, n) }},
		"text":  {pgtype.TextOID, func(n int) any { return strings.Repeat(text, n) }},
		"byte":  {pgtype.ByteaOID, func(n int) any { return []byte(strings.Repeat(text, n)) }},
		"uuids": {pgtype.UUIDArrayOID, func(n int) any { return slices.Repeat([]uuid.UUID{uuid.New()}, n) }},
		"times": {pgtype.TimestamptzArrayOID, func(n int) any { return slices.Repeat([]time.Time{now}, n) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{0, 1, 32, 128} {
				args := []any{list.of(n), list.of(n)}
				h := headroomFor(args)
				sent := onTheWire(t, list.oid, args)
				require.GreaterOrEqual(t, int(h), sent, n)
				require.Less(t, int(h), 2*sent+100, n)
				given, err := h.Encode([]byte("as before"))
				require.NoError(t, err)
				require.Equal(t, "as before", string(given), "it says nothing itself")
				require.GreaterOrEqual(t, cap(given), len(given)+sent)
			}
		})
	}
}

// onTheWire is how many bytes a statement takes whose arguments are of one type.
func onTheWire(t *testing.T, oid uint32, args []any) int {
	t.Helper()
	m := pgtype.NewMap()
	pgxuuid.Register(m)
	speakArrays(m)
	var built pgx.ExtendedQueryBuilder
	require.NoError(t, built.Build(m, &pgconn.StatementDescription{ParamOIDs: slices.Repeat([]uint32{oid}, len(args))}, args))
	var wire bytes.Buffer
	front := pgproto3.NewFrontend(&wire, &wire)
	front.SendBind(&pgproto3.Bind{PreparedStatement: "stmtcache_" + strings.Repeat("0", 50), Parameters: built.ParamValues, ParameterFormatCodes: built.ParamFormats})
	front.SendExecute(&pgproto3.Execute{})
	require.NoError(t, front.Flush())
	return wire.Len()
}
