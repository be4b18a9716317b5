package postgres

import (
	"reflect"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// headroom is about how many bytes the statements of a round trip take on the wire.
// As a message that says nothing it makes room for them at once: pgx lengthens what
// it is about to send by a quarter at a time and copies it each time, which for a
// batch of webhooks is most of what sending costs.
type headroom int

var _ pgproto3.FrontendMessage = headroom(0)

// headroomFor is what a statement needs. What is neither text nor bytes takes 16
// bytes at the most, alone or in an array.
func headroomFor(args []any) headroom {
	const statement, argument, length, element = 100, 32, 4, 16
	n := statement + argument*len(args)
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		case []string:
			for _, text := range v {
				n += length + len(text)
			}
		case [][]byte:
			for _, text := range v {
				n += length + len(text)
			}
		default:
			if array := reflect.ValueOf(arg); array.Kind() == reflect.Slice {
				n += (length + element) * array.Len()
			}
		}
	}
	return headroom(n)
}

// Frontend implements pgproto3.FrontendMessage.
func (headroom) Frontend() {}

// Decode implements pgproto3.Message. Nobody receives one.
func (headroom) Decode([]byte) error { return nil }

// Encode implements pgproto3.Message.
func (h headroom) Encode(dst []byte) ([]byte, error) { return slices.Grow(dst, int(h)), nil }
