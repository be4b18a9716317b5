package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/envelope/envelopetest"
	"github.com/paylatch/paylatch/webhooks"
)

// sent is the provider's headers and body of an event; empty once they are gone.
func (r *env) sent(t *testing.T, id string) (headers map[string]string, body string) {
	t.Helper()
	keeper, _ := enginetest.Open(t, r.dsn)
	event := rows[[16]byte](t, r, "SELECT event_id FROM provider_events WHERE provider_event_id = $1", id)[0]
	for _, sealed := range rows[[]byte](t, r, "SELECT sealed FROM event_bytes WHERE event_id = $1", event) {
		var text []byte
		var err error
		headers, text, err = keeper.Keys().Open(t.Context(), event, sealed)
		require.NoError(t, err)
		body = string(text)
	}
	return headers, body
}

// TestSealedBytes shows that a provider's headers and bodies are in no table and no log of writes in clear. When the key
// of their month is deleted they become unreadable in both.
func TestSealedBytes(t *testing.T) {
	t.Parallel()
	mark := "sent-" + uuid.NewString()
	r := newEnv(t, setup{silent: true})
	since := rows[string](t, r, "SELECT pg_current_wal_insert_lsn()::text")[0]
	id := r.paid(t, "A-1", "tok_never").ID
	e := event(webhooks.KindSucceeded, id.String())
	_, err := r.Intake(t.Context(), []payment.ReceivedEvent{{
		Account: "sandbox", Event: e, Headers: map[string]string{"content-type": mark}, Body: []byte(`{"email":"` + mark + `"}`), At: time.Now(),
	}})
	require.NoError(t, err)
	require.True(t, r.attempt(t, id).Succeeded())
	require.Empty(t, r.dump(t, mark))
	require.Empty(t, r.backup(t, mark, since, true))
	require.Contains(t, r.dump(t, e.ID), "provider_events", "the search finds what is there")
	headers, body := r.sent(t, e.ID)
	require.Equal(t, mark, headers["content-type"])
	require.Contains(t, body, mark)
	keeper, _ := enginetest.Open(t, r.dsn)

	envelopetest.Back(t, r.db, 3)
	key := rows[[]byte](t, r, "SELECT wrapped FROM data_keys ORDER BY month LIMIT 1")[0]
	more, err := keeper.Keys().Age(t.Context(), 0)
	require.NoError(t, err)
	require.True(t, more)
	_, body = r.sent(t, e.ID)
	require.Empty(t, body)
	require.NotContains(t, rows[[]byte](t, r, "SELECT wrapped FROM data_keys"), key)
}
