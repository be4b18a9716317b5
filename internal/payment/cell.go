package payment

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// An id bears the cell in which an account's payments live: a database of
// its own, where there are several. Ten bits of an id can't be added to ids that exist, so each
// has them from the beginning.

// CellBits is the width of a cell's number: 1,024 cells.
const CellBits = 10

// Cell is that of a cell, below 1 << Bits.
type Cell uint16

// OnlyCell is the cell of a service that has no others, and the first one of a service that has. The ids of what no address names,
// such as the entries of a log, contain it everywhere.
const OnlyCell Cell = 0

// CellOf returns the cell that an id of NewID or NewIDAt names. Any other id has bits in that place, too: what has no such cell is to
// be taken for an id that does not exist.
func CellOf[ID ~[16]byte](id ID) Cell { return Cell(id[6]&0x0f)<<6 | Cell(id[7]>>2) }

// NewID returns a UUIDv7 (RFC 9562, section 5.7) with the cell's number in the first bits
// after the time. Ids of one process and cell ascend: the fraction of the millisecond, which
// package uuid keeps there, follows the number.
func (n Cell) NewID() uuid.UUID { return n.mark(uuid.Must(uuid.NewV7())) }

// NewIDAt is NewID for what began at a time of the past, and sorts with what began then. Those of
// one millisecond are in no order.
func (n Cell) NewIDAt(t time.Time) uuid.UUID {
	id := uuid.Must(uuid.NewRandom())
	binary.BigEndian.PutUint64(id[:], uint64(t.UnixMilli())<<16|uint64(binary.BigEndian.Uint16(id[6:])))
	return n.mark(id)
}

// mark writes the version, the variant and the cell's number.
func (n Cell) mark(id uuid.UUID) uuid.UUID {
	fraction := binary.BigEndian.Uint16(id[6:]) & 0x0fff
	binary.BigEndian.PutUint16(id[6:], 0x7000|uint16(n)<<2|fraction>>10)
	binary.BigEndian.PutUint16(id[8:], 0x8000|fraction<<4&0x3fff|uint16(id[9]&0x0f))
	return id
}
