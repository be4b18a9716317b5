package webhooks_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"flag"
	"maps"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// vector is one delivery with what must become of it, or one text with its
// signature.
type vector struct {
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

	RemoteIP  string   `json:"remote_ip"`
	AllowList []string `json:"allowlist"`
	CertPEM   string   `json:"cert_pem"`
	RootsPEM  string   `json:"roots_pem"`
	WebhookID string   `json:"webhook_id"`
	PublicKey string   `json:"public_key"`
	Hash      string   `json:"hash"`

	vectorText
	vectorChecksum
}

// TestVectors checks every published vector, genuine and forged ones, by each kind
// that its file is about. It fails if there is one that nothing has checked.
func TestVectors(t *testing.T) {
	t.Parallel()
	files := vectorFiles(t)
	counts := newTally(t, "vectors")
	for name, vectors := range files {
		counts.expect(name, len(vectors))
	}
	for name, vectors := range files {
		kinds := kindsOf(name)
		require.NotEmpty(t, kinds, "vectors of an unknown provider: %s", name)
		for _, kind := range kinds {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				for _, v := range vectors {
					t.Run(v.ID, func(t *testing.T) {
						t.Parallel()
						checkVector(t, kind, v)
						counts.add(name, v.ID)
					})
				}
			})
		}
	}
}

// vectorFiles returns the published vectors by the name of their provider.
func vectorFiles(t *testing.T) map[string][]vector {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(vectorsDir(t), "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := map[string][]vector{}
	for _, path := range paths {
		if filepath.Base(path) == "index.json" {
			continue
		}
		var file struct{ Vectors []vector }
		readJSON(t, path, &file)
		files[strings.TrimSuffix(filepath.Base(path), ".json")] = file.Vectors
	}
	return files
}

// kindsOf lists the kinds that vectors or samples of that name are for.
func kindsOf(name string) []string {
	return slices.DeleteFunc(webhooks.Kinds(), func(kind string) bool { return sharedName(kind) != name })
}

// tally counts what was checked of each provider and compares it, once everything
// has run, with what there is.
type tally struct {
	mu      sync.Mutex
	want    map[string]int
	checked map[string]map[string]bool
}

func newTally(t *testing.T, what string) *tally {
	t.Helper()
	c := &tally{want: map[string]int{}, checked: map[string]map[string]bool{}}
	t.Cleanup(func() { c.report(t, what) })
	return c
}

func (c *tally) expect(provider string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.want[provider], c.checked[provider] = n, map[string]bool{}
}

// add counts one id of a provider, once however often it is checked.
func (c *tally) add(provider, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checked[provider][id] = true
}

func (c *tally) report(t *testing.T, what string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	checked, want := 0, 0
	for _, provider := range slices.Sorted(maps.Keys(c.want)) {
		t.Logf("%s: %d of %d %s checked", provider, len(c.checked[provider]), c.want[provider], what)
		checked, want = checked+len(c.checked[provider]), want+c.want[provider]
	}
	t.Logf("total: %d of %d %s checked", checked, want, what)
	if picked := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String(); strings.Contains(picked, "/") {
		return // only a part was asked for
	}
	if checked != want {
		t.Errorf("%d of %d %s were not checked", want-checked, want, what) // to stop here would lose the report
	}
}

func checkVector(t *testing.T, kind string, v vector) {
	t.Helper()
	switch {
	case v.Scheme == "hmac-string":
		checkText(t, kind, v)
		return
	case v.CRCOverride != "":
		checkChecksum(t, v)
		return
	}
	verifier, err := webhooks.New(kind, v.config(t))
	if !v.ExpectedValid && (v.URL == "" || v.Secret+strings.Join(v.Secrets, "") == "") && err != nil {
		require.ErrorIs(t, err, webhooks.ErrConfig, "without what is signed with")
		return
	}
	require.NoError(t, err)
	if !v.ExpectedValid {
		err := refused(t, verifier, v.delivery(t))
		require.NotErrorIs(t, err, webhooks.ErrConfig)
		if v.Kind != "policy" {
			require.NotErrorIs(t, err, webhooks.ErrPayload, "what is forged is not read")
		}
		return
	}
	events, err := verifier.Verify(t.Context(), v.delivery(t))
	require.NoError(t, err)
	require.NotEmpty(t, events)
	for _, e := range events {
		requireSound(t, e)
	}
}

func (v vector) config(t *testing.T) webhooks.Config {
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

func (v vector) delivery(t *testing.T) webhooks.Delivery {
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
