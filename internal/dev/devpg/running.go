package devpg

import (
	"net/url"
	"path/filepath"
)

// The lines of PostgreSQL's postmaster.pid (src/include/utils/pidfile.h).
const (
	lineOfPort   = 3
	lineOfSocket = 4
)

// Running returns the URL of a database on the server that another process runs on
// a directory, over its unix socket; false if there is none. A user without
// the right to read the directory finds none.
func Running(dir, db string) (string, bool) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	s := &Server{dir: &directory{path: path}}
	lines := s.pidFile()
	if len(lines) <= lineOfSocket || lines[lineOfSocket] == "" {
		return "", false
	}
	q := url.Values{"sslmode": {"disable"}, "host": {lines[lineOfSocket]}, "port": {lines[lineOfPort]}}
	u := url.URL{Scheme: "postgres", Path: "/" + db, User: url.User("postgres"), RawQuery: q.Encode()}
	return u.String(), true
}
