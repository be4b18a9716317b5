package pool

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// TestArraysAreWhatPgxMakesOfThem sends each array to PostgreSQL and has it say
// the same in text as for pgx's own encoding.
func TestArraysAreWhatPgxMakesOfThem(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testdb.New(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	ours, theirs := pgtype.NewMap(), pgtype.NewMap()
	pgxuuid.Register(ours)
	pgxuuid.Register(theirs)
	speakArrays(ours)
	long := make([]string, 300)
	for i := range long {
		long[i] = string(rune('a' + i%26))
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	for _, c := range []struct {
		oid   uint32
		value any
	}{
		{pgtype.TextArrayOID, []string{"", "a", "NULL", `"{\`, "ü\n", "\x1f"}},
		{pgtype.TextArrayOID, []string{}},
		{pgtype.TextArrayOID, long},
		{pgtype.ByteaArrayOID, [][]byte{{}, {0}, {255, 0, 'x'}, nil}},
		{pgtype.UUIDArrayOID, []uuid.UUID{{}, uuid.MustParse("01900000-0000-7000-8000-00000000abcd")}},
		{pgtype.BoolArrayOID, []bool{true, false}},
		{pgtype.Int4ArrayOID, []int32{0, -1, 1 << 30, -1 << 31}},
		{pgtype.Int8ArrayOID, []int64{0, -1, 1 << 62, -1 << 63}},
		{pgtype.TimestamptzArrayOID, []time.Time{{}, now, time.Unix(0, 0), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}},
	} {
		said := func(m *pgtype.Map) string {
			raw, err := m.Encode(c.oid, pgx.BinaryFormatCode, c.value, nil)
			require.NoError(t, err)
			known, _ := m.TypeForOID(c.oid)
			r := conn.PgConn().ExecParams(t.Context(), "SELECT $1::"+known.Name, [][]byte{raw}, []uint32{c.oid}, []int16{pgx.BinaryFormatCode}, nil).Read()
			require.NoError(t, r.Err)
			return string(r.Rows[0][0])
		}
		require.Equal(t, said(theirs), said(ours))
	}
}

func TestAnArrayThatIsNoneIsNull(t *testing.T) {
	t.Parallel()
	m := pgtype.NewMap()
	speakArrays(m)
	raw, err := m.Encode(pgtype.TextArrayOID, pgx.BinaryFormatCode, []string(nil), []byte{})
	require.NoError(t, err)
	require.Nil(t, raw)
}

// Types that the plan does not cover stay pgx's: names as a type of their own, pointers.
func TestOtherSlicesArePgxs(t *testing.T) {
	t.Parallel()
	m := pgtype.NewMap()
	speakArrays(m)
	type name string
	text := "a"
	for _, value := range []any{[]name{"a"}, []*string{&text}, []any{"a"}} {
		raw, err := m.Encode(pgtype.TextArrayOID, pgx.BinaryFormatCode, value, nil)
		require.NoError(t, err)
		want, err := pgtype.NewMap().Encode(pgtype.TextArrayOID, pgx.BinaryFormatCode, value, nil)
		require.NoError(t, err)
		require.Equal(t, want, raw)
	}
}

func BenchmarkArray(b *testing.B) {
	texts := make([]string, 32)
	for i := range texts {
		texts[i] = "evt_0123456789abcdef0123456789abcdef"
	}
	for name, m := range map[string]*pgtype.Map{"pgx": pgtype.NewMap(), "ours": pgtype.NewMap()} {
		if name == "ours" {
			speakArrays(m)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 4096)
			for b.Loop() {
				if _, err := m.Encode(pgtype.TextArrayOID, pgx.BinaryFormatCode, texts, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestTheLengthOfAnArrayIsKnownBefore keeps room from being too small or too large.
func TestTheLengthOfAnArrayIsKnownBefore(t *testing.T) {
	t.Parallel()
	m := pgtype.NewMap()
	pgxuuid.Register(m)
	speakArrays(m)
	measured(t, m, pgtype.TextArrayOID, "", "a", "two words")
	measured(t, m, pgtype.ByteaArrayOID, []byte{}, nil, []byte("abc"))
	measured(t, m, pgtype.UUIDArrayOID, uuid.UUID{}, uuid.New())
	measured(t, m, pgtype.BoolArrayOID, true, false)
	measured(t, m, pgtype.Int4ArrayOID, int32(1), -1)
	measured(t, m, pgtype.Int8ArrayOID, int64(1), -1)
	measured(t, m, pgtype.TimestamptzArrayOID, time.Time{}, time.Unix(0, 0))
}

func measured[T any](t *testing.T, m *pgtype.Map, oid uint32, slice ...T) {
	t.Helper()
	plan, ours := m.PlanEncode(oid, pgx.BinaryFormatCode, slice).(arrayPlan[T])
	require.True(t, ours)
	raw, err := plan.Encode(slice, nil)
	require.NoError(t, err)
	require.Len(t, raw, plan.length(slice))
}
