package e2e_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ring is a list of keys that take turns: the newest signs, and the one before is still accepted. The first key is number 0.
type ring struct {
	newest int
	key    func(number int) string
}

// now returns the newest key.
func (r ring) now() string { return r.key(r.newest) }

// accepted returns the numbers of the keys that are accepted, the newest first.
func (r ring) accepted() []int {
	if r.newest == 0 {
		return []int{0}
	}
	return []int{r.newest, r.newest - 1}
}

func webhookKey(number int) string {
	if number == 0 {
		return sandboxSecret
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%020d", "rotated", number))
}

func keyOfTokens(number int) string {
	if number == 0 {
		return secret
	}
	return fmt.Sprintf("%s%d", secret, number)
}

// webhookSecrets is the account's setting, with the overlap of the manual.
func (p *proof) webhookSecrets() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, number := range p.webhookRing.accepted() {
		all = append(all, p.webhookRing.key(number))
	}
	return strings.Join(all, ", ")
}

// tokenKeys is the setting auth.hs256.
func (p *proof) tokenKeys() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, number := range p.accepted.accepted() {
		all = append(all, fmt.Sprintf("{id: shop-%d, secret: %s, roles: [customer, service]}", number, p.accepted.key(number)))
	}
	return strings.Join(all, ", ")
}

// tokenKey is the key that the shop signs tokens with.
func (p *proof) tokenKey() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return keyOfTokens(p.signs)
}

// webhookSecret is the newest of the account.
func (p *proof) webhookSecret() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.webhookRing.now()
}

// rotateWebhookSecret has all replicas read a new secret beside the one that the provider signs with, and drops the one before that. In
// the end the provider signs with the new secret.
func (p *proof) rotateWebhookSecret(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	p.mu.Lock()
	p.webhookRing.newest++
	p.mu.Unlock()
	p.hangUp(t)
	return func() {
		p.boxArgs[len(p.boxArgs)-1] = p.webhookSecret()
		p.box.kill()
		p.startBox()
	}
}

// hangUp has all replicas read their configuration.
func (p *proof) hangUp(t *testing.T) {
	t.Helper()
	for _, n := range p.nodes {
		n.configure(t)
		n.process.signal(syscall.SIGHUP)
	}
}

// rotateKeys restarts each replica with the next ring of encryption keys: first all learn the new key, then all use it.
func (p *proof) rotateKeys(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	if len(p.keys) == 1 {
		p.keys = []string{keyOne, keyTwo}
	} else {
		slices.Reverse(p.keys)
	}
	p.restartAll(t)
	return nil
}

// rotateTokenKey restarts each replica with a new key of the tokens beside the one that signs. Then the shop signs with the new key.
func (p *proof) rotateTokenKey(t *testing.T, _ int, _ *rand.Rand) func() {
	t.Helper()
	p.mu.Lock()
	p.accepted.newest++
	p.mu.Unlock()
	p.restartAll(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signs = p.accepted.newest
	return nil
}

// restartAll restarts one replica after the other with the configuration of now.
func (p *proof) restartAll(t *testing.T) {
	t.Helper()
	for i, n := range p.nodes {
		n.configure(t)
		p.restartReplica(t, i, nil)()
	}
}
