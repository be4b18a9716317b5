package notice_test

import (
	"context"
	"errors"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/events/notice"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait bounds the waiting of a test.
const wait = 5 * time.Minute

// received is a mail as the server has taken it.
type received struct {
	from           string
	to             []string
	id, subject    string
	autoSubmitted  string
	text, password string
	at             time.Time
}

// server is a mail server.
type server struct {
	*smtp.Server

	port  int
	mails chan received
	// refuse has it refuse each mail for now.
	refuse atomic.Bool
	tries  atomic.Int32
}

// serve starts a mail server.
func serve(t *testing.T, set ...func(s *smtp.Server)) *server {
	t.Helper()
	s := &server{mails: make(chan received, 100)}
	s.Server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	s.Domain, s.ErrorLog = "mail.test", quiet{}
	for _, f := range set {
		f(s.Server)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = l.Addr().(*net.TCPAddr).Port
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Close()
		serving.Wait()
	})
	return s
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// session is one connection.
type session struct {
	*server

	got received
}

func (s *session) Reset()                   { s.got = received{password: s.got.password} }
func (s *session) Logout() error            { return nil }
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "paylatch" || password != "secret" {
			return errors.New("another password")
		}
		s.got.password = password
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.tries.Add(1)
	if s.refuse.Load() {
		return &smtp.SMTPError{Code: 451, Message: "come again"}
	}
	s.got.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.got.to = append(s.got.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	s.got.text, s.got.id, s.got.subject = string(text), m.Header.Get("Message-Id"), m.Header.Get("Subject")
	s.got.autoSubmitted = m.Header.Get("Auto-Submitted")
	s.got.at = time.Now()
	s.mails <- s.got
	return err
}

func (s *server) smtp() notice.SMTP {
	return notice.SMTP{Host: "127.0.0.1", Port: s.port, From: "paylatch@shop.example", To: []string{"team@shop.example", "ops@shop.example"}, TLS: notice.NoTLS}
}

// next is the next mail.
func (s *server) next(t *testing.T) received {
	t.Helper()
	select {
	case m := <-s.mails:
		return m
	case <-time.After(wait):
		t.Fatal("no mail came")
		panic("unreachable")
	}
}

// env is a database of its own.
type env struct {
	store  *postgres.Store
	conn   *pgx.Conn
	failed atomic.Int32
	lost   atomic.Int64
}

func newEnv(t *testing.T) *env {
	t.Helper()
	url := testdb.New(t)
	store := enginetest.Store(t, url)
	return &env{store: store, conn: testdb.Connect(t, url)}
}

// team is a sender of a notice, registered.
func (e *env) team(t *testing.T, mailer notice.Mailer, every time.Duration, kinds ...string) *notice.Sender {
	t.Helper()
	require.NoError(t, e.store.Notices().RegisterNotices(t.Context(), []string{"team"}))
	s := notice.NewSender(notice.Notice{Name: "team", Kinds: kinds, Mailer: mailer}, notice.Options{
		Store: e.store.Notices(), Console: "https://pay.example", Endpoints: []string{"other", "shop"}, Now: time.Now,
		Log: func(string, error) { e.failed.Add(1) }, Lost: func(_ string, n int64) { e.lost.Add(n) },
	})
	s.Hurry(every)
	return s
}

// run runs a sender until the test ends, or stop is called.
func run(t *testing.T, s *notice.Sender) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// opened commits the events of a discrepancy of each of the orders at once, and gives them their positions.
func (e *env) opened(t *testing.T, kind string, orders ...int) {
	t.Helper()
	tx, err := e.conn.Begin(t.Context())
	require.NoError(t, err)
	for _, o := range orders {
		open(t, tx, kind, strconv.Itoa(o))
	}
	require.NoError(t, tx.Commit(t.Context()))
	for {
		from, to, err := e.store.NumberEvents(t.Context(), 1000)
		require.NoError(t, err)
		if from == to {
			return
		}
	}
}

func open(t *testing.T, tx pgx.Tx, kind, n string) {
	t.Helper()
	_, err := tx.Exec(t.Context(), `WITH b AS (INSERT INTO outbox_batches (events, created_at) VALUES (2, now()) RETURNING batch)
		INSERT INTO outbox (batch, nth, order_id, message_id, subject, type, version, payload, created_at)
		SELECT batch, x.nth, 'o' || $1, gen_random_uuid(), x.subject, x.type, 1, x.payload::json, now()
		FROM b, (VALUES (1, 'o' || $1, 'order.paid', '{}'), (2, 'case-' || $1, 'discrepancy.opened', $2)) x (nth, subject, type, payload)`, n,
		`{"discrepancy_id":"case-`+n+`","kind":"`+kind+`","order_id":"o`+n+`","payment_attempt_id":"attempt-`+n+
			`","account":null,"amount":1999,"currency":"EUR","text":"Name of a person","opened_at":"2026-03-01T09:30:00Z"}`)
	require.NoError(t, err)
}

func (e *env) position(t *testing.T) outbox.Position {
	t.Helper()
	var p int64
	require.NoError(t, e.conn.QueryRow(t.Context(), "SELECT position FROM notices").Scan(&p))
	return outbox.Position(p)
}
