package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	creds := filepath.Join(t.TempDir(), "paylatch.creds")
	require.NoError(t, os.WriteFile(creds, nil, 0o600))
	c, err := config.Load(write(t, good+`streams:
  - {name: jobs, kind: nats, url: "nats://u:p@a.example:4222,tls://token@b.example", stream: PAYLATCH}
  - {name: own, kind: nats, url: "nats://10.0.0.1", stream: SHOP, subject_prefix: shop.paylatch, credentials: `+creds+`}
  - {name: lake, kind: kafka, brokers: ["kafka:9092"], topic: payments.v1, tls: true, sasl: {mechanism: scram-sha-512, username: u, password: secret}}
`), nil)
	require.NoError(t, err)
	require.Equal(t, []config.Stream{
		{Name: "jobs", Kind: "nats", URL: "nats://u:p@a.example:4222,tls://token@b.example", Stream: "PAYLATCH"},
		{Name: "own", Kind: "nats", URL: "nats://10.0.0.1", Stream: "SHOP", SubjectPrefix: "shop.paylatch", Credentials: creds},
		{
			Name: "lake", Kind: "kafka", Brokers: []string{"kafka:9092"}, Topic: "payments.v1", TLS: true,
			SASL: config.SASL{Mechanism: "scram-sha-512", Username: "u", Password: "secret"},
		},
	}, c.Streams)
	shown := fmt.Sprintf("%v %+v", c.Streams, c.Streams)
	require.NotContains(t, shown, "secret")
	require.NotContains(t, shown, "token@")
}

func TestStreamsRefused(t *testing.T) {
	t.Parallel()
	const jobs = `{name: a, kind: nats, url: "nats://a", stream: S}`
	for text, want := range map[string]string{
		`{kind: nats, url: "nats://a", stream: S}`:                                                                           "streams[0].name: must be 1 to 64",
		jobs + ", " + jobs:                                                                                                   "streams[1].name: an earlier stream",
		`{name: a, kind: nat, url: "nats://a", stream: S}`:                                                                   "streams[0].kind: must be one of nats, kafka",
		`{name: a, url: "nats://a", stream: S}`:                                                                              "streams[0].kind: must be one of nats, kafka",
		`{name: a, kind: nats, stream: S}`:                                                                                   "streams[0].url: must be nats://",
		`{name: a, kind: nats, url: "http://a", stream: S}`:                                                                  "streams[0].url: must be nats://",
		`{name: a, kind: nats, url: "nats://a,b", stream: S}`:                                                                "streams[0].url: must be nats://",
		`{name: a, kind: nats, url: "nats://a/x", stream: S}`:                                                                "streams[0].url: must be nats://",
		`{name: a, kind: nats, url: "nats://a"}`:                                                                             "streams[0].stream: must be the name of a JetStream stream",
		`{name: a, kind: nats, url: "nats://a", stream: a.b}`:                                                                "streams[0].stream: must be the name of a JetStream stream",
		`{name: a, kind: nats, url: "nats://a", stream: S, subject_prefix: "a.>"}`:                                           "streams[0].subject_prefix: must be words",
		`{name: a, kind: nats, url: "nats://a", stream: S, credentials: /none}`:                                              "streams[0].credentials: must be a readable file",
		`{name: a, kind: nats, url: "nats://a", stream: S, topic: t}`:                                                        "streams[0].topic: is not a key of the kind nats",
		`{name: a, kind: nats, url: "nats://a", stream: S, sasl: {username: u}}`:                                             "streams[0].sasl: is not a key of the kind nats",
		`{name: a, kind: kafka, topic: t}`:                                                                                   "streams[0].brokers: is missing",
		`{name: a, kind: kafka, brokers: [kafka], topic: t}`:                                                                 "streams[0].brokers[0]: must be host:port",
		`{name: a, kind: kafka, brokers: ["k:1"]}`:                                                                           "streams[0].topic: must be the name of an existing topic",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, url: "nats://a"}`:                                                "streams[0].url: is not a key of the kind kafka",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, subject_prefix: p}`:                                              "streams[0].subject_prefix: is not a key of the kind kafka",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, sasl: {username: u}}`:                                            "streams[0].sasl.mechanism: is required",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, tls: true, sasl: {mechanism: gssapi, username: u, password: p}}`: "streams[0].sasl.mechanism: must be one of plain",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, tls: true, sasl: {mechanism: plain, password: p}}`:               "streams[0].sasl.username: is missing",
		`{name: a, kind: kafka, brokers: ["k:1"], topic: t, tls: true, sasl: {mechanism: plain, username: u}}`:               "streams[0].sasl.password: is missing",
	} {
		errs := validationErrors(t, good+"streams: ["+text+"]\n")
		require.Len(t, errs, 1, text)
		require.Contains(t, errs[0], want)
	}
}

func TestStreamsInLive(t *testing.T) {
	t.Parallel()
	const account = "accounts: [{name: a, kind: stripe, api_key: sk_live_1, webhook_secrets: [whsec_1]}]\n"
	const plain = `streams: [{name: a, kind: kafka, brokers: ["k:1"], topic: t, sasl: {mechanism: plain, username: u, password: p}}]` + "\n"
	errs := validationErrors(t, inLive+account+plain)
	require.Len(t, errs, 1)
	require.Contains(t, errs[0], "streams[0].tls: must be true in live")
}
