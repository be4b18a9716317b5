package config

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Endpoint is an address that events for the merchant are delivered to.
type Endpoint struct {
	Name         string          `koanf:"name" doc:"1–64 of a–z, 0–9 and -; its progress is stored under this name"`
	URL          string          `koanf:"url" doc:"where events are sent by POST; https, or http with allow_private"`
	Secrets      []Secret        `koanf:"secrets" doc:"secrets for signatures by Standard Webhooks; each secret signs all requests: whsec_ and the base64 of 24 to 64 bytes; two during a rotation"`
	Types        []string        `koanf:"types" doc:"types of events; absent or *: all"`
	Schedule     []time.Duration `koanf:"schedule" doc:"the waiting time after each failed try; absent: 5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h. After one more failure the event is a dead letter"`
	AllowPrivate bool            `koanf:"allow_private" default:"false" doc:"true: the address may be private, on this machine, and plain http"`
}

// anyType stands for all types.
const anyType = "*"

// Chosen returns the types of events that the endpoint takes; none means all.
func (e Endpoint) Chosen() []string {
	if slices.Contains(e.Types, anyType) {
		return nil
	}
	return e.Types
}

// The secrets that Standard Webhooks permits, in bytes, and the most tries after the first.
const (
	shortestEndpointSecret = 24
	longestEndpointSecret  = 64
	longestSchedule        = 50
)

func (r *report) endpoints(list []Endpoint) {
	var names []string
	for i, e := range list {
		key := index("endpoints", i)
		switch {
		case !accountName.MatchString(e.Name):
			r.add(key+".name", "must be 1 to 64 of a–z, 0–9 and -")
		case slices.Contains(names, e.Name):
			r.add(key+".name", "an earlier endpoint has the same name; choose another")
		}
		names = append(names, e.Name)
		r.endpointURL(key+".url", e)
		r.endpointSecrets(key+".secrets", e.Secrets)
		for j, t := range e.Types {
			if t != anyType {
				r.oneOf(index(key+".types", j), t, outbox.Types()...)
			}
		}
		if len(e.Schedule) > longestSchedule {
			r.add(key+".schedule", "must have at most %d entries", longestSchedule)
		}
		for j, d := range e.Schedule {
			r.positive(index(key+".schedule", j), d)
		}
	}
}

func (r *report) endpointURL(key string, e Endpoint) {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Fragment != "" || u.User != nil:
		r.add(key, "must be an address that begins with https://, without a user and a fragment")
	case u.Scheme == "http" && !e.AllowPrivate:
		r.add(key, "must begin with https://, because everybody on the network can read events over http; allow_private permits http in your own network")
	}
}

func (r *report) endpointSecrets(key string, secrets []Secret) {
	if len(secrets) == 0 {
		r.add(key, "is missing: add the output of `echo whsec_$(openssl rand -base64 32)`")
	}
	for i, s := range secrets {
		encoded, prefixed := strings.CutPrefix(string(s), "whsec_")
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if !prefixed || err != nil || len(decoded) < shortestEndpointSecret || len(decoded) > longestEndpointSecret {
			r.add(index(key, i), "must be whsec_ and the base64 of %d to %d bytes; `echo whsec_$(openssl rand -base64 32)` prints one",
				shortestEndpointSecret, longestEndpointSecret)
		}
		if slices.Contains(secrets[:i], s) {
			r.add(index(key, i), "equals an earlier secret; remove it")
		}
	}
}
