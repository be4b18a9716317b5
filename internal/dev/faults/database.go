package faults

import (
	"net/url"
	"strings"
	"testing"
)

// usualPort is PostgreSQL's port, for an address without a port.
const usualPort = "5432"

// NewDatabase returns a proxy before the server of a database, and the database's URL through it.
func NewDatabase(tb testing.TB, dsn string) (p *TCP, through string) {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
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
	p = NewTCP(tb, network, to)
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.Address(), q.Encode()
	return p, u.String()
}
