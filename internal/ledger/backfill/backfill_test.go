package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/backfill"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

// list is a provider's list of events, the newest first; with cutAt it breaks off before that event.
type list struct {
	events []gateway.ListedEvent
	cutAt  int
}

var errCut = errors.New("connection reset")

func (l *list) Events(_ context.Context, _ gateway.Span, take func(gateway.ListedEvent) error) error {
	for i := range l.events {
		if l.cutAt > 0 && i == l.cutAt {
			return errCut
		}
		if err := take(l.events[len(l.events)-1-i]); err != nil {
			return err
		}
	}
	return nil
}

func intent(event, kind, intent, attempt string) []byte {
	return []byte(`{"id":"` + event + `","object":"event","type":"payment_intent.` + kind + `","created":1767000000,"livemode":false,
		"data":{"object":{"id":"` + intent + `","object":"payment_intent","status":"` + kind + `","amount":1999,"amount_received":1999,
		"currency":"eur","metadata":{"payment_attempt_id":"` + attempt + `"}}}}`)
}

// pending puts an order with a pending attempt on disk, as a pay would.
func pending(t *testing.T, conn *pgx.Conn, intent string) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	for _, statement := range []string{
		`INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
			VALUES (@order, 'u1', 'order-' || @order, sha256('order'), 1999, 'EUR', now(), now())`,
		`INSERT INTO operations (order_id, attempt_id, kind, number, account, origin, state, sends, fence, next_at, first_sent_at, created_at)
			VALUES (@order, @id, 'charge', 0, 'shop', 'request', 'accepted', 1, 1, now() + interval '1 hour', now(), now())`,
		`INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, provider_payment_id,
			status, stage, amount, currency, created_at, updated_at)
			VALUES (@order, @id, 'u1', 'pay-' || @order, sha256('pay'), 'shop', @intent, 'pending', 'processing', 1999, 'EUR', now(), now())`,
		`INSERT INTO attempt_references (account, reference, order_id, attempt_id) VALUES ('shop', @id::uuid::text, @order, @id), ('shop', @intent, @order, @id)`,
		`INSERT INTO attempt_transitions (order_id, attempt_id, version, from_stage, to_stage, cause, at)
			VALUES (@order, @id, 1, 'requested', 'requested', 'pay', now())`,
	} {
		_, err := conn.Exec(t.Context(), statement, pgx.NamedArgs{"id": id, "order": "o-" + intent, "intent": intent})
		require.NoError(t, err)
	}
	return id
}

// env is an intake on a database, and a list of the events of 250 attempts and one that can't be read.
type env struct {
	conn *pgx.Conn
	in   *intake.Inbox
	list *list
	opts backfill.Options
	ids  []string
}

const attempts = 250

func newEnv(t *testing.T) *env {
	t.Helper()
	reader, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_x"}})
	require.NoError(t, err)
	on := enginetest.New(t, engine.Options{Rules: changeset.Rules{Accounts: current.Of(map[string]gateway.Account{"shop": {}})}})
	e := &env{conn: testdb.Connect(t, on.DSN), list: &list{}, in: on.Inbox}
	now := time.Now()
	for i := range attempts {
		pi := fmt.Sprintf("pi_%d", i)
		e.ids = append(e.ids, pending(t, e.conn, pi))
		e.list.events = append(e.list.events, gateway.ListedEvent{Body: intent(fmt.Sprintf("evt_%d", i), "succeeded", pi, e.ids[i]), At: now.Add(-time.Hour)})
	}
	e.list.events = append(e.list.events,
		gateway.ListedEvent{Body: []byte(`{"id":"evt_odd","type":"payment_intent.succeeded","data":{"object":{"id":7}}}`), At: now.Add(-time.Hour)},
		gateway.ListedEvent{Body: intent("evt_before", "succeeded", "pi_before", "x"), At: now.Add(-49 * time.Hour)})
	e.opts = backfill.Options{
		Account: "shop", Span: gateway.Span{From: now.Add(-48 * time.Hour), To: now}, Events: e.list, Reader: reader, Take: e.in.Intake,
		Progress: func(backfill.Count) {}, Now: time.Now,
	}
	return e
}

func (e *env) succeeded(t *testing.T) int {
	t.Helper()
	return testdb.One[int](t, e.conn, `SELECT count(*) FROM payment_attempts WHERE status = 'succeeded' AND amount_captured = 1999`)
}

// TestRun takes in what no webhook has brought: each event counts once, however often it is listed and after whatever broke it off.
func TestRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := e.opts.Reader.Read(webhooks.Delivery{Body: e.list.events[7].Body})
	verdicts, err := e.in.Intake(t.Context(), []payment.ReceivedEvent{{Account: "shop", Event: v[0], Headers: map[string]string{}, Body: e.list.events[7].Body, At: time.Now()}})
	require.NoError(t, err)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, verdicts, "a webhook brought it")

	e.list.cutAt = 130
	count, err := backfill.Run(t.Context(), e.opts)
	require.ErrorIs(t, err, errCut)
	require.Equal(t, 129, count.Events, "all that was read, in whole batches or not")
	e.list.cutAt = 0

	count, err = backfill.Run(t.Context(), e.opts)
	require.NoError(t, err)
	require.Equal(t, "251 events: 121 applied, 130 duplicate", count.String())
	require.Equal(t, attempts, e.succeeded(t))
	require.Equal(t, attempts, testdb.One[int](t, e.conn, `SELECT count(*) FROM money_movements`))
	require.Equal(t, attempts, testdb.One[int](t, e.conn, `SELECT count(*) FROM provider_events WHERE taken = 'backfill'`), "all but the webhook's")
	require.Equal(t, "unreadable", testdb.One[string](t, e.conn, `SELECT verdict FROM provider_events WHERE provider_event_id = 'evt_odd'`))
	require.Equal(t, []string{"unreadable_event"}, kinds(t, e.conn))
	require.Zero(t, testdb.One[int](t, e.conn, `SELECT count(*) FROM provider_events WHERE provider_event_id = 'evt_before'`), "it is not of the span")

	count, err = backfill.Run(t.Context(), e.opts)
	require.NoError(t, err)
	require.Equal(t, "251 events: 251 duplicate", count.String())
}

func kinds(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT kind FROM discrepancies ORDER BY kind`)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return list
}

func TestRun_refused(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	none := e.opts
	none.Events = nil
	_, err := backfill.Run(t.Context(), none)
	require.ErrorIs(t, err, backfill.ErrNoList)
	require.ErrorContains(t, err, "paylatch reconcile")
	none = e.opts
	none.Reader = nil
	_, err = backfill.Run(t.Context(), none)
	require.ErrorIs(t, err, backfill.ErrNoReader)
	nameless := e.opts
	nameless.Reader, err = standard.New(webhooks.Config{Secrets: []string{"whsec_MDEyMzQ1"}})
	require.NoError(t, err)
	nameless.Events = &list{events: []gateway.ListedEvent{{Body: []byte(`{"type":"charge.succeeded","data":{"amount":1,"currency":"EUR"}}`), At: time.Now().Add(-time.Hour)}}}
	_, err = backfill.Run(t.Context(), nameless)
	require.ErrorIs(t, err, backfill.ErrNoID)
	require.Zero(t, testdb.One[int](t, e.conn, `SELECT count(*) FROM provider_events`))
}

// TestRun_busy has an intake that is overloaded for a while.
func TestRun_busy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reader, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_x"}})
		require.NoError(t, err)
		now, tries, failures := time.Now(), 0, 3
		o := backfill.Options{
			Account: "shop", Span: gateway.Span{From: now.Add(-time.Hour), To: now.Add(time.Hour)}, Reader: reader,
			Events: &list{events: []gateway.ListedEvent{{Body: intent("evt_1", "succeeded", "pi_1", "x"), At: now}}},
			Take: func(context.Context, []payment.ReceivedEvent) ([]fsm.Verdict, error) {
				if tries++; tries <= failures {
					return nil, payment.ErrOverloaded
				}
				return []fsm.Verdict{fsm.Applied}, nil
			},
			Progress: func(backfill.Count) {}, Now: time.Now,
		}
		count, err := backfill.Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, "1 event: 1 applied", count.String())
		require.Equal(t, 3*time.Second, time.Since(now))

		tries, failures = 0, 100
		count, err = backfill.Run(t.Context(), o)
		require.ErrorIs(t, err, payment.ErrOverloaded)
		require.ErrorContains(t, err, "run the command again")
		require.Equal(t, 5, tries)
		require.Zero(t, count.Events)
	})
}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 3, 9, 30, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		since, until string
		want         gateway.Span
	}{
		"days":         {"2d", "", gateway.Span{From: now.AddDate(0, 0, -2), To: now}},
		"hours":        {"36h", "90m", gateway.Span{From: now.Add(-36 * time.Hour), To: now.Add(-90 * time.Minute)}},
		"times":        {"2026-03-01T09:30:00Z", "2026-03-02T11:30:00+02:00", gateway.Span{From: now.AddDate(0, 0, -2), To: now.AddDate(0, 0, -1)}},
		"dates":        {"2026-03-01", "2026-03-02", gateway.Span{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}},
		"no_unit":      {since: "2"},
		"zero":         {since: "0d"},
		"future":       {since: "-2h"},
		"many_days":    {since: "20000d"},
		"no_date":      {since: "2026-02-30"},
		"nothing":      {since: ""},
		"until":        {since: "2d", until: "soon"},
		"wrong_order":  {since: "1h", until: "2h"},
		"later_of_now": {since: "2027-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			span, err := backfill.ParseSpan(tt.since, tt.until, now)
			if tt.want == (gateway.Span{}) {
				require.ErrorIs(t, err, backfill.ErrSpan)
				return
			}
			require.NoError(t, err)
			require.True(t, tt.want.From.Equal(span.From) && tt.want.To.Equal(span.To), "%v", span)
		})
	}
}

func TestReporter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		report := backfill.Reporter(time.Now, func(line string) { lines = append(lines, line) })
		c := backfill.Count{Events: 300, Verdicts: map[fsm.Verdict]int{payment.VerdictDuplicate: 100, fsm.Applied: 200}}
		report(c)
		<-time.After(2 * time.Second)
		report(c)
		report(c)
		require.Equal(t, []string{"300 events: 200 applied, 100 duplicate; 150 events/s"}, lines)
	})
}
