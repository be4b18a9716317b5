package e2e_test

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// mailbox is a mail server that keeps the texts of accepted mails.
type mailbox chan string

func (m mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return m, nil }
func (mailbox) Reset()                                        {}
func (mailbox) Logout() error                                 { return nil }
func (mailbox) Mail(string, *smtp.MailOptions) error          { return nil }
func (mailbox) Rcpt(string, *smtp.RcptOptions) error          { return nil }

func (m mailbox) Data(r io.Reader) error {
	msg, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(quotedprintable.NewReader(msg.Body))
	m <- msg.Header.Get("Subject") + "\n" + string(text)
	return err
}

// listens starts the mail server and returns its address.
func (m mailbox) listens(t *testing.T) string {
	t.Helper()
	s := smtp.NewServer(m)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

// A late success and a refund request come by mail.
func TestNewCasesAreMailed(t *testing.T) {
	t.Parallel()
	cases, requests := make(mailbox, 10), make(mailbox, 10)
	notice := func(name, kind, at string) string {
		return fmt.Sprintf(`{"name":%q,"kinds":[%q],"mail":{"smtp":%q,"from":"paylatch@shop.example","to":["team@shop.example"],"tls":"none"}}`, name, kind, at)
	}
	s := openConsole(t, "PAYLATCH_NOTICES=["+notice("cases", "late_success", cases.listens(t))+","+notice("requests", "refund_request", requests.listens(t))+"]")
	eventually(t, "the notices", func() bool { return one[int](t, s.rig, `SELECT count(*)::int FROM notices`) == 2 })
	late := s.late(t)
	got := within(t, "the mail of the late success", cases)
	require.Contains(t, got, "paylatch: 1 new case: late success\n")
	require.Contains(t, got, "order "+late.OrderID+", payment "+late.ID)

	paid := s.bought(t, unique("o"), "tok_success")
	sam := signedIn(t, s.base, "sam", "support")
	ask := "/support/attempts/" + paid.ID + "/ask-refund"
	sam.post(ask, "key", sam.get(ask).hidden(t, "key"), "amount", "5.00", "reason", "case 4711").is(t, 303)
	got = within(t, "the mail of the refund request", requests)
	require.Contains(t, got, "refund request, 5.00 EUR, order "+paid.OrderID)
	require.NotContains(t, got, "4711")
}
