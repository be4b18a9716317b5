package pool

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// speakArrays registers cheap encodings of the arrays by which a statement takes many rows. pgx looks up each element's
// type and boxes the element. For a batch of webhooks that is a large part of the cost.
func speakArrays(m *pgtype.Map) {
	speakArray(m, pgtype.TextArrayOID, func(v string) int { return len(v) }, func(buf []byte, v string) []byte {
		return append(sized(buf, len(v)), v...)
	})
	speakArray(m, pgtype.ByteaArrayOID, func(v []byte) int { return len(v) }, func(buf, v []byte) []byte {
		if v == nil {
			return binary.BigEndian.AppendUint32(buf, null)
		}
		return append(sized(buf, len(v)), v...)
	})
	speakArray(m, pgtype.UUIDArrayOID, always[uuid.UUID](16), func(buf []byte, v uuid.UUID) []byte {
		return append(sized(buf, len(v)), v[:]...)
	})
	speakArray(m, pgtype.BoolArrayOID, always[bool](1), func(buf []byte, v bool) []byte {
		if v {
			return append(sized(buf, 1), 1)
		}
		return append(sized(buf, 1), 0)
	})
	speakArray(m, pgtype.Int4ArrayOID, always[int32](4), func(buf []byte, v int32) []byte {
		return binary.BigEndian.AppendUint32(sized(buf, 4), uint32(v)) //nolint:gosec // the same bits
	})
	speakArray(m, pgtype.Int8ArrayOID, always[int64](8), func(buf []byte, v int64) []byte {
		return binary.BigEndian.AppendUint64(sized(buf, 8), uint64(v)) //nolint:gosec // the same bits
	})
	speakArray(m, pgtype.TimestamptzArrayOID, always[time.Time](8), func(buf []byte, v time.Time) []byte {
		return binary.BigEndian.AppendUint64(sized(buf, 8), uint64(v.UnixMicro()-epoch.UnixMicro())) //nolint:gosec // the same bits
	})
}

func always[T any](size int) func(T) int { return func(T) int { return size } }

// null is the length of a NULL element.
const null = 0xFFFFFFFF

// epoch is when PostgreSQL's times begin.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant

func sized(buf []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(buf, uint32(n)) //nolint:gosec // below the protocol's limit of 1 GiB
}

// speakArray gives an array type a plan of its own for slices of T, by the size of
// an element and its encoding after its length.
func speakArray[T any](m *pgtype.Map, oid uint32, size func(T) int, element func(buf []byte, v T) []byte) {
	known, ok := m.TypeForOID(oid)
	if !ok {
		panic(fmt.Sprintf("pgx knows no type %d", oid))
	}
	codec, ok := known.Codec.(*pgtype.ArrayCodec)
	if !ok {
		panic(known.Name + " is no array")
	}
	m.RegisterType(&pgtype.Type{Name: known.Name, OID: oid, Codec: arrayCodec[T]{codec, arrayPlan[T]{codec.ElementType.OID, size, element}}})
}

// arrayCodec is pgx's codec, except for the encoding of a slice of T.
type arrayCodec[T any] struct {
	*pgtype.ArrayCodec

	plan arrayPlan[T]
}

// PlanEncode implements pgtype.Codec.
func (c arrayCodec[T]) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ours := value.([]T); ours && format == pgx.BinaryFormatCode {
		return c.plan
	}
	return c.ArrayCodec.PlanEncode(m, oid, format, value)
}

// arrayPlan encodes a slice of T as PostgreSQL's array_recv reads it: the number
// of dimensions, whether there are nulls, the elements' type; for the dimension
// its length and first index; then the elements, each after its length.
type arrayPlan[T any] struct {
	elementOID uint32
	size       func(T) int
	element    func(buf []byte, v T) []byte
}

// Encode implements pgtype.EncodePlan. A nil slice is NULL, as in pgx.
func (p arrayPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	slice, ok := value.([]T)
	switch {
	case !ok:
		return nil, fmt.Errorf("encode an array: %T", value)
	case slice == nil:
		return nil, nil
	case len(slice) == 0:
		return p.head(buf, 0), nil
	}
	buf = sized(sized(p.head(p.room(buf, slice), 1), len(slice)), 1)
	for _, v := range slice {
		buf = p.element(buf, v)
	}
	return buf, nil
}

// head has the flag for nulls, which costs nothing in an array without nulls.
func (p arrayPlan[T]) head(buf []byte, dimensions int) []byte {
	return binary.BigEndian.AppendUint32(sized(sized(buf, dimensions), 1), p.elementOID)
}

// room makes room for a whole slice at once. buf holds all arrays of a statement. With append alone, which grows the
// buffer by a quarter, each array would be copied several times.
func (p arrayPlan[T]) room(buf []byte, slice []T) []byte {
	need := p.length(slice)
	if cap(buf)-len(buf) < need {
		return slices.Grow(buf, max(need, 3*len(buf)))
	}
	return buf
}

// length is the encoded length of a slice with elements.
func (p arrayPlan[T]) length(slice []T) int {
	const head, each = 20, 4
	n := head + each*len(slice)
	for _, v := range slice {
		n += p.size(v)
	}
	return n
}
