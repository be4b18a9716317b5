package support

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/backoffice/parts"
)

// Order is the order of a merged list: At returns the place of an item, Compare compares two places.
type Order[T any] struct {
	At      func(T) (time.Time, string)
	Compare func(a time.Time, aID string, b time.Time, bID string) int
}

// Part is the page of a part of a list, by the part's name.
type Part[T any] struct {
	Name  string
	Items []T
	// More is set where more follow in the part. Away is set where the part did not respond.
	More, Away bool
}

// Of is the page of one part of a merged list.
func (p Page) Of(part string) Page {
	if at, own := p.apart[part]; own {
		p.place = at
	}
	p.apart = nil
	return p
}

// Merge makes one page from the pages of all parts. Each part must have at least as many items as the page, unless its list ends before.
// All parts go on behind the last item. A part that is away keeps its position, so its items come in later pages. The same holds for a part
// that is behind the last item already, because another part had kept its position. The next cursor is empty if all parts that responded
// are at their end.
func Merge[T any](p Page, o Order[T], all []Part[T]) (items []T, next string) {
	lists, more := make([][]T, len(all)), false
	for i, part := range all {
		lists[i], more = part.Items, more || part.More
	}
	items, of := parts.First(lists, o.compare, p.limit)
	if len(items) == 0 || of == len(items) && !more {
		return items, ""
	}
	last := o.place(items[len(items)-1])
	apart := map[string]place{}
	for _, part := range all {
		if at := p.Of(part.Name).place; part.Away || !at.begins() && o.behind(at, last) {
			apart[part.Name] = at
		}
	}
	return items, cursorOf(last, apart)
}

func (o Order[T]) place(item T) place {
	at, id := o.At(item)
	return place{at, id}
}

func (o Order[T]) compare(a, b T) int {
	x, y := o.place(a), o.place(b)
	return o.Compare(x.before, x.beforeID, y.before, y.beforeID)
}

// behind reports whether a place is behind another one.
func (o Order[T]) behind(a, b place) bool {
	return o.Compare(a.before, a.beforeID, b.before, b.beforeID) > 0
}

// cursorOf encodes the place of all parts and the different places of the parts in apart: PLACE.1:PLACE.7: means that 7 has not begun.
func cursorOf(all place, apart map[string]place) string {
	texts := []string{all.cursor()}
	for _, name := range slices.Sorted(maps.Keys(apart)) {
		text := ""
		if at := apart[name]; !at.begins() {
			text = at.cursor()
		}
		texts = append(texts, name+":"+text)
	}
	return strings.Join(texts, ".")
}

func parsePlaces(text string) (all place, apart map[string]place, ok bool) {
	first, rest, more := strings.Cut(text, ".")
	if all, ok = parsePlace(first); !ok || !more {
		return all, nil, ok
	}
	apart = map[string]place{}
	for one := range strings.SplitSeq(rest, ".") {
		name, at, named := strings.Cut(one, ":")
		if apart[name], ok = parsePlace(at); at == "" {
			apart[name], ok = beginning(), true
		}
		if !named || !ok {
			return place{}, nil, false
		}
	}
	return all, apart, true
}
