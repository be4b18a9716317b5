package envelope_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/postgres/envelope"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/internal/postgres/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys are the keys of a process with a ring.
func keys(t *testing.T, url string, now func() time.Time, ring ...string) *envelope.Keys {
	t.Helper()
	p, err := pool.Open(t.Context(), testdb.Patient(url))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	p.Patiently(testdb.Patience)
	return envelope.New(p, envelopetest.Box(t, ring...), now)
}

func seal(t *testing.T, k *envelope.Keys, event uuid.UUID, body string) []byte {
	t.Helper()
	with, err := k.Sealing(t.Context())
	require.NoError(t, err)
	return with.Seal(event, []byte(`{"content-type":"text/plain"}`), []byte(body))
}

func opens(t *testing.T, k *envelope.Keys, event uuid.UUID, sealed []byte, body string) {
	t.Helper()
	headers, got, err := k.Open(t.Context(), event, sealed)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"content-type": "text/plain"}, headers)
	require.Equal(t, body, string(got))
}

func closed(t *testing.T, k *envelope.Keys, event uuid.UUID, sealed []byte) {
	t.Helper()
	_, _, err := k.Open(t.Context(), event, sealed)
	require.ErrorIs(t, err, envelope.ErrClosed)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	k := keys(t, testdb.New(t), time.Now)
	event := uuid.New()
	for _, body := range []string{"", "\n", `{"a":"b"}`, "a\nb\x00"} {
		sealed := seal(t, k, event, body)
		opens(t, k, event, sealed, body)
		closed(t, k, uuid.New(), sealed)
		for i := range sealed {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1
			closed(t, k, event, changed)
			closed(t, k, event, sealed[:i])
		}
	}
	first, second := seal(t, k, event, "x"), seal(t, k, event, "x")
	require.NotEqual(t, first, second)
}

// Processes that begin at once read each other's sealed data, whichever of them made a key.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	url, event := testdb.New(t), uuid.New()
	all := make([]*envelope.Keys, 8)
	sealed := make([][]byte, len(all))
	var begun sync.WaitGroup
	for i := range all {
		all[i] = keys(t, url, time.Now)
		begun.Go(func() {
			if with, err := all[i].Sealing(t.Context()); err == nil {
				sealed[i] = with.Seal(event, []byte(`{"content-type":"text/plain"}`), []byte("x"))
			}
		})
	}
	begun.Wait()
	for _, k := range all {
		for _, s := range sealed {
			opens(t, k, event, s, "x")
		}
	}
}

// Callers of one process that need a key at once make one.
func TestOneProcessMakesOneKey(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	k := keys(t, url, time.Now)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _ = k.Sealing(t.Context()) })
	}
	all.Wait()
	require.Equal(t, []int{1, 1}, column[int](t, testdb.Connect(t, url), "SELECT count(*) FROM data_keys GROUP BY month"), "this month's and the next one's")
}

func column[T any](t *testing.T, conn *pgx.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(t, err)
	return all
}

// A key of the ring is replaced, and then removed. A lost key stops nothing.
func TestRing(t *testing.T) {
	t.Parallel()
	url, event := testdb.New(t), uuid.New()
	ring := func(ids ...string) (*envelope.Keys, int) {
		t.Helper()
		k := keys(t, url, time.Now, ids...)
		n, err := k.Refresh(t.Context())
		require.NoError(t, err)
		return k, n
	}
	first, n := ring("k1")
	require.Zero(t, n)
	sealed := seal(t, first, event, "x")
	both, n := ring("k2", "k1")
	require.Zero(t, n)
	opens(t, both, event, sealed, "x")
	second, n := ring("k2")
	require.Zero(t, n, "they were encrypted anew")
	opens(t, second, event, sealed, "x")

	// A process without the new key goes on with its keys in memory; the others read it.
	n, err := first.Refresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	opens(t, second, event, seal(t, first, event, "late"), "late")
	opens(t, first, event, sealed, "x")

	lost, n := ring("k3")
	require.Equal(t, 2, n)
	closed(t, lost, event, sealed)
	later := seal(t, lost, event, "y")
	opens(t, lost, event, later, "y")
	again, n := ring("k3", "k2")
	require.Zero(t, n)
	opens(t, again, event, sealed, "x")
	opens(t, again, event, later, "y")
}

// A clock that is ahead, or behind, seals under its own month; each process opens it.
func TestMonths(t *testing.T) {
	t.Parallel()
	url, event := testdb.New(t), uuid.New()
	now := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	k := keys(t, url, func() time.Time { return now }).Alone()
	march := seal(t, k, event, "march")
	now = now.Add(time.Second)
	april := seal(t, k, event, "april")
	now = now.AddDate(5, 0, 0)
	later := seal(t, k, event, "later")
	conn := testdb.Connect(t, url)
	require.Equal(t, []string{"2026-03-01", "2026-04-01", "2031-04-01", "2031-05-01"}, column[string](t, conn, "SELECT month::text FROM data_keys ORDER BY month"))
	other := keys(t, url, time.Now)
	for text, sealed := range map[string][]byte{"march": march, "april": april, "later": later} {
		opens(t, k, event, sealed, text)
		opens(t, other, event, sealed, text)
	}
}

const partitions = `SELECT relname::text FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'event_bytes'::regclass ORDER BY 1`

// aged does all that there is to do.
func aged(t *testing.T, k *envelope.Keys, keep time.Duration) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = k.Age(t.Context(), keep)
		require.NoError(t, err)
	}
}

// The partitions of this month and the next exist, and take over the rows that were written before them.
func TestPartitionsAreMade(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, k := testdb.Connect(t, url), keys(t, url, time.Now)
	this := time.Now().UTC().Format("event_bytes_2006_01")
	there := column[string](t, conn, partitions)
	require.Len(t, there, 3)
	require.Equal(t, this, there[0])
	_, err := k.Refresh(t.Context())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "DROP TABLE "+this)
	require.NoError(t, err)
	event := uuid.New()
	envelopetest.Put(t, conn, k, event, "x")
	require.Equal(t, []string{"event_bytes_other"}, column[string](t, conn, "SELECT tableoid::regclass::text FROM event_bytes"))

	reader, err := testdb.Connect(t, url).Begin(t.Context())
	require.NoError(t, err)
	_, err = reader.Exec(t.Context(), "SELECT FROM event_bytes")
	require.NoError(t, err)
	made := func() {
		t.Helper()
		_, err := k.Refresh(t.Context())
		require.NoError(t, err)
	}
	made()
	require.NotContains(t, column[string](t, conn, partitions), this, "somebody reads")
	require.NoError(t, reader.Rollback(t.Context()))
	made()
	require.Equal(t, there, column[string](t, conn, partitions))
	require.Equal(t, []string{this}, column[string](t, conn, "SELECT tableoid::regclass::text FROM event_bytes"))
	sealed := column[[]byte](t, conn, "SELECT sealed FROM event_bytes")
	_, body, err := k.Open(t.Context(), event, sealed[0])
	require.NoError(t, err)
	require.Equal(t, "x", string(body))
}

// arrived stores an event with a verdict, and its bytes.
func arrived(t *testing.T, conn *pgx.Conn, k *envelope.Keys, verdict string, waits bool) uuid.UUID {
	t.Helper()
	event := uuid.New()
	_, err := conn.Exec(t.Context(), `INSERT INTO provider_events (event_id, account, provider_event_id, id_derived, event_type, kind, digest, news, refs, verdict, next_try_at, received_at)
		VALUES ($1::uuid, 'acc', $1::uuid::text, false, 'x', 'x', '\x01', '{}', '{}', $2, CASE WHEN $3 THEN now() END, now())`, event, verdict, waits)
	require.NoError(t, err)
	envelopetest.Put(t, conn, k, event, "of "+verdict)
	return event
}

// An old month is deleted, with its key, its rows and its partition. Its data that is still needed stays, under the
// present key.
func TestAge(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, then, k := testdb.Connect(t, url), keys(t, url, time.Now), keys(t, url, time.Now)
	settled, ignored := arrived(t, conn, then, "applied", false), arrived(t, conn, then, "foreign", false)
	waits, unreadable := arrived(t, conn, then, "unmatched", true), arrived(t, conn, then, "unreadable", false)
	old := column[uuid.UUID](t, conn, "SELECT key_id FROM data_keys ORDER BY month")
	require.Len(t, old, 2)
	envelopetest.Back(t, conn, 3)
	body := func(event uuid.UUID) string {
		t.Helper()
		for _, sealed := range column[[]byte](t, conn, "SELECT sealed FROM event_bytes WHERE event_id = $1", event) {
			_, body, err := k.Open(t.Context(), event, sealed)
			require.NoError(t, err)
			return string(body)
		}
		return ""
	}

	aged(t, k, 120*24*time.Hour)
	_, err := conn.Exec(t.Context(), "SELECT make_event_bytes()")
	require.NoError(t, err)
	require.Equal(t, "of applied", body(settled), "its month has been over for less than 120 days")
	aged(t, k, 24*time.Hour)
	require.Empty(t, body(settled))
	require.Empty(t, body(ignored))
	require.Equal(t, "of unmatched", body(waits))
	require.Equal(t, "of unreadable", body(unreadable))
	require.Equal(t, []time.Time{}, append([]time.Time{}, column[time.Time](t, conn, "SELECT sealed_at FROM event_bytes WHERE sealed_at < now() - interval '1 hour'")...))
	left := column[uuid.UUID](t, conn, "SELECT key_id FROM data_keys ORDER BY month")
	require.Len(t, left, 2)
	require.NotContains(t, left, old[0])
	aged(t, k, 0)
	require.Equal(t, "of unmatched", body(waits), "nothing is to do any more")
}

// A month that another session reads, or copies, is dropped later; no process waits for that.
func TestAMonthThatIsLocked(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, k := testdb.Connect(t, url), keys(t, testdb.With(t, url, "lock_timeout", "5s"), time.Now)
	_, err := conn.Exec(t.Context(), `CREATE TABLE event_bytes_2020_02 PARTITION OF event_bytes FOR VALUES FROM ('2020-02-01T00:00Z') TO ('2020-03-01T00:00Z')`)
	require.NoError(t, err)
	reader, err := testdb.Connect(t, url).Begin(t.Context())
	require.NoError(t, err)
	_, err = reader.Exec(t.Context(), "SELECT FROM event_bytes")
	require.NoError(t, err)
	more, err := k.Age(t.Context(), 0)
	require.NoError(t, err)
	require.False(t, more)
	require.Contains(t, column[string](t, conn, partitions), "event_bytes_2020_02")
	require.NoError(t, reader.Rollback(t.Context()))
	aged(t, k, 0)
	require.NotContains(t, column[string](t, conn, partitions), "event_bytes_2020_02")
}

// A command line without encryption_keys shows all other data.
func TestWithoutARing(t *testing.T) {
	t.Parallel()
	url, event := testdb.New(t), uuid.New()
	sealed := seal(t, keys(t, url, time.Now), event, "x")
	p, err := pool.Open(t.Context(), testdb.Patient(url))
	require.NoError(t, err)
	t.Cleanup(p.Close)
	for _, k := range []*envelope.Keys{nil, envelope.New(p, nil, time.Now)} {
		closed(t, k, event, sealed)
		_, err := k.Sealing(t.Context())
		require.ErrorContains(t, err, "encryption_keys are missing")
		_, err = k.Refresh(t.Context())
		require.Error(t, err)
	}
}

// A database that was restored from an earlier backup has lost the keys that a process goes on to encrypt with. They are
// put back. Keys that other processes have made meanwhile are used beside them.
func TestARestoredDatabase(t *testing.T) {
	t.Parallel()
	url, event := testdb.New(t), uuid.New()
	conn, k := testdb.Connect(t, url), keys(t, url, time.Now)
	before := seal(t, k, event, "before")
	_, err := conn.Exec(t.Context(), "DELETE FROM data_keys")
	require.NoError(t, err)
	other := keys(t, url, time.Now)
	beside := seal(t, other, event, "beside")
	after := seal(t, k, event, "after")
	_, err = k.Refresh(t.Context())
	require.NoError(t, err)
	fresh := keys(t, url, time.Now)
	for text, sealed := range map[string][]byte{"before": before, "beside": beside, "after": after} {
		opens(t, fresh, event, sealed, text)
		opens(t, k, event, sealed, text)
	}
	_, err = k.Refresh(t.Context())
	require.NoError(t, err)
	require.Len(t, column[uuid.UUID](t, conn, "SELECT key_id FROM data_keys"), 4, "once")
}

// Needed data of an old month that can't be opened keeps the month.
func TestAgeWithoutTheKey(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	waits := arrived(t, conn, keys(t, url, time.Now), "unmatched", true)
	settled := arrived(t, conn, keys(t, url, time.Now, "k9"), "applied", false)
	_, err := conn.Exec(t.Context(), "UPDATE event_bytes SET sealed_at = sealed_at + interval '1 month' WHERE event_id = $1; ", settled)
	require.NoError(t, err)
	envelopetest.Back(t, conn, 5)
	lost := keys(t, url, time.Now, "k9")
	for more := true; more; {
		more, err = lost.Age(t.Context(), 0)
	}
	require.ErrorIs(t, err, envelope.ErrClosed)
	require.Empty(t, column[uuid.UUID](t, conn, "SELECT event_id FROM event_bytes WHERE event_id = $1", settled), "a later month goes on")
	sealed := column[[]byte](t, conn, "SELECT sealed FROM event_bytes WHERE event_id = $1 AND sealed_at < now() - interval '2 months'", waits)
	require.Len(t, sealed, 1)
	_, body, err := keys(t, url, time.Now, "k9", "k1").Open(t.Context(), waits, sealed[0])
	require.NoError(t, err)
	require.Equal(t, "of unmatched", string(body))
}

// The month of stored data is by the database's clock, with any clock of the process.
func TestAClockThatIsYearsOff(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn := testdb.Connect(t, url)
	for _, years := range []int{-6, 6} {
		k := keys(t, url, func() time.Time { return time.Now().AddDate(years, 0, 0) })
		arrived(t, conn, k, "unreadable", false)
	}
	require.Equal(t, []bool{true, true}, column[bool](t, conn, "SELECT sealed_at BETWEEN now() - interval '1 minute' AND now() + interval '1 minute' FROM event_bytes"))
	require.Len(t, column[time.Time](t, conn, "SELECT month FROM data_keys"), 2)
}

// Rows that came without a partition, and are too many to be moved, stay where they are. They are deleted by their age
// in portions.
func TestTooMuchToBeMoved(t *testing.T) {
	t.Parallel()
	url := testdb.New(t)
	conn, k := testdb.Connect(t, url), keys(t, url, time.Now)
	_, err := k.Refresh(t.Context())
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "DROP TABLE "+time.Now().UTC().Format("event_bytes_2006_01")+"; INSERT INTO event_bytes SELECT gen_random_uuid(), now(), '\\x01' FROM generate_series(1, 25000)")
	require.NoError(t, err)
	_, err = k.Refresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{25000}, column[int](t, conn, "SELECT count(*) FROM event_bytes_other"))
	envelopetest.Back(t, conn, 3)
	aged(t, keys(t, url, time.Now), 0)
	require.Equal(t, []int{0}, column[int](t, conn, "SELECT count(*) FROM event_bytes_other"))
}
