package notice_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/notice"
)

// An endpoint with dead letters is one mail, however many events follow. Once all of its dead letters are sent again, the next
// dead letter is another mail. An endpoint that answered 410 is one mail, too. Endpoints that are not configured any more are no
// cases.
func TestAnEndpointThatFailsIsOneMail(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := e.conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	dead := func(endpoint string, position int) {
		t.Helper()
		exec(`INSERT INTO endpoint_retries (endpoint, position, order_id, message_id, subject, state, tries, next_at, last_status, last_error, dead_at)
			VALUES ($1, $2, 'o1', gen_random_uuid(), 'o1', 'dead', 9, now(), 500, 'broken', now())`, endpoint, position)
	}
	exec(`INSERT INTO endpoints (name, url_digest, position) VALUES ('shop', '\x01', 0), ('other', '\x01', 0), ('old', '\x01', 0)`)
	dead("old", 1)
	run(t, e.team(t, s.smtp(), 0, notice.EndpointFailing))
	// next is the next mail, once it is recorded; each is of one endpoint.
	next := func(endpoint string) received {
		t.Helper()
		m := s.next(t)
		require.Equal(t, "paylatch: 1 new case: endpoint failing", m.subject)
		require.Contains(t, m.text, "endpoint failing, endpoint "+endpoint+", ")
		require.Contains(t, m.text, "https://pay.example/support/endpoints/"+endpoint+"\r\n")
		require.Eventually(t, func() bool {
			var told bool
			err := e.conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM noticed_endpoints WHERE endpoint = $1 AND at > $2)`, endpoint, m.at.Add(-time.Millisecond)).Scan(&told)
			return err == nil && told
		}, wait, 10*time.Millisecond)
		return m
	}
	dead("shop", 1)
	require.Contains(t, next("shop").text, ", 1 event was given up, ")

	dead("shop", 2)
	exec(`INSERT INTO endpoint_retries (endpoint, position, order_id, message_id, subject, state, tries, next_at, last_status, last_error, dead_at)
		SELECT 'other', n, 'o1', gen_random_uuid(), 'o1', 'dead', 9, now(), 500, 'broken', now() FROM generate_series(1, 312) n`)
	require.Contains(t, next("other").text, ", 312 events were given up, ", "and no second mail about shop")

	dead("other", 313)
	exec(`DELETE FROM endpoint_retries WHERE endpoint = 'shop' AND position = 1`)
	require.Contains(t, next("shop").text, ", 1 event was given up, ", "the first one is delivered, and the second one is new")

	exec(`DELETE FROM endpoint_retries WHERE endpoint = 'shop'`)
	exec(`UPDATE endpoints SET state = 'gone', last_failure_at = now() WHERE name = 'shop'`)
	require.Contains(t, next("shop").text, ", the endpoint answered 410 Gone and gets no events, ")
	require.Equal(t, int32(4), s.tries.Load())
}
