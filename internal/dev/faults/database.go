package faults

import (
	"net/url"
	"strings"
)

// usualPort is PostgreSQL's port, for an address without a port.
const usualPort = "5432"

// NewDatabase returns a proxy before the server of a database, and the database's URL through it.
func NewDatabase(tb TB, dsn string) (p *TCP, through string) {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	p = NewTCP(tb, "tcp", "")
	p.LeadToDatabase(u)
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.Address(), q.Encode()
	return p, u.String()
}

// LeadToDatabase leads new connections to the server of a database.
func (p *TCP) LeadToDatabase(u *url.URL) {
	q := u.Query()
	network, to := "tcp", u.Host
	if u.Port() == "" {
		to += ":" + usualPort
	}
	if host := q.Get("host"); strings.HasPrefix(host, "/") {
		port := usualPort
		if q.Has("port") {
			port = q.Get("port")
		}
		network, to = "unix", host+"/.s.PGSQL."+port
	}
	p.Lead(network, to)
}
