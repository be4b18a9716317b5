package postgres_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/devpg"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/watermark"
	"github.com/paylatch/paylatch/internal/postgres"
)

func marks(t *testing.T, url string, g *watermark.Guard) *postgres.MarkStore {
	t.Helper()
	store, err := postgres.Open(t.Context(), testdb.Patient(url))
	require.NoError(t, err)
	store.Patiently(testdb.Patience)
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
	before, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.Empty(t, before.Held)
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
	stopped, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	again, err := s.RaiseMark(t.Context(), 0)
	require.NoError(t, err)
	now, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.True(t, now.GapFrom.Equal(stopped.At))
	require.WithinDuration(t, again.At, now.GapTo, time.Second)
	early, late := raised.At.Add(-time.Hour), raised.At
	require.NoError(t, s.HoldPays(t.Context(), []string{"a", "b"}, late, watermark.MarkBehind))
	require.NoError(t, s.HoldPays(t.Context(), []string{"b", "c"}, early, watermark.OtherServer))
	now, err = s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, now.Held)
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
	now, err = s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, now.Held)
	require.NoError(t, s.HoldPays(t.Context(), []string{"b"}, late, watermark.MarkBehind))
}

// A database in the place of another one is looked at before the first statement of the service reaches it.
func TestAConnectionIsLookedAtBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), testdb.New(t)
	guard := func() *watermark.Guard {
		g, err := watermark.New(watermark.Options{Dir: dir, Accounts: []string{"a"}, Live: true, Now: time.Now})
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

// TestRunOfTheServer: a crash shows, though the server's process lives on, and so does a start, which is no crash.
func TestRunOfTheServer(t *testing.T) {
	t.Parallel()
	server := testdb.Private(t)
	s := marks(t, server.DSN("postgres"), nil)
	run := func() (started, crashed time.Time) {
		require.Eventually(t, func() bool {
			r, err := s.ReadMark(t.Context(), uuid.Nil)
			started, crashed = r.Started, r.Crashed
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		return started, crashed
	}
	started, fresh := run()
	require.NotZero(t, started)
	require.NotZero(t, fresh)
	backend, err := pgx.Connect(t.Context(), server.DSN("postgres"))
	require.NoError(t, err)
	defer func() { _ = backend.Close(t.Context()) }()
	require.NoError(t, syscall.Kill(int(backend.PgConn().PID()), syscall.SIGKILL))
	crashed := fresh
	require.Eventually(t, func() bool {
		var since time.Time
		since, crashed = run()
		return since.Equal(started) && !crashed.Equal(fresh)
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, server.Stop())
	again, err := devpg.Start(t.Context(), devpg.Config{Dir: server.Dir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = again.Stop() })
	later, kept := run()
	require.NotEqual(t, started, later)
	require.True(t, kept.Equal(crashed), "it was stopped in order")
}

// beats is a process that lives on a server.
func beats(t *testing.T, s *postgres.MarkStore, name, server string) watermark.Process {
	t.Helper()
	p := watermark.Process{ID: uuid.New(), Name: name}
	_, err := s.Beat(t.Context(), p, server)
	require.NoError(t, err)
	return p
}

// TestProcesses: the processes that were alive a minute before the last heartbeat on the other server are waited for.
func TestProcesses(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	s, db := marks(t, url, nil), testdb.Connect(t, url)
	names := func() (list []string) {
		r, err := s.ReadMark(t.Context(), uuid.Nil)
		require.NoError(t, err)
		for _, p := range r.Silent {
			list = append(list, p.Name)
		}
		return list
	}
	now, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	const old = "7/00000001"
	beats(t, s, "here", now.Server)
	require.Empty(t, names())
	silent, left := beats(t, s, "silent one", old), beats(t, s, "left", old)
	beats(t, s, "gone", old)
	last := beats(t, s, "last", old)
	require.NoError(t, s.Leave(t.Context(), left))
	for name, before := range map[string]string{"silent one": "50 seconds", "gone": "70 seconds"} {
		_, err = db.Exec(t.Context(), "UPDATE service_processes SET beat_at = (SELECT beat_at FROM service_processes WHERE name = 'last') - $2::text::interval WHERE name = $1",
			name, before)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"last", "silent one"}, names())
	before, err := s.Beat(t.Context(), last, now.Server)
	require.NoError(t, err)
	require.Equal(t, []string{"silent one"}, names(), "last has answered, and still shows when the change was")
	_, err = db.Exec(t.Context(), "UPDATE service_processes SET beat_at = now() + interval '1 hour' WHERE name = 'last'")
	require.NoError(t, err)
	later, err := s.Beat(t.Context(), last, now.Server)
	require.NoError(t, err)
	require.True(t, later.After(before.Add(59*time.Minute)), "the clock of another server may be late")

	r, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, []watermark.Process{{ID: silent.ID, Name: "silent one", Recent: true}}, r.Silent)
	_, err = db.Exec(t.Context(), "UPDATE service_processes SET beat_at = beat_at - interval '1 hour', before_at = before_at - interval '1 hour'")
	require.NoError(t, err)
	r, err = s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	require.False(t, r.Silent[0].Recent)
	_, err = db.Exec(t.Context(), "UPDATE service_processes SET beat_at = now() - interval '31 days' WHERE name = 'gone'")
	require.NoError(t, err)
	require.NoError(t, s.Forget(t.Context(), r.Silent))
	require.Empty(t, names())
	require.Equal(t, 3, testdb.One[int](t, db, "SELECT count(*)::int FROM service_processes"), "gone was purged, too")
}

// TestLostHeartbeat: a heartbeat is lost if the database has an older one or none.
func TestLostHeartbeat(t *testing.T) {
	t.Parallel()
	s := marks(t, testdb.New(t), nil)
	now, err := s.ReadMark(t.Context(), uuid.Nil)
	require.NoError(t, err)
	p := watermark.Process{ID: uuid.New(), Name: "p"}
	lost := func(of watermark.Process, at time.Time) int {
		list, err := s.Lost(t.Context(), now.Server, of, at, nil)
		require.NoError(t, err)
		return len(list)
	}
	at, err := s.Beat(t.Context(), p, now.Server)
	require.NoError(t, err)
	require.Zero(t, lost(p, at))
	require.Zero(t, lost(p, time.Time{}))
	require.Equal(t, 1, lost(p, at.Add(time.Microsecond)))
	p.ID = uuid.New()
	require.Equal(t, 1, lost(p, at))
	require.Zero(t, lost(p, at.Add(-watermark.Life-time.Minute)), "it was purged")
	_, err = s.Lost(t.Context(), "7/00000001", p, at, nil)
	require.ErrorIs(t, err, payment.ErrUnavailable)
}
