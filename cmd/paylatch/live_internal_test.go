package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

// wellConfigured is a configuration that live takes, by its keys.
func wellConfigured() map[string]string {
	return map[string]string{
		"database_url":    "postgres://paylatch:p@db.internal/paylatch?sslmode=verify-full",
		"encryption_keys": "[{id: k1, key: N0tHsZlWc1hXbXo3d0t2UXJZOUFqNlVvRTFiRGd4TGs=}]",
		"auth":            "{hs256: [{id: shop, secret: hZ4vN8qLw2Xe9RbT6yKd3MfJ7cGp5sAu, roles: [customer, service]}], issuers: [{issuer: 'https://id.example', jwks_url: 'https://id.example/keys', audience: paylatch, roles: [customer]}]}",
		"accounts":        "[{name: a, kind: stripe, api_key: sk_live_1, webhook_secrets: [whsec_1]}]",
		"endpoints":       "[{name: shop, url: 'https://shop.example/paylatch', secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}]",
		"streams":         "[{name: n, kind: nats, url: 'tls://nats.internal:4222', stream: PAYLATCH}, {name: k, kind: kafka, brokers: ['kafka.internal:9092'], topic: paylatch, tls: true}]",
		"notices":         "[{name: team, mail: {smtp: 'mail.internal:587', from: paylatch@shop.example, to: [team@shop.example]}}]",
		"tracing":         "{endpoint: 'https://collector.internal:4318'}",
	}
}

// changed is one way to configure it, and which keys are wrong then: in live alone, or everywhere.
type changed struct {
	key, value string
	inLive     string
	everywhere string
}

func configurations() map[string]changed {
	const kafka, mail = "[{name: k, kind: kafka, topic: paylatch, ", "[{name: team, mail: {from: paylatch@shop.example, to: [team@shop.example], "
	const hs256, issuer = "{hs256: [{id: shop, roles: [customer, service], secret: ", "issuer: 'https://id.example', jwks_url: 'https://id.example/keys', audience: paylatch"
	return map[string]changed{
		"good":                          {},
		"a database on this machine":    {key: "database_url", value: "postgres://paylatch:p@127.0.0.1/paylatch"},
		"a database behind a socket":    {key: "database_url", value: "postgres://paylatch@/paylatch?host=/var/run/postgresql"},
		"a database in clear":           {key: "database_url", value: "postgres://paylatch:p@db.internal/paylatch?sslmode=disable", inLive: "database_url"},
		"a database, perhaps in clear":  {key: "database_url", value: "postgres://paylatch:p@db.internal/paylatch?sslmode=prefer", inLive: "database_url"},
		"a database that says nothing":  {key: "database_url", value: "postgres://paylatch:p@db.internal/paylatch", inLive: "database_url"},
		"one of two in clear":           {key: "database_url", value: "postgres://paylatch:p@localhost,db.internal/paylatch?sslmode=allow", inLive: "database_url"},
		"a direct address in clear":     {key: "database", value: "{direct_url: 'postgres://db.internal/paylatch'}", inLive: "database.direct_url"},
		"a standby in clear":            {key: "database", value: "{read_url: 'postgres://standby.internal/paylatch'}", inLive: "database.read_url"},
		"a cell in clear":               {key: "cells", value: "[{number: 1, database_url: 'postgres://cell.internal/paylatch'}]", inLive: "cells[0].database_url"},
		"a cell's standby in clear":     {key: "cells", value: "[{number: 1, database_url: 'postgres://c/p?sslmode=require', read_url: 'postgres://s/p'}]", inLive: "cells[0].read_url"},
		"nats in clear":                 {key: "streams", value: "[{name: n, kind: nats, url: 'tls://a:4222,nats://nats.internal:4222', stream: PAYLATCH}]", inLive: "streams[0].url"},
		"nats on this machine":          {key: "streams", value: "[{name: n, kind: nats, url: 'nats://[::1]:4222', stream: PAYLATCH}]"},
		"kafka in clear":                {key: "streams", value: kafka + "brokers: ['localhost:9092', 'kafka.internal:9092']}]", inLive: "streams[0].tls"},
		"kafka on this machine":         {key: "streams", value: kafka + "brokers: ['localhost:9092']}]"},
		"kafka's password in clear":     {key: "streams", value: kafka + "brokers: ['localhost:9092'], sasl: {mechanism: plain, username: u, password: p}}]", inLive: "streams[0].tls"},
		"mail in clear":                 {key: "notices", value: mail + "smtp: 'mail.internal:25', tls: none}}]", inLive: "notices[0].mail.tls"},
		"mail on this machine":          {key: "notices", value: mail + "smtp: 'localhost:25', tls: none}}]"},
		"mail without a server":         {key: "notices", value: mail + "tls: starttls}}]", everywhere: "notices[0].mail.smtp"},
		"traces in clear":               {key: "tracing", value: "{endpoint: 'http://collector.internal:4318'}", inLive: "tracing.endpoint"},
		"traces on this machine":        {key: "tracing", value: "{endpoint: 'http://127.0.0.1:4318'}"},
		"traces that are none":          {key: "tracing", value: "{sample: 2}", everywhere: "tracing.sample"},
		"a provider in clear":           {key: "accounts", value: "[{name: a, kind: stripe, api_key: sk_live_1, base_url: 'http://stripe.internal'}]", inLive: "accounts[0].base_url"},
		"an endpoint in clear":          {key: "endpoints", value: "[{name: shop, url: 'http://shop.internal', allow_private: true, secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}]", inLive: "endpoints[0].url"},
		"an endpoint on this machine":   {key: "endpoints", value: "[{name: shop, url: 'http://localhost:8000', allow_private: true, secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}]"},
		"an endpoint in clear, outside": {key: "endpoints", value: "[{name: shop, url: 'http://shop.internal', secrets: [whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw]}]", everywhere: "endpoints[0].url"},
		"an endpoint's weak secret":     {key: "endpoints", value: "[{name: shop, url: 'https://shop.example', secrets: [whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA]}]", inLive: "endpoints[0].secrets[0]"},
		"aaaa":                          {key: "auth", value: hs256 + strings.Repeat("a", 40) + "}]}", inLive: "auth.hs256[0].secret"},
		"abab":                          {key: "auth", value: hs256 + strings.Repeat("ab", 20) + "}]}", inLive: "auth.hs256[0].secret"},
		"changeme":                      {key: "auth", value: hs256 + strings.Repeat("changeme", 5) + "}]}", inLive: "auth.hs256[0].secret"},
		"digits":                        {key: "auth", value: hs256 + "'" + strings.Repeat("1234567890", 4) + "'}]}", inLive: "auth.hs256[0].secret"},
		"one letter else":               {key: "auth", value: hs256 + strings.Repeat("a", 39) + "b}]}", inLive: "auth.hs256[0].secret"},
		"hexadecimal":                   {key: "auth", value: hs256 + "9f86d081884c7d659a2feaa0c55ad015}]}"},
		"too short":                     {key: "auth", value: hs256 + "hZ4vN8qLw2Xe9RbT6yKd}]}", everywhere: "auth.hs256[0].secret"},
		"an encryption key of zeros":    {key: "encryption_keys", value: "[{id: k1, key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=}]", inLive: "encryption_keys[0].key"},
		"an older key of zeros":         {key: "encryption_keys", value: "[{id: k1, key: N0tHsZlWc1hXbXo3d0t2UXJZOUFqNlVvRTFiRGd4TGs=}, {id: k0, key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=}]", inLive: "encryption_keys[1].key"},
		"an encryption key of words":    {key: "encryption_keys", value: "[{id: k1, key: 'not base64'}]", everywhere: "encryption_keys[0].key"},
		"every role":                    {key: "auth", value: "{hs256_secret: hZ4vN8qLw2Xe9RbT6yKd3MfJ7cGp5sAu}", inLive: "auth.hs256_secret"},
		"an issuer without roles":       {key: "auth", value: "{issuers: [{" + issuer + "}]}", everywhere: "auth.issuers[0].roles"},
		"an issuer of another role":     {key: "auth", value: "{issuers: [{" + issuer + ", roles: [root]}]}", everywhere: "auth.issuers[0].roles[0]"},
		"an issuer twice":               {key: "auth", value: "{issuers: [{" + issuer + ", roles: [customer]}, {" + issuer + ", roles: [admin]}]}", everywhere: "auth.issuers[1].issuer"},
		"an issuer's keys in clear":     {key: "auth", value: "{issuers: [{issuer: i, audience: a, roles: [admin], jwks_url: 'http://127.0.0.1/keys'}]}", inLive: "auth.issuers[0].jwks_url"},
		"keys alone":                    {key: "auth", value: "{jwks_url: 'https://id.example/keys', issuer: 'https://id.example', audience: paylatch}"},
		"keys of nobody":                {key: "auth", value: "{jwks_url: 'https://id.example/keys', audience: paylatch}", everywhere: "auth.issuer"},
		"no keys":                       {key: "auth", value: "{issuer: i}", everywhere: "auth"},
		"everybody a proxy":             {key: "trusted_proxies", value: "[0.0.0.0/0]", inLive: "trusted_proxies[0]"},
		"a test key":                    {key: "accounts", value: "[{name: a, kind: stripe, api_key: sk_test_1}]", inLive: "accounts[0].api_key"},
		"a sandbox":                     {key: "accounts", value: "[{name: a, kind: sandbox, base_url: 'http://127.0.0.1:9090'}]", inLive: "accounts[0].kind"},
		"no account":                    {key: "accounts", value: "[]", everywhere: "accounts"},
		"no such key":                   {key: "databse_url", value: "x", everywhere: "databse_url"},
		"a port that is none":           {key: "listen", value: "here", everywhere: "listen"},
		"an exception that is none":     {key: "allow_plain", value: "['http://db.internal']", inLive: "allow_plain[0]"},
	}
}

// TestNothingInClear: `doctor` and `serve` refuse the same configurations in the same words, each validation error with its key, in every
// environment. allow_plain is the one way to have a connection in clear.
func TestNothingInClear(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, environment := range []string{"", config.Live, config.Test, config.Dev} {
		for name, c := range configurations() {
			tried++
			t.Run(environment+"/"+name, func(t *testing.T) {
				t.Parallel()
				want := c.everywhere
				if environment == "" || environment == config.Live {
					want += c.inLive
				}
				keys := wellConfigured()
				keys[c.key] = c.value
				require.Equal(t, want, strings.Join(refusedKeys(t, environment, keys, 0o600), " "))
			})
		}
	}
	require.GreaterOrEqual(t, tried, 200)
	for key, host := range map[string]string{
		"a database in clear": "db.internal", "a direct address in clear": "db.internal:5432", "a standby in clear": "STANDBY.internal", "a cell in clear": "cell.internal",
		"nats in clear": "nats.internal:4222", "kafka in clear": "kafka.internal", "mail in clear": "mail.internal:25", "traces in clear": "collector.internal",
		"a provider in clear": "stripe.internal", "an endpoint in clear": "shop.internal",
	} {
		c, keys := configurations()[key], wellConfigured()
		keys[c.key], keys["allow_plain"] = c.value, "[other.internal, '"+host+"']"
		require.Empty(t, refusedKeys(t, "", keys, 0o600), key)
		keys["allow_plain"] = "[other.internal, '" + host + "0:1']"
		require.Equal(t, []string{c.inLive}, refusedKeys(t, "", keys, 0o600), key)
	}
}

// TestAllMistakesOfLive: a configuration with all of the validation errors is refused with a line for each.
func TestAllMistakesOfLive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "tls.key")
	require.NoError(t, os.WriteFile(key, []byte("k"), 0o644))
	all := configurations()
	keys := map[string]string{"tls": "{cert_file: '" + key + "', key_file: '" + key + "'}"}
	for _, name := range []string{"a database in clear", "a standby in clear", "mail in clear", "traces in clear", "a provider in clear", "an endpoint in clear", "an encryption key of zeros", "aaaa", "everybody a proxy"} {
		keys[all[name].key] = all[name].value
	}
	keys["streams"] = "[{name: n, kind: nats, url: 'nats://nats.internal:4222', stream: PAYLATCH}, {name: k, kind: kafka, brokers: ['kafka.internal:9092'], topic: paylatch}]"
	found := refusedKeys(t, "", keys, 0o644)
	slices.Sort(found)
	require.Equal(t, []string{
		"accounts[0].base_url", "auth.hs256[0].secret", "database.read_url", "database_url", "encryption_keys[0].key", "endpoints[0].url", "notices[0].mail.tls",
		"streams[0].url", "streams[1].tls", "the configuration contains secrets and can be read by every user of this machine, which live refuses", "tls.key_file", "tracing.endpoint", "trusted_proxies[0]",
	}, found)
}

// TestFilesWithSecrets: one that everybody may read has no secret in it, or is refused in live.
func TestFilesWithSecrets(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, refusedKeys(t, "", wellConfigured(), 0o644))
	require.Empty(t, refusedKeys(t, "", wellConfigured(), 0o640))
	require.Empty(t, refusedKeys(t, config.Test, wellConfigured(), 0o644))
	named := wellConfigured()
	named["database_url"], named["encryption_keys"], named["auth"] = "${DATABASE}", "[{id: k1, key: '${KEY}'}]", "{hs256: [{id: shop, secret: '${SECRET}', roles: [customer]}]}"
	named["accounts"], named["endpoints"] = "[{name: a, kind: stripe, api_key: '${STRIPE}', webhook_secrets: ['${WHSEC}']}]", "[{name: shop, url: 'https://shop.example/paylatch', secrets: ['${WHSEC}']}]"
	environ := []string{
		"DATABASE=postgres://paylatch:p@db.internal/paylatch?sslmode=require", "KEY=N0tHsZlWc1hXbXo3d0t2UXJZOUFqNlVvRTFiRGd4TGs=", "SECRET=hZ4vN8qLw2Xe9RbT6yKd3MfJ7cGp5sAu",
		"STRIPE=sk_live_1", "WHSEC=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	}
	require.Empty(t, refusedKeys(t, "", named, 0o644, environ...))
	named["notices"] = "[{name: team, mail: {smtp: 'mail.internal:587', user: u, password: p, from: paylatch@shop.example, to: [team@shop.example]}}]"
	require.Len(t, refusedKeys(t, "", named, 0o644, environ...), 1)
}

// refusedKeys returns the keys in the errors of `serve`, or nil if it would start. `doctor` must report the same keys.
func refusedKeys(t *testing.T, environment string, keys map[string]string, mode os.FileMode, environ ...string) []string {
	t.Helper()
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "" {
			text.WriteString(key + ": " + keys[key] + "\n")
		}
	}
	if environment != "" {
		text.WriteString("environment: " + environment + "\n")
	}
	file := filepath.Join(t.TempDir(), "paylatch.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	require.NoError(t, os.Chmod(file, mode))
	if _, err := config.Load(file, environ); err == nil {
		a := &app{configFile: file, environ: environ}
		_, err := a.examined()
		require.NoError(t, err, "the doctor takes what serve takes")
		return nil
	}
	said := map[string]string{}
	for _, command := range []string{"serve", "doctor"} {
		var stdout, stderr bytes.Buffer
		a := &app{environ: environ, stdout: &stdout, stderr: &stderr}
		require.Equal(t, exitUsage, a.run([]string{"--config", file, command}), "%s: %s", command, stderr.String())
		require.Empty(t, stdout.String(), command)
		said[command] = stderr.String()
	}
	require.Equal(t, said["serve"], said["doctor"])
	var found []string
	for line := range strings.Lines(said["serve"]) {
		key, _, _ := strings.Cut(line, ": ")
		found = append(found, key)
	}
	return found
}
