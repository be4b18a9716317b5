package config

import (
	"encoding/base64"
	"math"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"

	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/webhooks"
)

// leastEntropy is how many bits a key must have, as far as its bytes tell. A random one of 32 bytes has about 150 by this measure.
const leastEntropy = 64

// entropy estimates the bits of a key by the distribution of bytes within its period.
func entropy(key []byte) float64 {
	unit := key[:period(key)]
	counts := map[byte]float64{}
	for _, b := range unit {
		counts[b]++
	}
	bits := 0.0
	for _, n := range counts {
		bits -= n * math.Log2(n/float64(len(unit)))
	}
	return bits
}

// period returns the length of the part that a key repeats, or the key's length if it repeats nothing.
func period(key []byte) int {
	for n := 1; n < len(key); n++ {
		repeats := true
		for i := n; i < len(key) && repeats; i++ {
			repeats = key[i] == key[i-n]
		}
		if repeats {
			return n
		}
	}
	return len(key)
}

// weak refuses keys that can be guessed. Another check refuses keys of the wrong form.
func (r *report) weak(c *Config) {
	refuse := func(key string, value []byte, remedy string) {
		if len(value) > 0 && entropy(value) < leastEntropy {
			r.add(key, "can be guessed, and live refuses such a secret: %s", remedy)
		}
	}
	for i, k := range c.EncryptionKeys {
		refuse(index("encryption_keys", i)+".key", k.Bytes(), "`openssl rand -base64 32` makes one")
	}
	for i, k := range c.Auth.HS256 {
		refuse(index("auth.hs256", i)+".secret", []byte(k.Secret), "`openssl rand -base64 48` makes one")
	}
	for i, e := range c.Endpoints {
		for j, s := range e.Secrets {
			encoded, _ := strings.CutPrefix(string(s), "whsec_")
			decoded, _ := base64.StdEncoding.DecodeString(encoded)
			refuse(index(index("endpoints", i)+".secrets", j), decoded, "`echo whsec_$(openssl rand -base64 32)` prints one")
		}
	}
}

// exposed refuses files with secrets that others on this machine may read.
func (r *report) exposed(c *Config) {
	files := [][2]string{{"tls.key_file", c.TLS.KeyFile}}
	for i, s := range c.Streams {
		files = append(files, [2]string{index("streams", i) + ".credentials", s.Credentials})
	}
	for _, f := range files {
		if othersRead(f[1]) {
			r.add(f[0], "can be read by every user of this machine, which live refuses: run chmod o-r")
		}
	}
	if r.file != "" && othersRead(r.file) && holdsSecrets(r.content) {
		r.add("", "the configuration contains secrets and can be read by every user of this machine, which live refuses: run chmod o-r, or write the secrets as ${NAME}")
	}
}

// othersRead reports whether a file that is there may be read by users beside its own and its group.
func othersRead(path string) bool {
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o004 != 0
}

// holdsSecrets reports whether a file has a secret in itself, rather than as the name of a variable.
func holdsSecrets(content []byte) bool {
	unseen := &report{}
	k := koanf.New(".")
	_ = k.Load(rawbytes.Provider(content), &parser{report: unseen, expand: func(_, text string) string {
		if reference.MatchString(text) {
			return ""
		}
		return text
	}})
	c := &Config{}
	decoder{unseen}.section(reflect.ValueOf(c).Elem(), k.Raw(), "")
	return hasSecret(reflect.ValueOf(c).Elem())
}

// hasSecret reports whether a value has a secret anywhere in it. An address with a password is a secret.
func hasSecret(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // a configuration has no others
	case reflect.String:
		u, err := url.Parse(v.String())
		if v.Type() != reflect.TypeFor[Secret]() || v.Len() == 0 || err == nil && u.Host != "" && u.User == nil {
			return false
		}
		return true
	case reflect.Struct:
		for _, field := range v.Fields() {
			if hasSecret(field) {
				return true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if hasSecret(v.Index(i)) {
				return true
			}
		}
	case reflect.Map: // the keys of an account that only some kinds have
		return slices.ContainsFunc(provider.Keys(), func(own webhooks.Key) bool {
			value := v.MapIndex(reflect.ValueOf(own.Name))
			return own.Secret && value.IsValid() && value.Len() > 0
		})
	}
	return false
}
