package api_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	api "github.com/paylatch/paylatch/api"
	apipkg "github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

func samplesDocument(t *testing.T) *contract.Document {
	t.Helper()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	return d
}

// each returns the samples of a language by the calls' ids.
func each(t *testing.T, lang string) map[string]string {
	t.Helper()
	d, all := samplesDocument(t), map[string]string{}
	for _, op := range d.Operations() {
		of := apipkg.SamplesOf(d, op)
		require.Equal(t, op.Tags[0] == "webhooks", len(of) == 0, op.ID)
		for _, s := range of {
			if s.Lang == lang {
				all[op.ID] = s.Text
			}
		}
	}
	require.Greater(t, len(all), 40)
	return all
}

func TestOf(t *testing.T) {
	t.Parallel()
	curl := each(t, apipkg.Curl)
	require.Equal(t, `curl -sS "$API/v1/orders" \
  -H "Authorization: Bearer $TOKEN" \
  -H 'Idempotency-Key: 6f9f1c1e-4b0e-4a57-9d53-0d8f3a2b7c11' \
  -H 'On-Behalf-Of: u1' \
  -H 'Content-Type: application/json' \
  -d '{"order_id":"A-1","amount":1999,"currency":"EUR","description":"Two tickets","metadata":{"cart":"77"}}'`, curl["createOrder"])
	require.Equal(t, `curl -sS -N "$API/v1/payment-attempts/01980d3e-7f2a-7cc1-9d2b-3f0e5a6b7c8d/stream" \
  -H "Authorization: Bearer $TOKEN"`, curl["streamAttempt"])
	require.Contains(t, curl["testEndpoint"], `curl -sS -X POST "$API/v1/endpoints/shop/test"`)
	require.Contains(t, curl["supportSearch"], `"$API/v1/support/search?q=ch_31"`)
	require.Contains(t, curl["supportSearch"], "$STAFF")
	require.Equal(t, `curl -sS "$API/healthz"`, curl["healthz"])
	for id, text := range curl {
		require.NotContains(t, text, "{"+"order_id}", id)
		require.NotRegexp(t, `/(/|"|\?)|: '`, strings.SplitN(text, "\n", 2)[0][len("curl "):], "%s: a parameter has no example", id)
	}
}

// Each example of a body is one that the contract takes.
func TestExamplesFitTheContract(t *testing.T) {
	t.Parallel()
	d, checked := samplesDocument(t), 0
	for _, op := range d.Operations() {
		if op.JSON() == nil {
			continue
		}
		media, _ := op.RequestBody.Content.Find("application/json")
		text := media.JSON(d)
		require.Equal(t, op.RequestBody.Required, op.RequestBody.Required && text != "", "%s needs a body, and has no example of one", op.ID)
		if text == "" {
			continue
		}
		value, err := contract.ParseJSON([]byte(text))
		require.NoError(t, err, op.ID)
		found := d.Check(op.JSON(), value)
		require.Empty(t, found.Invalid, op.ID)
		require.Empty(t, found.Unknown, op.ID)
		checked++
	}
	require.Greater(t, checked, 10)
}

func TestResponse(t *testing.T) {
	t.Parallel()
	d, shown := samplesDocument(t), 0
	for _, op := range d.Operations() {
		if text := apipkg.SampleResponse(d, op); text != "" {
			require.True(t, json.Valid([]byte(text)), op.ID)
			shown++
		}
	}
	require.Greater(t, shown, 15)
}

// TestGoCompiles builds one program of all samples.
func TestGoCompiles(t *testing.T) {
	t.Parallel()
	text := strings.Builder{}
	text.WriteString("package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"io\"\n\t\"net/http\"\n\t\"os\"\n\t\"strings\"\n\n" +
		"\t\"github.com/paylatch/paylatch/client\"\n\t\"github.com/paylatch/paylatch/client/api\"\n)\n\nfunc main() {}\n")
	for id, sample := range each(t, apipkg.Go) {
		text.WriteString("\nfunc " + id + "_(ctx context.Context, c *client.Client, base, token string) error {\n" + sample + "\n}\n")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, file)
	build.Dir = "../.."
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

func TestNodeParses(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node to parse the samples with")
	}
	text := strings.Builder{}
	for id, sample := range each(t, apipkg.Node) {
		text.WriteString("async function " + id + "(base, token) {\n" + sample + "\n}\n")
	}
	file := filepath.Join(t.TempDir(), "all.mjs")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	said, err := exec.CommandContext(t.Context(), "node", "--check", file).CombinedOutput()
	require.NoError(t, err, "%s", said)
}
