package config

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// minSecret is the minimum length of an HS256 key by RFC 7518, 3.2.
const minSecret = 32

// EncryptionKey is a key of the ring: the first key encrypts, all decrypt.
type EncryptionKey struct {
	ID  string `koanf:"id" doc:"1–32 of letters, digits, ., _ and -; encrypted data contains the id, so never reuse it for another key"`
	Key Secret `koanf:"key" doc:"base64 of 32 bytes"`
}

// Bytes decodes the key. It returns nil if the text is not a key.
func (k EncryptionKey) Bytes() []byte {
	text := strings.TrimRight(string(k.Key), "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	key, err := encoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil
	}
	return key
}

// HS256Key is a key of a ring. All keys of the ring verify tokens.
type HS256Key struct {
	ID     string   `koanf:"id" doc:"1–32 of letters, digits, ., _ and -; a token may have it in its header kid"`
	Secret Secret   `koanf:"secret" doc:"at least 32 bytes"`
	Roles  []string `koanf:"roles" doc:"the allowed roles of tokens with this key: customer, service, support, admin"`
}

// Ring lists the keys of HS256 tokens. The key of hs256_secret is the last: it has no id and all roles.
func (a Auth) Ring() []HS256Key {
	ring := slices.Clone(a.HS256)
	if a.HS256Secret != "" {
		ring = append(ring, HS256Key{Secret: a.HS256Secret, Roles: roles()})
	}
	return ring
}

func roles() []string { return []string{"customer", "service", "support", "admin"} }

var keyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

func (r *report) encryptionKeys(ring []EncryptionKey) {
	var ids []string
	var keys [][]byte
	for i, k := range ring {
		at := index("encryption_keys", i)
		r.keyID(at+".id", k.ID, ids)
		key := k.Bytes()
		switch {
		case key == nil:
			r.add(at+".key", "must be the base64 of 32 bytes; `openssl rand -base64 32` makes one")
		case slices.ContainsFunc(keys, func(other []byte) bool { return string(other) == string(key) }):
			r.add(at+".key", "equals an earlier key; make a new key, or remove this one")
		}
		ids, keys = append(ids, k.ID), append(keys, key)
	}
}

func (r *report) hs256(a Auth) {
	var ids []string
	var secrets []Secret
	for i, k := range a.HS256 {
		at := index("auth.hs256", i)
		r.keyID(at+".id", k.ID, ids)
		r.secret(at+".secret", k.Secret, secrets)
		if len(k.Roles) == 0 {
			r.add(at+".roles", "is missing: list the allowed roles of tokens with this key")
		}
		for j, role := range k.Roles {
			r.oneOf(index(at+".roles", j), role, roles()...)
		}
		ids, secrets = append(ids, k.ID), append(secrets, k.Secret)
	}
	if a.HS256Secret != "" {
		r.secret("auth.hs256_secret", a.HS256Secret, secrets)
	}
}

func (r *report) keyID(key, id string, earlier []string) {
	switch {
	case !keyID.MatchString(id):
		r.add(key, "must be 1 to 32 letters, digits, ., _ and -")
	case slices.Contains(earlier, id):
		r.add(key, "an earlier key has the same id; choose another")
	}
}

func (r *report) secret(key string, secret Secret, earlier []Secret) {
	switch {
	case len(secret) < minSecret:
		r.add(key, "must be at least %d bytes long; `openssl rand -base64 48` makes one", minSecret)
	case slices.Contains(earlier, secret):
		r.add(key, "equals the secret of an earlier key, so the roles would be ambiguous; make a new secret")
	}
}
