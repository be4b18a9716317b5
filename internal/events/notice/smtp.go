package notice

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// The ways of encryption to a mail server.
const (
	// StartTLS begins in clear and fails if the server does not offer TLS.
	StartTLS = "starttls"
	// ImplicitTLS is encrypted from the first byte.
	ImplicitTLS = "implicit"
	// NoTLS is in clear.
	NoTLS = "none"
)

// SMTP is a mail server, with the sender and the recipients. Each mail uses a connection of its own, since at most one mail a
// minute is sent.
type SMTP struct {
	Host     string
	Port     int
	From     string
	To       []string
	User     string
	Password string
	// TLS is one of the ways.
	TLS string
	// TLSConfig replaces the default configuration, which trusts the system's roots; nil for the default.
	TLSConfig *tls.Config
}

// sendTime bounds a mail, from the connection to the server's answer.
const sendTime = 30 * time.Second

// Send implements Mailer. It returns an error if a server accepted the mail for some receivers only; the mail is then sent again
// to all.
func (s SMTP) Send(ctx context.Context, m Message) error {
	client, err := mail.NewClient(s.Host, s.options()...)
	if err != nil {
		return fmt.Errorf("mail server %s: %w", s.Host, err)
	}
	msg, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send by %s: %w", s.Host, err)
	}
	return nil
}

func (s SMTP) options() []mail.Option {
	options := []mail.Option{mail.WithTimeout(sendTime)}
	switch s.TLS {
	case ImplicitTLS:
		options = append(options, mail.WithSSL())
	case NoTLS:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.TLSConfig != nil {
		options = append(options, mail.WithTLSConfig(s.TLSConfig))
	}
	if s.User != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.User), mail.WithPassword(s.Password))
	}
	return append(options, mail.WithPort(s.Port))
}

func (s SMTP) compose(m Message) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := msg.From(s.From); err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	if err := msg.To(s.To...); err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	_, domain, _ := strings.Cut(strings.TrimSuffix(s.From, ">"), "@")
	msg.SetMessageIDWithValue(m.ID + "@" + domain)
	msg.SetDateWithValue(m.At)
	// RFC 3834: no program answers it.
	msg.SetGenHeader(mail.Header("Auto-Submitted"), "auto-generated")
	msg.Subject(m.Subject)
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	return msg, nil
}
