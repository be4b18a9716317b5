package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/setup/config"
)

func TestKeyRingMistakes(t *testing.T) {
	t.Parallel()
	const (
		key   = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
		other = "another secret of 32 bytes or more"
		shop  = "{id: shop, secret: " + secret + ", roles: [service]}"
	)
	for name, tc := range map[string]struct {
		yaml string
		want config.ValidationErrors
	}{
		"the first edition's": {"encryption_key: " + key, config.ValidationErrors{"encryption_key: no such key; did you mean encryption_keys?"}},
		"ids twice":           {"encryption_keys: [{id: k, key: " + key + "}, {id: k, key: " + encryptionKey + "}]", config.ValidationErrors{"encryption_keys[1].id: an earlier key has the same id; choose another"}},
		"keys twice":          {"encryption_keys: [{id: k, key: " + key + "}, {id: l, key: " + key[:43] + "}]", config.ValidationErrors{"encryption_keys[1].key: equals an earlier key; make a new key, or remove this one"}},
		"no id and no key":    {"encryption_keys: [{}]", config.ValidationErrors{"encryption_keys[0].id: must be 1 to 32 letters, digits, ., _ and -", "encryption_keys[0].key: must be the base64 of 32 bytes; `openssl rand -base64 32` makes one"}},
		"a long id":           {"encryption_keys: [{id: " + secret + "x, key: " + key + "}]", config.ValidationErrors{"encryption_keys[0].id: must be 1 to 32 letters, digits, ., _ and -"}},
		"tokens, ids twice":   {"auth: {hs256: [" + shop + ", {id: shop, secret: " + other + ", roles: [support]}]}", config.ValidationErrors{"auth.hs256[1].id: an earlier key has the same id; choose another"}},
		"tokens, same secret": {"auth: {hs256: [" + shop + ", {id: desk, secret: " + secret + ", roles: [support]}]}", config.ValidationErrors{"auth.hs256[1].secret: equals the secret of an earlier key, so the roles would be ambiguous; make a new secret"}},
		"the short one, too":  {"auth: {hs256: [" + shop + "], hs256_secret: " + secret + "}", config.ValidationErrors{"auth.hs256_secret: equals the secret of an earlier key, so the roles would be ambiguous; make a new secret"}},
		"tokens, all wrong": {"auth: {hs256: [{secret: short, roles: [root, service]}, {id: b, secret: " + other + "}]}", config.ValidationErrors{
			"auth.hs256[0].id: must be 1 to 32 letters, digits, ., _ and -",
			"auth.hs256[0].secret: must be at least 32 bytes long; `openssl rand -base64 48` makes one",
			"auth.hs256[0].roles[0]: must be one of customer, service, support, admin",
			"auth.hs256[1].roles: is missing: list the allowed roles of tokens with this key",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Read(write(t, tc.yaml), nil, nil)
			require.Equal(t, tc.want, err)
		})
	}
}
