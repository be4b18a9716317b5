package e2e_test

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	keyOne = "{id: k1, key: b25lb25lb25lb25lb25lb25lb25lb25lb25lb25lb25=}"
	keyTwo = "{id: k2, key: dHdvdHdvdHdvdHdvdHdvdHdvdHdvdHdvdHdvdHdvdHc=}"
)

// TestEncryptionKeysRotation: a pay whose call was lost is sent again by a process that encrypts with another key, and a polling
// client goes on polling.
func TestEncryptionKeysRotation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.serve("PAYLATCH_ENCRYPTION_KEYS=[" + keyOne + "]")
	u, letGo := neverAtTheProvider(t, r, s)
	polled := client{base: s.base, token: token("u1", "customer")}.pay(t.Context(), s.customer().order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	s.kill()
	letGo()
	r.leasesEnd(t)
	require.Equal(t, 1, one[int](t, r, `SELECT count(*) FROM sealed_requests
		WHERE substring(sealed FROM 3 FOR get_byte(sealed, 1)) = 'k1'::bytea`), "it bears the id of its key")

	s = r.serve("PAYLATCH_ENCRYPTION_KEYS=[" + keyTwo + ", " + keyOne + "]")
	a := s.customer().pay(t.Context(), u.order, u.key, "tok_success").attempt(t, http.StatusCreated)
	a = s.customer().settled(t, a.ID)
	require.Equal(t, "succeeded", a.Status)
	r.charged(t, a.ID, 1999)
	s.as(polled.StatusToken).read(t.Context(), polled.ID).is(t, http.StatusOK)
	fresh := s.customer().pay(t.Context(), s.customer().order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	code, _ := s.stop(t, syscall.SIGTERM)
	require.Zero(t, code)

	s = r.serve("PAYLATCH_ENCRYPTION_KEYS=[" + keyTwo + "]")
	s.as(polled.StatusToken).read(t.Context(), polled.ID).is(t, http.StatusUnauthorized)
	s.as(fresh.StatusToken).read(t.Context(), fresh.ID).is(t, http.StatusOK)
}

// TestHS256Rotation: tokens of the old and of the new secret are taken, each with the
// roles that its secret may give.
func TestHS256Rotation(t *testing.T) {
	t.Parallel()
	const next, tool = "the next secret of the shop, 32 bytes or more", "the secret of the support desk's tool, as long"
	s := newRig(t).serve("PAYLATCH_AUTH_HS256=[{id: next, secret: '" + next + "', roles: [customer]}, {id: tool, secret: \"" + tool + "\", roles: [support]}]")
	search := func(secret, role string) answer {
		return s.as(jwt("HS256", claims("sam", time.Hour, role), secret)).send(t.Context(), http.MethodGet, "/v1/support/search?q=nothing", "")
	}
	search(secret, "support").is(t, http.StatusOK)
	search(tool, "support").is(t, http.StatusOK)
	search(tool, "admin").problem(t, http.StatusForbidden, "forbidden")
	search(next, "support").problem(t, http.StatusForbidden, "forbidden")
	search("a secret that is in no ring of this service", "support").problem(t, http.StatusUnauthorized, "unauthenticated")
	require.Equal(t, http.StatusNotFound, s.as(jwt("HS256", claims("u1", time.Hour, "customer"), next)).
		send(t.Context(), http.MethodGet, "/nowhere", "").status)
}
