package testdb

import (
	"net/url"
	"strconv"
	"time"
)

// Patience is how long a test waits for a database that answers late because the machine is busy.
const Patience = 2 * time.Minute

// Patient adds limits of Patience to a database's address, for a session and for connecting, where the address sets no limits of its own.
// The limits of a process in production are some seconds: a test that is not about them must not fail because of them.
func Patient(dsn string) string {
	seconds := strconv.Itoa(int(Patience.Seconds()))
	limits := map[string]string{
		"connect_timeout": seconds, "lock_timeout": seconds + "s", "statement_timeout": seconds + "s", "idle_in_transaction_session_timeout": seconds + "s",
	}
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" { // the other form of a connection string: the last value holds
		for name, value := range limits {
			dsn = name + "=" + value + " " + dsn
		}
		return dsn
	}
	q := u.Query()
	for name, value := range limits {
		if q.Has(name) {
			continue
		}
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += name + "=" + value
	}
	return u.String()
}
