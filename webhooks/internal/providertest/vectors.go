package providertest

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
)

// Vector is one delivery with its expected result, or one text with its signature.
type Vector struct {
	ID            string              `json:"id"`
	Kind          string              `json:"kind"`
	Scheme        string              `json:"scheme"`
	Method        string              `json:"method"`
	URL           string              `json:"url"`
	Topic         string              `json:"topic"`
	Headers       map[string][]string `json:"headers"`
	Body          string              `json:"body"`
	BodyBase64    string              `json:"body_base64"`
	Secret        string              `json:"secret"`
	Secrets       []string            `json:"secrets"`
	Now           int64               `json:"now"`
	ToleranceS    int                 `json:"tolerance_s"`
	ExpectedValid bool                `json:"expected_valid"`

	RemoteIP   string   `json:"remote_ip"`
	AllowList  []string `json:"allowlist"`
	CertPEM    string   `json:"cert_pem"`
	RootsPEM   string   `json:"roots_pem"`
	WebhookID  string   `json:"webhook_id"`
	PublicKey  string   `json:"public_key"`
	PrivateKey string   `json:"private_key"`
	Hash       string   `json:"hash"`

	// Of a text that is no delivery: a challenge, the form of a payment, a return of the browser.
	Algo           string `json:"algo"`
	KeyEncoding    string `json:"key_encoding"`
	Out            string `json:"out"`
	SignedString   string `json:"signed_string"`
	ExpectedOutput string `json:"expected_output"`

	// CRCOverride of PayPal's replaces the body's checksum in the signed text of the vector. No real delivery can have it.
	BodyCRC32   *uint32 `json:"body_crc32"`
	CRCOverride string  `json:"crc_override"`
}

// Special checks a vector that is no delivery, and reports whether it was one.
type Special func(t *testing.T, v Vector) bool

// Vectors checks every vector of a provider, genuine and forged ones: the published ones that go by name, where they
// are at hand, and those in testdata, which scripts/vectors.mjs made with the program openssl and held against the
// provider's official library.
func Vectors[V webhooks.Verifier](t *testing.T, name string, construct func(webhooks.Config) (V, error), special ...Special) {
	t.Helper()
	for of, vectors := range map[string]func(t *testing.T) []Vector{
		"published": func(t *testing.T) []Vector { t.Helper(); return Published(t, name) }, "own": own,
	} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			for _, v := range vectors(t) {
				t.Run(v.ID, func(t *testing.T) {
					t.Parallel()
					for _, check := range special {
						if check(t, v) {
							return
						}
					}
					checkVector(t, construct, v)
				})
			}
		})
	}
}

// Published returns the published vectors of a provider. It skips the test where they are not at hand.
func Published(t *testing.T, name string) []Vector {
	t.Helper()
	return readVectors(t, published.Path(t, published.Vectors, name+".json"))
}

// own returns the vectors in testdata. Package all tests that each signed kind has some.
func own(t *testing.T) []Vector {
	t.Helper()
	path := filepath.Join("testdata", "vectors.json")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return readVectors(t, path)
}

func readVectors(t *testing.T, path string) []Vector {
	t.Helper()
	var file struct{ Vectors []Vector }
	readJSON(t, path, &file)
	require.NotEmpty(t, file.Vectors, path)
	return file.Vectors
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path) //nolint:gosec // vectors and samples of the tests
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, v), path)
}

func checkVector[V webhooks.Verifier](t *testing.T, construct func(webhooks.Config) (V, error), v Vector) {
	t.Helper()
	verifier, err := construct(v.Config(t))
	if !v.ExpectedValid && (v.URL == "" || v.Secret+strings.Join(v.Secrets, "") == "") && err != nil {
		require.ErrorIs(t, err, webhooks.ErrConfig, "without what is signed with")
		return
	}
	require.NoError(t, err)
	if !v.ExpectedValid {
		err := Refused(t, verifier, v.Delivery(t))
		require.NotErrorIs(t, err, webhooks.ErrConfig)
		if v.Kind != "policy" {
			require.NotErrorIs(t, err, webhooks.ErrPayload, "what is forged is not read")
		}
		return
	}
	events, err := verifier.Verify(t.Context(), v.Delivery(t))
	require.NoError(t, err)
	require.NotEmpty(t, events)
	for _, e := range events {
		RequireSound(t, e)
	}
}

// Config is the configuration under which the vector holds.
func (v Vector) Config(t *testing.T) webhooks.Config {
	t.Helper()
	c := webhooks.Config{
		Secrets: v.Secrets, PublicURL: v.URL, Tolerance: time.Duration(v.ToleranceS) * time.Second,
		Params:      map[string]string{"webhook_id": v.WebhookID, "public_key": v.PublicKey, "hash": v.Hash},
		Certificate: func(context.Context, string) ([]byte, error) { return []byte(v.CertPEM), nil },
	}
	if v.Secret != "" {
		c.Secrets = []string{v.Secret}
	}
	if v.CertPEM != "" {
		c.Tolerance = -1 // they don't say when they were received
		c.Roots = x509.NewCertPool()
		require.True(t, c.Roots.AppendCertsFromPEM(v.issuers(t)))
	}
	for _, text := range v.AllowList {
		prefix, err := netip.ParsePrefix(text)
		require.NoError(t, err)
		c.AllowedIPs = append(c.AllowedIPs, prefix)
	}
	return c
}

// issuers returns the roots of a vector's certificate.
func (v Vector) issuers(t *testing.T) []byte {
	t.Helper()
	if v.RootsPEM != "" {
		return []byte(v.RootsPEM)
	}
	issuer, err := os.ReadFile(published.Path(t, published.Vectors, "certs/DigiCertSHA2ExtendedValidationServerCA.pem"))
	require.NoError(t, err)
	return issuer
}

// Delivery is the vector as it arrives.
func (v Vector) Delivery(t *testing.T) webhooks.Delivery {
	t.Helper()
	d := webhooks.Delivery{
		Method: v.Method, URL: v.URL, Topic: v.Topic, Header: http.Header(v.Headers),
		Body: []byte(v.Body), ReceivedAt: time.Unix(v.Now, 0),
	}
	if v.BodyBase64 != "" {
		body, err := base64.StdEncoding.DecodeString(v.BodyBase64)
		require.NoError(t, err)
		d.Body = body
	}
	if v.RemoteIP != "" {
		d.RemoteAddr = netip.MustParseAddr(v.RemoteIP)
	}
	return d
}

// Texts checks the text vectors: sum returns the signature of a vector's text. scheme is the algorithm and the form of the
// key.
func Texts(scheme string, sum func(t *testing.T, v Vector) []byte) Special {
	return func(t *testing.T, v Vector) bool {
		t.Helper()
		if v.Scheme != "hmac-string" {
			return false
		}
		require.Equal(t, scheme, v.Algo+" "+v.KeyEncoding)
		require.True(t, v.ExpectedValid)
		got := sum(t, v)
		switch v.Out {
		case "base64":
			require.Equal(t, v.ExpectedOutput, base64.StdEncoding.EncodeToString(got))
		case "hex":
			require.Equal(t, v.ExpectedOutput, hex.EncodeToString(got))
		case "hex-ci":
			require.Equal(t, strings.ToLower(v.ExpectedOutput), hex.EncodeToString(got))
		case "hex-upper-last3":
			require.Equal(t, v.ExpectedOutput, strings.ToUpper(hex.EncodeToString(got[len(got)-3:])))
		default:
			require.Fail(t, "an unknown form of output", v.Out)
		}
		return true
	}
}

// HeaderSum signs a vector's text as a body, and returns the signature in the header.
func HeaderSum[V VerifySigner](construct func(webhooks.Config) (V, error), header string, decode func(string) ([]byte, error)) func(*testing.T, Vector) []byte {
	return func(t *testing.T, v Vector) []byte {
		t.Helper()
		d := Signed(t, Made(t, construct, v.Config(t)), v.SignedString)
		require.Equal(t, v.SignedString, string(d.Body))
		sum, err := decode(d.Header.Get(header))
		require.NoError(t, err)
		return sum
	}
}
