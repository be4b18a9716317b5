package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/platform/worker"
)

func TestTheHeadOfTheAuditLogIsLoggedDaily(t *testing.T) {
	t.Parallel()
	dsn := testdb.New(t)
	store := enginetest.Store(t, dsn)
	write := func() {
		t.Helper()
		require.NoError(t, store.Support().AuditInsert(t.Context(), deedOf("ann")))
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var lines bytes.Buffer
	loop := worker.Audit(store.Support(), &kept{}, true, func() time.Time { return now }, zerolog.New(&lines))
	said := func() (list []map[string]any) {
		t.Helper()
		lines.Reset()
		more, err := loop.Do(t.Context())
		require.NoError(t, err)
		require.False(t, more)
		for line := range strings.Lines(lines.String()) {
			var fields map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &fields))
			list = append(list, fields)
		}
		return list
	}
	write()
	write()
	list := said()
	require.Len(t, list, 2)
	require.Equal(t, []any{"warn", "postgres"}, []any{list[0]["level"], list[0]["role"]}, "a superuser is no role to serve with")
	require.Equal(t, []any{"info", 2.0}, []any{list[1]["level"], list[1]["entries"]})
	head, err := support.ParseHead(list[1]["head"].(string))
	require.NoError(t, err)
	require.Equal(t, int64(2), head.Entries)

	write()
	require.Empty(t, said(), "once a day")
	now = now.Add(24 * time.Hour)
	list = said()
	require.Equal(t, []any{3.0}, []any{list[1]["entries"]})

	write()
	_, err = testdb.Connect(t, dsn).Exec(t.Context(), "ALTER TABLE staff_audit DISABLE TRIGGER ALL; UPDATE staff_audit SET actor = 'x' WHERE position = 4")
	require.NoError(t, err)
	for range 2 {
		now = now.Add(24 * time.Hour)
		list = said()
		require.Len(t, list, 2, "each day again")
		require.Equal(t, []any{"error", 4.0, "the audit log is broken"}, []any{list[1]["level"], list[1]["entry"], list[1]["message"]})
	}
}

// kept is a mark outside of the database.
type kept struct{ head support.Head }

func (k *kept) KnownHead(context.Context) (support.Head, error) { return k.head, nil }

func (k *kept) KeepHead(_ context.Context, h support.Head) error {
	k.head = h
	return nil
}

// TestAuditsTailIsMissed: whoever owns the database deletes the last entries, while a process runs or between two of them, and writes
// others in their place or not. The chain that is left is whole.
func TestAuditsTailIsMissed(t *testing.T) {
	t.Parallel()
	for name, anew := range map[string]int{"deleted": 0, "some written anew": 3, "all written anew": 6, "more than before": 8} {
		for _, restarted := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", the process started anew"}[restarted], func(t *testing.T) {
				t.Parallel()
				dsn := testdb.New(t)
				store := enginetest.Store(t, dsn)
				write := func(n int) {
					t.Helper()
					for range n {
						require.NoError(t, store.Support().AuditInsert(t.Context(), deedOf("ann")))
					}
				}
				now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
				var lines bytes.Buffer
				mark := &kept{}
				loop := func() worker.Loop {
					return worker.Audit(store.Support(), mark, false, func() time.Time { return now }, zerolog.New(&lines))
				}
				running := loop()
				round := func() {
					t.Helper()
					now = now.Add(time.Minute)
					if restarted {
						running = loop()
					}
					_, err := running.Do(t.Context())
					require.NoError(t, err)
				}
				write(10)
				round()
				round()
				require.NotContains(t, lines.String(), "broken")
				require.Equal(t, int64(10), mark.head.Entries)
				_, err := testdb.Connect(t, dsn).Exec(t.Context(), "ALTER TABLE staff_audit DISABLE TRIGGER staff_audit_append_only; DELETE FROM staff_audit WHERE position > 4; ALTER TABLE staff_audit ENABLE TRIGGER staff_audit_append_only")
				require.NoError(t, err)
				write(anew)
				round()
				require.Contains(t, lines.String(), "the audit log is broken")
				require.Equal(t, int64(10), mark.head.Entries, "the mark stays")
			})
		}
	}
}
