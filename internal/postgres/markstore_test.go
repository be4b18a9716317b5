package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
)

func marks(t *testing.T, url string, g *watermark.Guard) *postgres.MarkStore {
	t.Helper()
	store, err := postgres.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	if g != nil {
		store.Marks().Watch(g)
	}
	require.NoError(t, store.Migrated(t.Context()))
	return store.Marks()
}

func TestHolds(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	s := marks(t, url, nil)
	before, held, err := s.ReadMark(t.Context())
	require.NoError(t, err)
	require.Empty(t, held)
	require.Regexp(t, `^\d+/[0-9A-F]{8}$`, before.Server)
	require.Zero(t, before.Noticed)

	raised, err := s.RaiseMark(t.Context(), before.Count+10)
	require.NoError(t, err)
	require.Equal(t, before.Count+11, raised.Count)
	require.Equal(t, before.Database, raised.Database)
	require.True(t, raised.At.After(before.At))

	require.Zero(t, before.GapFrom, "it has risen all the time")
	_, err = testdb.Connect(t, url).Exec(t.Context(), "UPDATE service_marks SET marked_at = marked_at - interval '1 hour'")
	require.NoError(t, err)
	stopped, _, err := s.ReadMark(t.Context())
	require.NoError(t, err)
	again, err := s.RaiseMark(t.Context(), 0)
	require.NoError(t, err)
	now, _, err := s.ReadMark(t.Context())
	require.NoError(t, err)
	require.True(t, now.GapFrom.Equal(stopped.At))
	require.WithinDuration(t, again.At, now.GapTo, time.Second)
	early, late := raised.At.Add(-time.Hour), raised.At
	require.NoError(t, s.HoldPays(t.Context(), []string{"a", "b"}, late, watermark.MarkBehind))
	require.NoError(t, s.HoldPays(t.Context(), []string{"b", "c"}, early, watermark.OtherServer))
	now, held, err = s.ReadMark(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, held)
	require.NotZero(t, now.Noticed)
	holds, err := s.Holds(t.Context())
	require.NoError(t, err)
	require.Len(t, holds, 3)
	require.True(t, holds[0].Since.Equal(late))
	require.True(t, holds[1].Since.Equal(early), "of two times the earlier")
	require.Equal(t, watermark.OtherServer, holds[1].Reason)
	require.True(t, holds[1].HeldAt.After(holds[0].HeldAt), "until the later time")

	released, err := s.Release(t.Context(), "b", "test", holds[1].HeldAt.Add(-time.Second))
	require.NoError(t, err)
	require.False(t, released, "what was compared is older than the hold")
	released, err = s.Release(t.Context(), "b", "test", holds[1].HeldAt)
	require.NoError(t, err)
	require.True(t, released)
	_, held, err = s.ReadMark(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, held)
	require.NoError(t, s.HoldPays(t.Context(), []string{"b"}, late, watermark.MarkBehind))
}

// A database in the place of another one is looked at before the first statement of the service reaches it.
func TestAConnectionIsLookedAtBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), testdb.New(t)
	guard := func() *watermark.Guard {
		g, err := watermark.New(watermark.Options{Dir: dir, Accounts: []string{"a"}, Live: true})
		require.NoError(t, err)
		return g
	}
	g := guard()
	s := marks(t, url, g)
	require.NoError(t, g.Tick(t.Context(), s))
	require.NoError(t, g.Tick(t.Context(), s))
	require.False(t, g.Held("a"))

	_, err := testdb.Connect(t, url).Exec(t.Context(), "UPDATE service_marks SET mark = mark - 1")
	require.NoError(t, err)
	g = guard()
	require.False(t, g.Held("a"), "nothing is known yet")
	marks(t, url, g)
	require.True(t, g.Held("a"))
}
