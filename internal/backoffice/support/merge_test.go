package support_test

import (
	"cmp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

// item is one of a list that is ordered by times and ids, in one of two directions.
type item struct {
	at time.Time
	id uuid.UUID
}

func order(oldest bool) support.Order[item] {
	sign := -1
	if oldest {
		sign = 1
	}
	return support.Order[item]{
		At: func(i item) (time.Time, string) { return i.at, i.id.String() },
		Compare: func(a time.Time, aID string, b time.Time, bID string) int {
			return sign * cmp.Or(a.Compare(b), cmp.Compare(aID, bID))
		},
	}
}

// held is a part of a list, as a storage reads it.
type held struct {
	items []item
	away  bool
}

func (h held) page(t require.TestingT, name string, p support.Page, o support.Order[item]) support.Part[item] {
	if h.away {
		return support.Part[item]{Name: name, Away: true}
	}
	from, id, limit, err := p.Of(name).From()
	require.NoError(t, err)
	found := slices.Clone(h.items)
	slices.SortFunc(found, func(a, b item) int { return o.Compare(a.at, a.id.String(), b.at, b.id.String()) })
	if from != nil {
		found = slices.DeleteFunc(found, func(i item) bool { return o.Compare(i.at, i.id.String(), *from, id.String()) <= 0 })
	}
	return support.Part[item]{Name: name, Items: found[:min(limit, len(found))], More: len(found) > limit}
}

// read reads a page of all parts.
func read(t require.TestingT, parts []held, o support.Order[item], cursor string, limit int) ([]item, string) {
	p, err := support.ParsePage(cursor, strconv.Itoa(limit))
	require.NoError(t, err)
	all := make([]support.Part[item], len(parts))
	for i, part := range parts {
		all[i] = part.page(t, strconv.Itoa(i), p, o)
	}
	return support.Merge(p, o, all)
}

func spread(t *rapid.T) (parts []held, whole held) {
	parts = make([]held, rapid.IntRange(1, 3).Draw(t, "parts"))
	for i := range rapid.IntRange(0, 20).Draw(t, "items") {
		one := item{time.Unix(int64(rapid.IntRange(0, 4).Draw(t, "at")), 0).UTC(), uuid.NewSHA1(uuid.Nil, []byte{byte(i)})}
		of := rapid.IntRange(0, len(parts)-1).Draw(t, "of")
		parts[of].items, whole.items = append(parts[of].items, one), append(whole.items, one)
	}
	return parts, whole
}

// However items with equal times are spread, the pages of all parts are those of one list.
func TestMergedPagesAreThoseOfOneList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts, whole := spread(t)
		o, limit := order(rapid.Bool().Draw(t, "oldest")), rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(t, "limit")
		one, several := "", ""
		for {
			wanted, next := read(t, []held{whole}, o, one, limit)
			got, then := read(t, parts, o, several, limit)
			require.Equal(t, wanted, got)
			require.Equal(t, next == "", then == "")
			if next == "" {
				return
			}
			one, several = next, then
		}
	})
}

// A part that does not respond for some pages is missing there and comes later, each item once and a part's in their order.
func TestAPartThatWasAwayComesLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts, whole := spread(t)
		o, limit := order(rapid.Bool().Draw(t, "oldest")), rapid.IntRange(1, 3).Draw(t, "limit")
		var seen []item
		cursor := ""
		for range rapid.IntRange(0, 6).Draw(t, "pages") {
			for i := range parts {
				parts[i].away = rapid.Bool().Draw(t, "away")
			}
			got, next := read(t, parts, o, cursor, limit)
			if next == "" { // the others have ended: a reader begins again once all are there
				break
			}
			seen, cursor = append(seen, got...), next
		}
		for i := range parts {
			parts[i].away = false
		}
		for {
			got, next := read(t, parts, o, cursor, limit)
			seen = append(seen, got...)
			if next == "" {
				break
			}
			cursor = next
		}
		require.ElementsMatch(t, whole.items, seen)
		for _, part := range parts {
			own := slices.DeleteFunc(slices.Clone(seen), func(i item) bool { return !slices.Contains(part.items, i) })
			require.True(t, slices.IsSortedFunc(own, func(a, b item) int { return o.Compare(a.at, a.id.String(), b.at, b.id.String()) }))
		}
	})
}

// A cursor of parts is none of a list without parts, and one that was changed is refused.
func TestCursorsOfParts(t *testing.T) {
	t.Parallel()
	o := order(false)
	parts := []held{{items: []item{{time.Unix(3, 0), uuid.New()}, {time.Unix(2, 0), uuid.New()}}}, {away: true}}
	_, next := read(t, parts, o, "", 1)
	require.Regexp(t, `^[A-Za-z0-9_-]+\.1:$`, next)
	p, err := support.ParsePage(next, "")
	require.NoError(t, err)
	_, _, err = p.BeforeID()
	require.Error(t, err)
	_, _, _, err = p.From()
	require.Error(t, err)
	_, _, err = p.Of("0").BeforeID()
	require.NoError(t, err)
	at, _, _, err := p.Of("1").From()
	require.NoError(t, err)
	require.Nil(t, at, "the part that was away is at its beginning")
	for _, wrong := range []string{next + "x", next + ".", "." + next, next[1:], next[:len(next)-1] + "."} {
		_, err := support.ParsePage(wrong, "")
		require.Error(t, err, wrong)
	}
}
