package notice_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/notice"
	"github.com/paylatch/paylatch/internal/payment"
)

func TestMail(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	e.opened(t, "disputed", 0) // before the notice
	run(t, e.team(t, s.smtp(), 0, notice.Any))
	e.opened(t, "late_success", 1)
	m := s.next(t)
	require.Equal(t, "paylatch@shop.example", m.from)
	require.Equal(t, []string{"team@shop.example", "ops@shop.example"}, m.to)
	require.Equal(t, "paylatch: 1 new case: late success", m.subject)
	require.Equal(t, "auto-generated", m.autoSubmitted)
	require.Regexp(t, "^<[0-9a-f]{32}@shop.example>$", m.id)
	require.Equal(t, strings.ReplaceAll(`These cases need a person:

late success, 19.99 EUR, order o1, payment attempt-1, case case-1, 2026-03-01T09:30:00Z
https://pay.example/support/attempts/attempt-1

The worklist: https://pay.example/support/discrepancies
Refund requests: https://pay.example/support/refund-requests
`, "\n", "\r\n"), m.text)
}

// The cases of the minute after a mail go into one mail, with the first case after that minute.
func TestDigest(t *testing.T) {
	t.Parallel()
	const every = 3 * time.Second
	e, s := newEnv(t), serve(t)
	run(t, e.team(t, s.smtp(), every, notice.Any))
	e.opened(t, "late_success", 1)
	first := s.next(t)
	e.opened(t, "disputed", 2, 3, 4, 5, 6)
	second := s.next(t)
	require.GreaterOrEqual(t, second.at.Sub(first.at), every)
	require.Equal(t, "paylatch: 5 new cases", second.subject)
	for _, id := range []string{"case-2", "case-3", "case-4", "case-5", "case-6"} {
		require.Contains(t, second.text, id)
	}
	require.NotContains(t, second.text, "case-1,")
	require.NotEqual(t, first.id, second.id)
	require.Equal(t, int32(2), s.tries.Load())
}

// Other kinds are passed over, and so are events that are no cases.
func TestKinds(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	run(t, e.team(t, s.smtp(), 0, "late_success", "double_success"))
	e.opened(t, "disputed", 1)
	e.opened(t, "late_success", 2)
	m := s.next(t)
	require.NotContains(t, m.text, "case-1")
	require.Contains(t, m.text, "case-2")
	e.opened(t, "disputed", 3)
	head, err := e.store.EventsHead(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return e.position(t) == head }, wait, 20*time.Millisecond)
	require.Equal(t, int32(1), s.tries.Load())
}

// A mail server that refuses mails delays them, and nothing is lost. Refused mails are not recorded.
func TestMailServerIsAway(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	s.refuse.Store(true)
	stop := run(t, e.team(t, s.smtp(), 0, notice.Any))
	e.opened(t, "late_success", 1)
	require.Eventually(t, func() bool { return s.tries.Load() >= 2 && e.failed.Load() >= 1 }, wait, 20*time.Millisecond)
	stop()
	var failure string
	require.NoError(t, e.conn.QueryRow(t.Context(), "SELECT last_failure FROM notices").Scan(&failure))
	require.Contains(t, failure, "come again")
	e.opened(t, "disputed", 2)
	s.refuse.Store(false)
	run(t, e.team(t, s.smtp(), 0, notice.Any)) // another process
	m := s.next(t)
	require.Contains(t, m.text, "case-1")
	require.Contains(t, m.text, "case-2")
	require.Eventually(t, func() bool {
		return e.conn.QueryRow(t.Context(), "SELECT last_failure FROM notices").Scan(&failure) == nil && failure == ""
	}, wait, 20*time.Millisecond)
}

// mortal dies after its mails were taken and before that is recorded.
type mortal struct {
	notice.Store

	dead atomic.Bool
}

var errDied = errors.New("the process is gone")

func (m *mortal) RecordNotice(ctx context.Context, l lease.Lease, r notice.Result) error {
	if r.Sent {
		m.dead.Store(true)
	}
	if m.dead.Load() {
		return errDied
	}
	return m.Store.RecordNotice(ctx, l, r)
}

// A process that dies between the mail and its record sends the case twice, by the same id.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	require.NoError(t, e.store.Notices().RegisterNotices(t.Context(), []string{"team"}))
	dying := &mortal{Store: e.store.Notices()}
	first := notice.NewSender(notice.Notice{Name: "team", Kinds: []string{notice.Any}, Mailer: s.smtp()}, notice.Options{
		Store: dying, Now: time.Now, Log: func(string, error) {}, Lost: func(string, int64) {},
	})
	first.Hurry(0)
	stop := run(t, first)
	e.opened(t, "late_success", 1)
	taken := s.next(t)
	require.Eventually(t, dying.dead.Load, wait, time.Millisecond)
	stop()
	run(t, e.team(t, s.smtp(), 0, notice.Any))
	again := s.next(t)
	require.Equal(t, taken.id, again.id)
	require.Contains(t, again.text, "case-1")
	require.NotContains(t, taken.text, "https://", "without a public address there are no links")
}

// Two processes send one mail of a case.
func TestOneOfTwoSends(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	run(t, e.team(t, s.smtp(), 0, notice.Any))
	run(t, e.team(t, s.smtp(), 0, notice.Any))
	for o := range 5 {
		e.opened(t, "late_success", o)
		require.Contains(t, s.next(t).text, "case-")
	}
	require.Equal(t, int32(5), s.tries.Load())
}

// An open refund request is sent once; one that was decided before is not, nor one from before the notice.
//
//nolint:dupword // it is SQL
func TestRefundRequests(t *testing.T) {
	t.Parallel()
	e, s := newEnv(t), serve(t)
	_, err := e.conn.Exec(t.Context(), `INSERT INTO orders (order_id, user_id, client_request_id, request_hash, amount, currency, created_at, updated_at)
		VALUES ('o1', 'u1', 'r1', '\x01', 1000, 'EUR', now(), now());
		INSERT INTO payment_attempts (order_id, attempt_id, user_id, client_request_id, request_hash, account, status, stage, amount, currency, version, created_at, updated_at, finalized_at)
		VALUES ('o1', '00000000-0000-7000-8000-0000000000a1', 'u1', 'r1', '\x01', 'acc', 'succeeded', 'final', 1000, 'EUR', 3, now(), now(), now())`)
	require.NoError(t, err)
	request := func(id string, amount int, at string) {
		_, err := e.conn.Exec(t.Context(), `INSERT INTO refund_requests (refund_request_id, order_id, attempt_id, amount, currency, reason, requested_by, created_at)
			VALUES ($1::uuid, 'o1', '00000000-0000-7000-8000-0000000000a1', $2, 'EUR', 'a person''s name', 'sam', now() + $3::interval)`, id, amount, at)
		require.NoError(t, err)
	}
	const old, first, declined, second = "00000000-0000-7000-8000-0000000000b0", "00000000-0000-7000-8000-0000000000b1", "00000000-0000-7000-8000-0000000000b2", "00000000-0000-7000-8000-0000000000b3"
	sender := e.team(t, s.smtp(), 0, notice.RefundRequest)
	request(old, 100, "-1 hour")
	request(declined, 300, "0")
	_, err = e.conn.Exec(t.Context(), `UPDATE refund_requests SET status = 'declined', decided_by = 'ada', decided_at = now() WHERE amount = 300`)
	require.NoError(t, err)
	request(first, 500, "0")
	run(t, sender)
	m := s.next(t)
	require.Equal(t, "paylatch: 1 new case: refund request", m.subject)
	require.Contains(t, m.text, "refund request, 5.00 EUR, order o1, payment 00000000-0000-7000-8000-0000000000a1, case "+first)
	require.Contains(t, m.text, "https://pay.example/support/refund-requests/"+first+"/approve")
	require.NotContains(t, m.text, "person's name")
	request(second, 200, "0")
	m = s.next(t)
	require.Contains(t, m.text, second)
	require.NotContains(t, m.text, first)
	require.Equal(t, int32(2), s.tries.Load())
}

func TestKindsAreThoseOfTheWorklist(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, append(payment.DiscrepancyKinds(), notice.RefundRequest, notice.EndpointFailing), notice.Kinds())
}

// The password goes over TLS alone, and only to a server with a valid certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	s := serve(t, func(s *smtp.Server) { s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates} })
	by := s.smtp()
	by.TLS, by.User, by.Password = notice.StartTLS, "paylatch", "secret"
	require.ErrorContains(t, by.Send(t.Context(), notice.Message{ID: "1", Subject: "s", Text: "t"}), "certificate")
	by.TLSConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	require.NoError(t, by.Send(t.Context(), notice.Message{ID: "1", Subject: "s", Text: "t"}))
	require.Equal(t, "secret", s.next(t).password)
	by.Password = "other"
	require.Error(t, by.Send(t.Context(), notice.Message{ID: "1", Subject: "s", Text: "t"}))
	plain := serve(t).smtp()
	plain.TLS = notice.StartTLS
	require.Error(t, plain.Send(t.Context(), notice.Message{ID: "1", Subject: "s", Text: "t"}), "a server without TLS")
}
