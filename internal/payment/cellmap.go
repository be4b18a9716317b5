package payment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// OwnOrderPrefix begins the ids of orders that paylatch creates. Such an id contains its cell.
const OwnOrderPrefix = "ord_"

// ownCell returns the cell in the id of an order, and false if paylatch can't have created the id. A merchant may choose an id of this form.
func ownCell(id OrderID) (n Cell, own bool) {
	text, own := strings.CutPrefix(string(id), OwnOrderPrefix)
	made, err := uuid.Parse(text)
	if !own || err != nil || made.String() != text || made.Version() != 7 || made.Variant() != uuid.RFC4122 {
		return OnlyCell, false
	}
	return CellOf(made), true
}

// CellMap leads order ids to cells. Its keys are the prefixes of order ids that merchants choose, and OwnOrders of each cell. No prefix begins
// with another prefix or with OwnOrderPrefix. All other orders are in cell 0.
type CellMap map[string]Cell

// OwnOrders is the key of a CellMap for the order ids that paylatch creates in a cell. No id begins with it.
func OwnOrders(n Cell) string { return OwnOrderPrefix + "/" + strconv.Itoa(int(n)) }

// IsPrefix reports whether a key of a CellMap is a prefix of ids.
func IsPrefix(key string) bool { return !strings.HasPrefix(key, OwnOrderPrefix) }

// CellEpoch is a map under which a database serves or served.
type CellEpoch struct {
	// Epoch rises with each change of the map, by the same numbers in all cells.
	Epoch int64
	// Number is the cell of the database.
	Number Cell
	Map    CellMap
	// Open maps are in use: an order is created only if all of them lead it to the database.
	Open bool
}

// Of returns the cell of an order.
func (m CellMap) Of(id OrderID) Cell {
	if n, own := ownCell(id); own {
		return m[OwnOrders(n)]
	}
	for prefix, n := range m {
		if strings.HasPrefix(string(id), prefix) {
			return n
		}
	}
	return OnlyCell
}

// Same reports whether two maps lead each order to the same cell.
func (m CellMap) Same(other CellMap) bool { return maps.Equal(m, other) }

// String lists the map, such as "eu- to cell 1, all other orders to cell 0".
func (m CellMap) String() string {
	var text strings.Builder
	for _, prefix := range slices.Sorted(maps.Keys(m)) {
		_, _ = fmt.Fprintf(&text, "%s to cell %d, ", prefix, m[prefix])
	}
	if len(m) == 0 {
		return "all orders to cell 0"
	}
	return text.String() + "all other orders to cell 0"
}

// IDRange is the order ids from Low, with it, to High, without it, compared byte by byte.
type IDRange struct{ Low, High string }

// beyond is above each id.
const beyond = "\U0010FFFF"

// Own lists the cells whose OwnOrders the map leads to cell n, and the cells whose OwnOrders it leads to other cells.
func (m CellMap) Own(n Cell) (here, elsewhere []Cell) {
	for i := range Cell(1 << CellBits) {
		switch to, has := m[OwnOrders(i)]; {
		case has && to == n:
			here = append(here, i)
		case has:
			elsewhere = append(elsewhere, i)
		}
	}
	return here, elsewhere
}

// Elsewhere returns the ranges of order ids that the map leads to another cell than n. No range contains ids that begin with
// OwnOrderPrefix.
func (m CellMap) Elsewhere(n Cell) (ranges []IDRange) {
	if n == OnlyCell {
		for _, prefix := range slices.Sorted(maps.Keys(m)) {
			if m[prefix] != n && IsPrefix(prefix) {
				ranges = append(ranges, IDRange{prefix, after(prefix)})
			}
		}
		return ranges
	}
	here := []string{OwnOrderPrefix}
	for prefix, of := range m {
		if of == n && IsPrefix(prefix) {
			here = append(here, prefix)
		}
	}
	slices.Sort(here)
	low := ""
	for _, prefix := range here {
		ranges = append(ranges, IDRange{low, prefix})
		low = after(prefix)
	}
	return append(ranges, IDRange{low, beyond})
}

// after returns the first text beyond all texts that begin with prefix. The last character of a prefix is a letter, a digit or
// one of a few signs, so the next byte is a character, too.
func after(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string(rune(prefix[last]+1))
}

// CellMapError is returned for a configuration under which the databases of cells must not serve. Key is the key of the configuration
// to look at, Remedy says what to do.
type CellMapError struct{ Key, Problem, Remedy string }

func (e *CellMapError) Error() string { return e.Key + ": " + e.Problem + ". " + e.Remedy }

// OtherCell returns a CellMapError for the database of cell is, which the configuration has for cell want.
func OtherCell(is, want Cell) *CellMapError {
	return &CellMapError{
		Key: "database_url", Problem: fmt.Sprintf("the configured database of cell %d is the database of cell %d", want, is),
		Remedy: fmt.Sprintf("Correct the addresses: perhaps the addresses of cells %d and %d are swapped or equal", is, want),
	}
}
