package config

import (
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Stream is a stream of a message broker that events for the merchant are published to.
type Stream struct {
	Name string `koanf:"name" doc:"1–64 of a–z, 0–9 and -; its progress is stored under this name"`
	Kind string `koanf:"kind" doc:"nats or kafka"`

	URL           Secret `koanf:"url" doc:"nats: nats://host:4222 or tls://host:4222, with commas between several addresses; each may contain a user and password, or a token"`
	Stream        string `koanf:"stream" doc:"nats: the JetStream stream; paylatch creates it with the subjects of subject_prefix if it does not exist, and never changes it"`
	SubjectPrefix string `koanf:"subject_prefix" doc:"nats: the first part of each subject, before a dot and the event's type; absent: paylatch"`
	Credentials   string `koanf:"credentials" doc:"nats: the path of a .creds file"`

	Brokers []string `koanf:"brokers" doc:"kafka: host:port of the first brokers"`
	Topic   string   `koanf:"topic" doc:"kafka: the topic, which must exist"`
	TLS     bool     `koanf:"tls" default:"false" doc:"kafka: use TLS"`
	SASL    SASL     `koanf:"sasl"`
}

// SASL is the authentication at a Kafka broker.
type SASL struct {
	Mechanism string `koanf:"mechanism" doc:"kafka: plain, scram-sha-256 or scram-sha-512; absent: no SASL"`
	Username  string `koanf:"username" doc:"kafka: the user of SASL"`
	Password  Secret `koanf:"password" doc:"kafka: the password of SASL"`
}

const saslPlain = "plain"

// The names that JetStream and Kafka permit, as far as they make sense.
var (
	jetStreamName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	subjectPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64})*$`)
	topicName     = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)
)

func (r *report) streams(list []Stream) {
	var names []string
	for i, s := range list {
		key := index("streams", i)
		switch {
		case !accountName.MatchString(s.Name):
			r.add(key+".name", "must be 1 to 64 of a–z, 0–9 and -")
		case slices.Contains(names, s.Name):
			r.add(key+".name", "an earlier stream has the same name; choose another")
		}
		names = append(names, s.Name)
		r.oneOf(key+".kind", s.Kind, "nats", "kafka")
		switch s.Kind {
		case "nats":
			r.nats(key, s)
			r.absent(key, s.Kind, map[string]bool{"brokers": len(s.Brokers) > 0, "topic": s.Topic != "", "tls": s.TLS, "sasl": s.SASL != SASL{}})
		case "kafka":
			r.kafka(key, s)
			r.absent(key, s.Kind, map[string]bool{
				"url": s.URL != "", "stream": s.Stream != "", "subject_prefix": s.SubjectPrefix != "", "credentials": s.Credentials != "",
			})
		}
	}
}

// absent reports the keys of the other kind.
func (r *report) absent(key, kind string, there map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if there[name] {
			r.add(key+"."+name, "is not a key of the kind %s; remove it", kind)
		}
	}
}

func (r *report) nats(key string, s Stream) {
	for address := range strings.SplitSeq(string(s.URL), ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || (u.Scheme != "nats" && u.Scheme != "tls") || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
			r.add(key+".url", "must be nats://host:4222, or tls://host:4222 for TLS, with commas between several addresses (special characters of a password as %%xx)")
		}
	}
	if !jetStreamName.MatchString(s.Stream) {
		r.add(key+".stream", "must be the name of a JetStream stream, such as PAYLATCH: letters, digits, _ and -")
	}
	if s.SubjectPrefix != "" && !subjectPrefix.MatchString(s.SubjectPrefix) {
		r.add(key+".subject_prefix", "must be words of letters, digits, _ and -, with dots between them")
	}
	if s.Credentials == "" {
		return
	}
	if _, err := os.Stat(s.Credentials); err != nil {
		r.add(key+".credentials", "must be a readable file: the .creds file of the NATS user")
	}
}

func (r *report) kafka(key string, s Stream) {
	if len(s.Brokers) == 0 {
		r.add(key+".brokers", "is missing: list brokers, such as [host:9092]")
	}
	for i, b := range s.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || !isPort(port) {
			r.add(index(key+".brokers", i), "must be host:port, such as kafka.internal:9092")
		}
	}
	if !topicName.MatchString(s.Topic) {
		r.add(key+".topic", "must be the name of an existing topic: letters, digits, ., _ and -")
	}
	r.sasl(key+".sasl", s.SASL)
}

func (r *report) sasl(key string, s SASL) {
	if s.Mechanism == "" {
		if s.Username != "" || s.Password != "" {
			r.add(key+".mechanism", "is required with a username or password: plain, scram-sha-256 or scram-sha-512")
		}
		return
	}
	r.oneOf(key+".mechanism", s.Mechanism, saslPlain, "scram-sha-256", "scram-sha-512")
	if s.Username == "" {
		r.add(key+".username", "is missing: sasl requires it")
	}
	if s.Password == "" {
		r.add(key+".password", "is missing: sasl requires it")
	}
}
