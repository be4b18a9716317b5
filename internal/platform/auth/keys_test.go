package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/auth"
)

// key is one entry of a JWK set.
type key struct {
	kid    string
	public any
	use    jwkset.USE
}

func jwks(t *testing.T, entries ...key) string {
	t.Helper()
	var set jwkset.JWKSMarshal
	for _, k := range entries {
		jwk, err := jwkset.NewJWKFromKey(k.public, jwkset.JWKOptions{
			Metadata: jwkset.JWKMetadataOptions{KID: k.kid, USE: k.use},
			Marshal:  jwkset.JWKMarshalOptions{Private: true},
		})
		require.NoError(t, err)
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	b, err := json.Marshal(set)
	require.NoError(t, err)
	return string(b)
}

// source serves a JWK set that can change, or fail when its body is empty.
type source struct {
	url     string
	fetched atomic.Int32
	mu      sync.Mutex
	body    string
}

func newSource(t *testing.T, entries ...key) *source {
	t.Helper()
	s := &source{body: jwks(t, entries...)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *source) set(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body = body
}

func (s *source) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched.Add(1)
	if s.body == "" {
		w.WriteHeader(http.StatusBadGateway)
	}
	_, _ = io.WriteString(w, s.body)
}

func TestAuthenticateByJWKS(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	source := newSource(t, key{"r", k.rsa.Public(), jwkset.UseSig}, key{"e", k.ec.Public(), ""}, key{"d", k.ed.Public(), ""})
	a := newAuth(t, auth.Options{HS256: withSecret(secret), JWKSURL: source.url})
	for name, token := range map[string]string{
		"RS256":        sign(t, jwt.SigningMethodRS256, "r", k.rsa, claims(nil)),
		"ES256":        sign(t, jwt.SigningMethodES256, "e", k.ec, claims(nil)),
		"EdDSA":        sign(t, jwt.SigningMethodEdDSA, "d", k.ed, claims(nil)),
		"RS256 no kid": sign(t, jwt.SigningMethodRS256, "", k.rsa, claims(nil)),
		"HS256":        hs256(t, nil),
	} {
		_, err := a.Authenticate(t.Context(), token, "")
		require.NoError(t, err, name)
	}
	require.EqualValues(t, 1, source.fetched.Load())
}

func TestUnusableKeysAreLeftOut(t *testing.T) {
	t.Parallel()
	k, good := newKeyring(t), newKeyring(t)
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	body := jwks(t, key{"enc", k.rsa.Public(), jwkset.UseEnc}, key{"short", short.Public(), ""}, key{"good", good.ec.Public(), ""})
	body = strings.Replace(body, `{"keys":[`, `{"keys":[7,{"kty":"EC"},{"kty":"new"},{"kty":"RSA","kid":1},`, 1)
	source := newSource(t)
	source.set(body)
	a := newAuth(t, auth.Options{JWKSURL: source.url})
	_, err = a.Authenticate(t.Context(), sign(t, jwt.SigningMethodES256, "good", good.ec, claims(nil)), "")
	require.NoError(t, err)
	_, err = a.Authenticate(t.Context(), sign(t, jwt.SigningMethodRS256, "short", short, claims(nil)), "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated)
	for _, kid := range []string{"", "enc"} {
		_, err = a.Authenticate(t.Context(), sign(t, jwt.SigningMethodRS256, kid, k.rsa, claims(nil)), "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated)
	}
}

func TestRotationWhileRunning(t *testing.T) {
	t.Parallel()
	before, after := newKeyring(t), newKeyring(t)
	source := newSource(t, key{"one", before.ec.Public(), ""})
	a := newAuth(t, auth.Options{JWKSURL: source.url})
	old := sign(t, jwt.SigningMethodES256, "one", before.ec, claims(nil))
	_, err := a.Authenticate(t.Context(), old, "")
	require.NoError(t, err)

	source.set(jwks(t, key{"two", after.ec.Public(), ""}))
	fresh := sign(t, jwt.SigningMethodES256, "two", after.ec, claims(nil))
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := a.Authenticate(t.Context(), fresh, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 2, source.fetched.Load(), "twenty tokens share one fetch")
	_, err = a.Authenticate(t.Context(), old, "")
	require.ErrorIs(t, err, auth.ErrUnauthenticated, "the old key was withdrawn")
}

func TestForgedKeysCauseFewFetches(t *testing.T) {
	t.Parallel()
	k, other := newKeyring(t), newKeyring(t)
	source := newSource(t, key{"one", k.ec.Public(), ""})
	var now atomic.Int64
	a := newAuth(t, auth.Options{JWKSURL: source.url, Now: func() time.Time { return start.Add(time.Duration(now.Load())) }})
	forged := sign(t, jwt.SigningMethodES256, "forged", other.ec, claims(nil))
	for range 100 {
		_, err := a.Authenticate(t.Context(), forged, "")
		require.ErrorIs(t, err, auth.ErrUnauthenticated)
	}
	require.EqualValues(t, 3, source.fetched.Load())

	source.set(jwks(t, key{"two", other.ec.Public(), ""}))
	now.Add(int64(10 * time.Second))
	_, err := a.Authenticate(t.Context(), sign(t, jwt.SigningMethodES256, "two", other.ec, claims(nil)), "")
	require.NoError(t, err, "ten seconds later a new key is found all the same")
}

func TestSourceNeverAnswered(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	source := newSource(t)
	source.set("")
	var told atomic.Int32
	a := newAuth(t, auth.Options{HS256: withSecret(secret), JWKSURL: source.url, Log: func(error) { told.Add(1) }})
	token := sign(t, jwt.SigningMethodES256, "one", k.ec, claims(nil))
	for _, body := range []string{"", "no json", `{"keys":[]}`, strings.Repeat(" ", 2<<20)} {
		source.set(body)
		_, err := a.Authenticate(t.Context(), token, "")
		require.ErrorIs(t, err, auth.ErrUnavailable)
		require.NotErrorIs(t, err, auth.ErrUnauthenticated)
	}
	require.EqualValues(t, 3, told.Load())
	_, err := a.Authenticate(t.Context(), hs256(t, nil), "")
	require.NoError(t, err, "the other way is not touched")
}

// transport calls the source without a network, so that the time can be the bubble's.
type transport struct{ *source }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestRunOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	k, next := newKeyring(t), newKeyring(t)
	one, two := jwks(t, key{"one", k.ec.Public(), ""}), jwks(t, key{"two", next.ec.Public(), ""})
	synctest.Test(t, func(t *testing.T) {
		source := &source{}
		client := &http.Client{Transport: transport{source}}
		a := newAuth(t, auth.Options{JWKSURL: "https://id.example/keys", Client: client, Now: time.Now})
		done := make(chan error, 1)
		go func() { done <- a.Run(t.Context()) }()
		token := func(kid string, k keyring) string {
			return sign(t, jwt.SigningMethodES256, kid, k.ec, claims(map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()}))
		}
		check := func(kid string, k keyring) error {
			synctest.Wait()
			_, err := a.Authenticate(t.Context(), token(kid, k), "")
			return err
		}

		time.Sleep(time.Minute)
		require.Greater(t, source.fetched.Load(), int32(4), "nobody has to ask for it")
		require.ErrorIs(t, check("one", k), auth.ErrUnavailable)
		require.Less(t, source.fetched.Load(), int32(12), "it backs off")

		source.set(one)
		time.Sleep(31 * time.Second)
		require.NoError(t, check("one", k), "the source is back")

		source.set("")
		time.Sleep(time.Hour)
		require.NoError(t, check("one", k), "an hour without the source")
		require.ErrorIs(t, check("two", next), auth.ErrUnavailable, "it may be good; nobody can tell now")

		source.set(two)
		time.Sleep(5 * time.Minute)
		require.NoError(t, check("two", next))
		require.ErrorIs(t, check("one", k), auth.ErrUnauthenticated)
	})
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]auth.Options{
		"without a key set": {HS256: withSecret(secret)},
		"with one": {
			JWKSURL: "https://id.example/keys", Now: time.Now,
			Client: &http.Client{Transport: transport{&source{body: jwks(t, key{"one", newKeyring(t).ec.Public(), ""})}}},
		},
		"with one that does not answer": {
			JWKSURL: "https://id.example/keys", Now: time.Now, Client: &http.Client{Transport: transport{&source{}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAuth(t, o)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- a.Run(ctx) }()
				time.Sleep(time.Hour)
				require.Empty(t, done, "not before it is told to")
				cancel()
				require.NoError(t, <-done)
			})
		})
	}
}

func TestTokenForUsByKeysOverHTTP(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	plain := newSource(t, key{"one", k.ec.Public(), ""})
	var to atomic.Value
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			http.Redirect(w, r, to.Load().(string), http.StatusFound)
			return
		}
		plain.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	token := sign(t, jwt.SigningMethodES256, "one", k.ec, claims(nil))
	for address, is := range map[string]error{server.URL + "/elsewhere": nil, plain.url: auth.ErrUnavailable, server.URL + "/keys": auth.ErrUnavailable} {
		to.Store(address)
		a := newAuth(t, auth.Options{JWKSURL: server.URL + "/keys", Client: server.Client()})
		_, err := a.Authenticate(t.Context(), token, "")
		require.ErrorIs(t, err, is, address)
	}
}
