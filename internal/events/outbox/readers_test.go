package outbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/outbox"
)

var morning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func TestReaders(t *testing.T) {
	t.Parallel()
	var r outbox.Readers
	require.Empty(t, r.List(7, morning))
	r.Note("shop", 3, morning)
	r.Note("stock", 7, morning.Add(time.Second))
	require.ElementsMatch(t, []outbox.Reader{{"shop", 4, time.Minute}, {"stock", 0, 59 * time.Second}}, r.List(7, morning.Add(time.Minute)))

	r.Note("shop", 5, morning.Add(10*time.Second))
	r.Note("shop", 3, morning.Add(5*time.Second)) // a long poll that began before, and ended later
	require.Contains(t, r.List(7, morning.Add(time.Minute)), outbox.Reader{Name: "shop", Behind: 2, Since: 50 * time.Second})

	require.Contains(t, r.List(0, morning), outbox.Reader{Name: "shop"}, "before the head was read, and with another clock")
}

func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	var r outbox.Readers
	const many = 100
	for i := range many {
		r.Note(fmt.Sprint("reader-", i), 0, morning.Add(time.Duration(i)*time.Second))
	}
	r.Note("reader-0", 0, morning.Add(time.Hour))
	r.Note("new", 0, morning.Add(time.Hour))
	names := map[string]bool{}
	for _, one := range r.List(0, morning.Add(time.Hour)) {
		names[one.Name] = true
	}
	require.Len(t, names, many)
	require.True(t, names["new"] && names["reader-0"] && names["reader-2"])
	require.NotContains(t, names, "reader-1", "which was not seen for the longest time")
}

func TestReadersHavePrintableNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 200)
	subjects := []string{"shop", "shop of ü", strings.Repeat("x", 64), long, long + "2", "a\nb", "a\x00b", "a_b", "a\u202eb", "a\xffb", "a\ufffdb", ""}
	var r outbox.Readers
	for _, s := range subjects {
		r.Note(s, 0, morning)
	}
	list := r.List(0, morning)
	require.Len(t, list, len(subjects), "each has a name of its own")
	for _, one := range list {
		require.LessOrEqual(t, len(one.Name), 64, "%q", one.Name)
		require.True(t, utf8.ValidString(one.Name), "%q", one.Name)
		require.Negative(t, strings.IndexFunc(one.Name, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", one.Name)
	}
	for _, plain := range []string{"shop", "shop of ü", strings.Repeat("x", 64), "a_b"} {
		require.Contains(t, list, outbox.Reader{Name: plain})
	}
}

// TestReadersAtOnce is for the race detector, and for the bound.
func TestReadersAtOnce(t *testing.T) {
	t.Parallel()
	var r outbox.Readers
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				r.Note(fmt.Sprint(i, "-", j), outbox.Position(j), morning.Add(time.Duration(j)*time.Second))
				if n := len(r.List(200, morning)); n > 100 {
					t.Errorf("%d readers", n)
				}
			}
		})
	}
	all.Wait()
	require.Len(t, r.List(200, morning), 100)
}
