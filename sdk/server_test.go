package sdk_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/api/contract"
	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// TestServerCalls: the client of servers has a method for each call that the Go client's package api has.
func TestServerCalls(t *testing.T) {
	t.Parallel()
	d, err := contract.Load(api.Document)
	require.NoError(t, err)
	types, err := os.ReadFile("js/dist/server/client.d.ts")
	require.NoError(t, err)
	calls := 0
	for _, chapter := range []string{"orders", "attempts", "refunds", "disputes", "books", "events"} {
		for _, op := range d.Tagged(chapter) {
			name := op.ID
			if name == "streamAttempt" {
				name = "followAttempt" // by long polls
			}
			require.Regexp(t, `(?m)^    `+name+`\(`, string(types), op.ID)
			calls++
		}
	}
	require.Greater(t, calls, 25)
}

// delivery is a delivery for the verifier in TypeScript.
type delivery struct {
	Name    string            `json:"name"`
	Secrets []string          `json:"secrets"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"` // base64
	Now     int64             `json:"now"`  // milliseconds

	want string
}

// The results of a verification.
const (
	genuine, forged = "genuine", "forged"
	unusable        = "unusable" // the secrets, or what was signed
)

// verdict runs the verifier of the client of servers.
const verdict = `
import { readFileSync } from "node:fs";
const { parseEvent, NotGenuineError } = await import(process.argv[1]);
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(({ secrets, headers, body, now }) => {
  try {
    parseEvent(secrets, headers, Buffer.from(body, "base64"), { now });
    return "genuine";
  } catch (error) {
    return error instanceof NotGenuineError ? "forged" : "unusable";
  }
})));`

// TestServerVerifiesAsGoDoes: client.ParseEvent and the verifier in TypeScript agree, on deliveries of our own signer with all that may be wrong
// with them.
func TestServerVerifiesAsGoDoes(t *testing.T) {
	t.Parallel()
	var deliveries []delivery
	add := func(name string, secrets []string, h http.Header, body string) {
		d := delivery{Name: name, Secrets: secrets, Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString([]byte(body)), Now: time.Now().UnixMilli()}
		for name, values := range h {
			d.Headers[name] = values[0]
		}
		_, err := client.ParseEvent(secrets, h, []byte(body))
		switch {
		case err == nil:
			d.want = genuine
		case errors.Is(err, client.ErrNotGenuine):
			d.want = forged
		default:
			d.want = unusable
		}
		deliveries = append(deliveries, d)
	}
	const secret, retired = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	const body = `{"id":"evt_1","type":"order.paid","created_at":"2026-03-02T10:00:01Z","subject":"Größe","version":3,"data":{}}`
	now := time.Now()
	good := signedBy(t, secret, "evt_1", body, now)
	both := good.Clone()
	both.Set("Webhook-Signature", "v1a,AAAA v1,bm90IHRoaXM= v1 x,y "+good.Get("Webhook-Signature")+" v1,")
	for name, secrets := range map[string][]string{
		"one": {secret}, "two": {retired, secret}, "two, the other way": {secret, retired}, "another": {retired}, "none": {}, "an empty one": {""}, "an empty one first": {"", secret},
		"an empty one last": {secret, ""}, "a prefix": {"whsec_"}, "no base64": {"whsec_!"}, "no base64 last": {secret, "whsec_!"}, "no padding": {"whsec_AAAAA"}, "no prefix": {secret[6:]},
	} {
		add("secrets: "+name, secrets, good, body)
		add("secrets: "+name+", several signatures", secrets, both, body)
	}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		without := good.Clone()
		without.Del(name)
		add("without "+name, []string{secret}, without, body)
		for _, value := range []string{"", "x", "evt_2", strconv.FormatInt(now.Unix()+1, 10), "+" + strconv.FormatInt(now.Unix(), 10), "0" + strconv.FormatInt(now.Unix(), 10), "1e9", "0x10", "99999999999999999999", "v1", "v1,", "v2," + good.Get("Webhook-Signature")[3:], good.Get("Webhook-Signature") + "=", strings.ToLower(good.Get("Webhook-Signature"))} {
			with := good.Clone()
			with.Set(name, value)
			add(name+": "+value, []string{secret}, with, body)
		}
	}
	for _, off := range []time.Duration{-time.Hour, -400 * time.Second, -100 * time.Second, 100 * time.Second, 400 * time.Second, time.Hour} {
		add("off by "+off.String(), []string{secret}, signedBy(t, secret, "evt_1", body, now.Add(off)), body)
	}
	for name, other := range map[string]string{"changed": body + " ", "empty": ""} {
		add("a body that is "+name, []string{secret}, good, other)
	}
	for name, other := range map[string]string{"another's": strings.Replace(body, "evt_1", "evt_2", 1), "a list": "[]", "null": "null", "a text": `"evt_1"`, "half": "{", "without an id": "{}"} {
		add("a signed body that is "+name, []string{secret}, signedBy(t, secret, "evt_1", other, now), other)
	}
	agrees(t, deliveries)
	kinds := map[string]int{}
	for _, d := range deliveries {
		kinds[d.want]++
	}
	require.Greater(t, min(kinds[genuine], kinds[forged], kinds[unusable]), 7)
}

// signedBy returns the headers of a delivery, as our own signer makes them.
func signedBy(t *testing.T, secret, id, body string, at time.Time) http.Header {
	t.Helper()
	v, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	d := webhooks.Delivery{Header: http.Header{"Webhook-Id": {id}}, Body: []byte(body), ReceivedAt: at}
	require.NoError(t, v.Sign(&d))
	h := http.Header{}
	for name, values := range d.Header {
		h.Set(name, values[0])
	}
	return h
}

// agrees runs the verifier in TypeScript on deliveries.
func agrees(t *testing.T, deliveries []delivery) {
	t.Helper()
	node := newNode(t)
	module, err := filepath.Abs("js/dist/server.js")
	require.NoError(t, err)
	input, err := json.Marshal(deliveries)
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", verdict, "file://"+module)
	run.Stdin, run.Stderr = strings.NewReader(string(input)), t.Output()
	said, err := run.Output()
	require.NoError(t, err)
	var verdicts []string
	require.NoError(t, json.Unmarshal(said, &verdicts))
	require.Len(t, verdicts, len(deliveries))
	for i, d := range deliveries {
		require.Equal(t, d.want, verdicts[i], d.Name)
	}
}

// TestServerVerifiesVectors: the vectors of package webhooks/standard, signed by openssl and by the official library. Their bodies are no events of
// ours, so a genuine one is unusable.
func TestServerVerifiesVectors(t *testing.T) {
	t.Parallel()
	files := []string{"../webhooks/standard/testdata/vectors.json"}
	if path, err := published.Find(t, published.Vectors, "standardwebhooks.json"); err == nil {
		files = append(files, path)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var list struct {
			Vectors []struct {
				ID            string              `json:"id"`
				Secret        string              `json:"secret"`
				Headers       map[string][]string `json:"headers"`
				Body          string              `json:"body"`
				Now           int64               `json:"now"`
				ExpectedValid bool                `json:"expected_valid"`
			} `json:"vectors"`
		}
		require.NoError(t, json.Unmarshal(text, &list))
		var deliveries []delivery
		for _, v := range list.Vectors {
			if _, standard := v.Headers["webhook-id"]; !standard || strings.HasPrefix(v.Secret, "whpk_") {
				continue // our events have these headers alone, and signatures of v1
			}
			d := delivery{Name: v.ID, Secrets: []string{v.Secret}, Headers: map[string]string{}, Body: base64.StdEncoding.EncodeToString([]byte(v.Body)), Now: v.Now * 1000, want: forged}
			for name, values := range v.Headers {
				d.Headers[name] = values[0]
			}
			if v.ExpectedValid {
				d.want = unusable
			}
			deliveries = append(deliveries, d)
		}
		require.True(t, slices.ContainsFunc(deliveries, func(d delivery) bool { return d.want == unusable }))
		agrees(t, deliveries)
	}
}

// serverSamples are the README's samples of the client of servers, by the names of files.
func serverSamples(t *testing.T, readme []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for i, block := range regexp.MustCompile("(?s)```ts\n(.*?)```").FindAllSubmatch(readme, -1) {
		files["server"+strconv.Itoa(i)+".ts"] = block[1]
	}
	require.GreaterOrEqual(t, len(files), 4)
	return files
}
