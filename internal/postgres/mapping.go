package postgres

import (
	"reflect"
	"time"

	"github.com/google/uuid"
)

// newParams returns the parameters of a statement that takes n rows: its arrays are
// empty and have room for as many.
func newParams[P any](n int) *P {
	p := new(P)
	for _, field := range reflect.ValueOf(p).Elem().Fields() {
		if field.Kind() == reflect.Slice {
			field.Grow(n)
		}
	}
	return p
}

// asUUIDs returns ids as a statement takes them.
func asUUIDs[T ~[16]byte](ids []T) []uuid.UUID {
	plain := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		plain[i] = uuid.UUID(id)
	}
	return plain
}

// orZero replaces nil by the zero time in an array, since sqlc can't make array elements nullable. The statement turns
// it back into NULL.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// orEmpty is the text of a column, empty for NULL.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// orNull is NULL for an empty text.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
