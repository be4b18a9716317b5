package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

func redacted(t require.TestingT, body string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(redact.Body([]byte(body))))
	return strings.TrimSpace(out.String())
}

func TestBody(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"id":"ch_1","amount":1999,"currency":"eur","paid":true,"error":null}`:         `{"amount":1999,"currency":"eur","error":null,"id":"ch_1","paid":true}`,
		`{"created":1767225618,"status":"succeeded","type":"charge.succeeded"}`:         `{"created":1767225618,"status":"succeeded","type":"charge.succeeded"}`,
		`{"amount":{"value":"2.51","currency_code":"USD"},"value":"2.51"}`:              `{"amount":{"currency_code":"USD","value":"2.51"},"value":"[hidden]"}`,
		`{"card":{"last4":"4242","brand":"visa","exp_year":2030,"fingerprint":"Xt5E"}}`: `{"card":{"brand":"visa","exp_year":"[hidden]","fingerprint":"[hidden]","last4":"4242"}}`,
		`{"Pan":"430000******0777","pan":"4111111111111111","maskedPan":"x"}`:           `{"Pan":"…0777","maskedPan":"[hidden]","pan":"…1111"}`,
		`{"id":"4111111111111111","payment_id":"DE89370400440532013000"}`:               `{"id":"[hidden]","payment_id":"[hidden]"}`,
		`{"id":"501800000009","payment_id":"5018000000000000007"}`:                      `{"id":"[hidden]","payment_id":"[hidden]"}`, // the shortest and the longest
		`{"order_id":"+420777123456","reference":"79991234567"}`:                        `{"order_id":"[hidden]","reference":"[hidden]"}`,
		`{"customer":{"id":"cus_1"},"metadata":{"id":"x1"},"email":"a@b.example"}`:      `{"customer":"[hidden]","email":"[hidden]","metadata":"[hidden]"}`,
		`{"a b":1,"john@example.com":"x","4111111111111111":1}`:                         `{"[hidden]":"[hidden]"}`,
		`{"data":[{"id":"tr_1"},"x"]}`:                                                  `{"data":[{"id":"tr_1"},"[hidden]"]}`,
		`[]`:                                                                            `[]`,
		`{"id":"ch_1"} trailing`:                                                        `"[hidden]"`,
		`{"id":`:                                                                        `"[hidden]"`,
		`"just text"`:                                                                   `"[hidden]"`,
		"\xff\xfe":                                                                      `"[hidden]"`,
		``:                                                                              `null`,
		`id=tr_7UhSN1zuXS`:                                                              `{"id":"tr_7UhSN1zuXS"}`,
		`OutSum=100.00&InvId=58&SignatureValue=6E75&Shp_email=a%40b.example&id=a1&id=b2`:                         `{"InvId":"58","OutSum":"100.00","Shp_email":"[hidden]","SignatureValue":"[hidden]","id":["a1","b2"]}`,
		`<n><kind>paid</kind><customer><id>c1</id></customer><amount type="x">1.00</amount><id nil="true"/></n>`: `{"n":{"amount":"1.00","customer":"[hidden]","id":"","kind":"paid"}}`,
		`<!DOCTYPE n [<!ENTITY e "x1">]><n><id>&e;</id></n>`:                                                     `"[hidden]"`,
		`<n><id>x1</id>`: `"[hidden]"`,
		`{"id":"order-4111111111111111","order_id":"A_378282246310005","amount":4222222222222}`:                                       `{"amount":"[hidden]","id":"[hidden]","order_id":"[hidden]"}`,
		"bt_signature=s&bt_payload=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("<n><id>t1</id><name>J</name></n>"))): `{"bt_payload":{"n":{"id":"t1","name":"[hidden]"}},"bt_signature":"[hidden]"}`,
		strings.Repeat(`{"data":`, 40) + `{"id":"x1"}` + strings.Repeat(`}`, 40):                                                      strings.Repeat(`{"data":`, 33) + `"[hidden]"` + strings.Repeat(`}`, 33),
	} {
		require.Equal(t, want, redacted(t, body), body)
	}
}

// markers are texts of every sort that a person must not see without a reason.
var markers = []string{
	"Zoë Marker", "O'Marker, Jr.", "marker@example.com", "+420 777 123 456", "+420777123456", "192.0.2.77", "2001:db8::77",
	"4111 1111 1111 1111", "4111111111111111", "4111-1111-1111-1111", "DE89370400440532013000", "12 Marker Street", "Маркер Иванов",
	"https://marker.example/u/77", "<b>marker</b>", "marker 77", "1980/02/29",
}

// No marker is shown, at any place in any message of a provider. A text in the form of an id is shown only under known names.
func TestBodyOfSamples(t *testing.T) {
	t.Parallel()
	bodies := payloads(t)
	require.Greater(t, len(bodies), 100)
	for name, body := range bodies {
		for _, marker := range markers {
			marked := filled(t, body, marker)
			if marked == "" {
				continue
			}
			got := redacted(t, marked)
			encoded, err := json.Marshal(marker)
			require.NoError(t, err)
			require.NotContains(t, got, strings.Trim(string(encoded), `"`), "%s: %s", name, marked)
			require.NotContains(t, got, marker, name)
		}
	}
}

// Also alone under any name at all, and beside anything.
func TestBodyUnderAnyName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		marker := rapid.SampledFrom(markers).Draw(t, "marker")
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"id", "amount", "status", "created", "currency", "last4", "pan", "value", "reference", "reason", "order_id", "type", "card",
		})).Draw(t, "name")
		members := map[string]any{name: marker, "currency": rapid.SampledFrom([]any{"EUR", nil, marker}).Draw(t, "currency")}
		var body any = members
		for range rapid.IntRange(0, 5).Draw(t, "depth") {
			body = map[string]any{rapid.SampledFrom([]string{"data", "id", "list"}).Draw(t, "around"): []any{body}}
		}
		raw, err := json.Marshal(body)
		require.NoError(t, err)
		require.NotContains(t, redacted(t, string(raw)), marker)
		require.NotContains(t, redacted(t, url.Values{name: {marker}}.Encode()), marker)
	})
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"id":"ch_1","email":"a@b"}`, `a=b&c=%zz`, `<a><b>c</b></a>`, `[[[[`, "\ufeff{}", `{"a":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		raw, err := json.Marshal(redact.Body(body))
		require.NoError(t, err)
		require.LessOrEqual(t, len(raw), 64+20*len(body))
	})
}

// payloads are the published samples of all providers, by name.
func payloads(t *testing.T) map[string]string {
	t.Helper()
	dir, bodies := published.Path(t, published.Payloads, ""), map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "SOURCES.json" {
			return err
		}
		raw, err := os.ReadFile(path)
		bodies[filepath.Join(filepath.Base(filepath.Dir(path)), e.Name())] = string(raw)
		return err
	}))
	return bodies
}

// filled is a body with every value replaced by a marker; empty if it is of no
// form that can be filled.
func filled(t *testing.T, body, marker string) string {
	t.Helper()
	var tree any
	switch text := strings.TrimSpace(body); {
	case json.Unmarshal([]byte(text), &tree) == nil:
		raw, err := json.Marshal(replaced(tree, marker))
		require.NoError(t, err)
		return string(raw)
	case strings.HasPrefix(text, "<"):
		var escaped bytes.Buffer
		require.NoError(t, xml.EscapeText(&escaped, []byte(marker)))
		return regexp.MustCompile(`>[^<>]+<`).ReplaceAllString(text, ">"+strings.ReplaceAll(escaped.String(), "$", "$$")+"<")
	default:
		fields, err := url.ParseQuery(text)
		if err != nil || !strings.Contains(text, "=") {
			return ""
		}
		for name := range fields {
			fields.Set(name, marker)
		}
		return fields.Encode()
	}
}

func replaced(v any, marker string) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = replaced(v[name], marker)
		}
		return v
	case []any:
		for i := range v {
			v[i] = replaced(v[i], marker)
		}
		return v
	}
	return marker
}

// The values that staff needs are shown: the ids, amounts and states of the samples.
func TestBodyKeepsIDs(t *testing.T) {
	t.Parallel()
	bodies := payloads(t)
	for name, want := range map[string][]string{
		"adyen/constructed_authorisation_refused.json": {"7914073381342284", "REFUSED", "1130", "EUR"},
		"cloudpayments/pay.params.json":                {"1701609", "123.00", "RUB", "Completed", "1111"},
		"tbank/authorized_docs_signed.json":            {"8742591", "AUTHORIZED", "9855", "…0777"},
		"robokassa/result_form.txt":                    {"58", "100"},
	} {
		got := redacted(t, bodies[name])
		for _, text := range want {
			require.Contains(t, got, text, name)
		}
	}
}
