package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// connection is a connection of this service that may be unencrypted.
type connection struct {
	// key is the configuration key of the connection, and remedy the setting that encrypts it.
	key, remedy string
	// at is host:port, or the host alone.
	at string
}

// inClear is the only list of connections that may be unencrypted: each connection to another host that the configuration leaves
// without TLS. It does not contain addresses from which others fetch signed or public data, nor connections that always require
// https.
func (c *Config) inClear(environ map[string]string) []connection {
	var all []connection
	for _, d := range c.databases() {
		for _, at := range plainDatabases(string(d.url)) {
			all = append(all, connection{d.key, "add sslmode=verify-full", at})
		}
	}
	for i, a := range c.Accounts {
		all = append(all, plainHTTP(index("accounts", i)+".base_url", a.BaseURL)...)
	}
	for i, e := range c.Endpoints {
		all = append(all, plainHTTP(index("endpoints", i)+".url", e.URL)...)
	}
	for i, s := range c.Streams {
		all = append(all, s.inClear(index("streams", i))...)
	}
	for i, n := range c.Notices {
		if n.Mail.TLS == "none" {
			all = append(all, connection{index("notices", i) + ".mail.tls", "set starttls or implicit", n.Mail.SMTP})
		}
	}
	collector := c.Tracing.Endpoint
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if collector == "" {
			collector = environ[name]
		}
	}
	return append(all, plainHTTP("tracing.endpoint", collector)...)
}

type databaseAt struct {
	key string
	url Secret
}

func (c *Config) databases() []databaseAt {
	all := []databaseAt{
		{"database_url", c.DatabaseURL}, {"database.direct_url", c.Database.DirectURL}, {"database.read_url", c.Database.ReadURL},
	}
	for i, of := range c.Cells {
		key := index("cells", i)
		all = append(all, databaseAt{key + ".database_url", of.DatabaseURL}, databaseAt{key + ".direct_url", of.DirectURL}, databaseAt{key + ".read_url", of.ReadURL})
	}
	return all
}

// plainDatabases lists the servers that an address may lead to without TLS, which sslmode=prefer permits, too.
func plainDatabases(text string) []string {
	cfg, ok := databaseConfig(text)
	if !ok {
		return nil
	}
	var all []string
	note := func(host string, port uint16, plain bool) {
		if at := net.JoinHostPort(host, strconv.Itoa(int(port))); plain && !strings.HasPrefix(host, "/") && !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	note(cfg.ConnConfig.Host, cfg.ConnConfig.Port, cfg.ConnConfig.TLSConfig == nil)
	for _, other := range cfg.ConnConfig.Fallbacks {
		note(other.Host, other.Port, other.TLSConfig == nil)
	}
	return all
}

func plainHTTP(key, address string) []connection {
	u, err := url.Parse(address)
	if err != nil || !isPlain(address) {
		return nil
	}
	return []connection{{key, "begin it with https://", u.Host}}
}

func (s Stream) inClear(key string) []connection {
	var all []connection
	for address := range strings.SplitSeq(string(s.URL), ",") {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.Scheme == "nats" {
			all = append(all, connection{key + ".url", "begin each with tls://", u.Host})
		}
	}
	for _, broker := range s.Brokers {
		if !s.TLS {
			all = append(all, connection{key + ".tls", "set it true", broker})
		}
	}
	return all
}

// clear refuses connections in clear to other machines that allow_plain does not name.
func (r *report) clear(c *Config) {
	for i, entry := range c.AllowPlain {
		if host, _ := hostOf(entry); host == "" || strings.ContainsAny(entry, "/@ *") {
			r.add(index("allow_plain", i), "must be a host or host:port, such as db.internal:5432")
		}
	}
	for _, of := range c.inClear(r.environ) {
		if !isThisHost(of.at) && !c.allowsPlain(of.at) {
			r.add(of.key, "the connection to %s would be unencrypted, which live refuses: %s, or add the host to allow_plain", presentable(of.at), of.remedy)
		}
	}
}

// allowsPlain reports whether a place may be reached in clear.
func (c *Config) allowsPlain(at string) bool {
	host, _ := hostOf(at)
	return slices.ContainsFunc(c.AllowPlain, func(entry string) bool {
		named, port := hostOf(entry)
		return strings.EqualFold(entry, at) || port == "" && strings.EqualFold(named, host)
	})
}

// hostOf parts a host from its port, if it has one.
func hostOf(at string) (host, port string) {
	if host, port, err := net.SplitHostPort(at); err == nil {
		return host, port
	}
	return strings.Trim(at, "[]"), ""
}

func isThisHost(at string) bool {
	host, _ := hostOf(at)
	ip, err := netip.ParseAddr(host)
	return host == "" || strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
