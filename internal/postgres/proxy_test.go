package postgres_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between clients and a server on a unix socket, and returns its URL. Each
// connection's two sides are written through what wrap makes of them.
func proxy(t *testing.T, dsn, settings string, wrap func(client, server net.Conn) (toClient, toServer io.Writer)) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	socket := u.Query().Get("host") + "/.s.PGSQL." + u.Query().Get("port")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.Host, u.RawQuery = listener.Addr().String(), "sslmode=disable"+settings
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", socket)
			if err != nil {
				_ = client.Close()
				continue
			}
			carry := func(to io.Writer, from net.Conn) {
				defer func() { _, _ = client.Close(), server.Close() }()
				_, _ = io.Copy(to, from)
			}
			toClient, toServer := wrap(client, server)
			all.Go(func() { carry(toServer, client) })
			all.Go(func() { carry(toClient, server) })
		}
	})
	return u.String()
}
