package config

import (
	"net"
	"net/mail"
	"net/netip"
	"slices"

	"github.com/paylatch/paylatch/internal/events/notice"
)

// Notice is a team that gets mails about new cases.
type Notice struct {
	Name  string   `koanf:"name" doc:"1–64 of a–z, 0–9 and -; its progress is stored under this name"`
	Kinds []string `koanf:"kinds" doc:"kinds of cases: the kinds of discrepancies, refund_request for refunds that support requests, and endpoint_failing for endpoints with dead letters or a 410; absent or *: all"`
	Mail  Mail     `koanf:"mail"`
}

// Mail is the mail server, the sender and the recipients.
type Mail struct {
	SMTP     string   `koanf:"smtp" doc:"host:port of the mail server, such as mail.internal:587"`
	From     string   `koanf:"from" doc:"the sender's address"`
	To       []string `koanf:"to" doc:"the receivers' addresses"`
	User     string   `koanf:"user" doc:"the user at the mail server; absent: none"`
	Password Secret   `koanf:"password" doc:"the password at the mail server"`
	TLS      string   `koanf:"tls" default:"starttls" doc:"starttls, implicit (as on port 465), or none for a server on this machine or in your own network"`
}

func (r *report) notices(list []Notice) {
	var names []string
	for i, n := range list {
		key := index("notices", i)
		switch {
		case !accountName.MatchString(n.Name):
			r.add(key+".name", "must be 1 to 64 of a–z, 0–9 and -")
		case slices.Contains(names, n.Name):
			r.add(key+".name", "an earlier notice has the same name; choose another")
		}
		names = append(names, n.Name)
		for j, kind := range n.Kinds {
			if kind != notice.Any {
				r.oneOf(index(key+".kinds", j), kind, notice.Kinds()...)
			}
		}
		r.mail(key+".mail", n.Mail)
	}
}

func (r *report) mail(key string, m Mail) {
	host, port, err := net.SplitHostPort(m.SMTP)
	if err != nil || host == "" || !isPort(port) {
		r.add(key+".smtp", "must be host:port of a mail server, such as mail.internal:587")
	}
	if !isMailAddress(m.From) {
		r.add(key+".from", "must be a mail address, such as paylatch@shop.example")
	}
	if len(m.To) == 0 {
		r.add(key+".to", "is missing: list the receivers, such as [team@shop.example]")
	}
	for i, to := range m.To {
		if !isMailAddress(to) {
			r.add(index(key+".to", i), "must be a mail address, such as team@shop.example")
		}
	}
	r.oneOf(key+".tls", m.TLS, notice.StartTLS, notice.ImplicitTLS, notice.NoTLS)
	switch {
	case (m.User == "") != (m.Password == ""):
		r.add(key+".user", "user and password belong together: set both or neither")
	case m.User != "" && m.TLS == notice.NoTLS && !isThisMachine(host):
		r.add(key+".tls", "must be starttls or implicit: with none, the password would be sent unencrypted")
	}
}

// isMailAddress accepts an address alone, without a name.
func isMailAddress(text string) bool {
	a, err := mail.ParseAddress(text)
	return err == nil && a.Address == text
}

func isThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
