package providertest

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/published"
	"github.com/paylatch/paylatch/webhooks"
)

// replacements are the values that replace a member, one after the other. The first stands for the member's absence.
var replacements = []string{
	"", `null`, `true`, `0`, `-1`, `5`, `19.99`, `1e3`, `99999999999999999999`, `""`, `"x"`, `"1,5"`, `"XYZ"`, `"0.001"`, `[]`, `[5]`,
	`[null]`, `{}`, `{"id":5}`, `{"value":"x","currency":"EUR"}`,
}

// Refusable reports whether a delivery that was signed may be refused with err all the same: the scheme has the signature
// in the body, and the changed body leaves the signed text open. Nil: no delivery may be refused.
type Refusable func(d webhooks.Delivery, err error) bool

// Genuine fuzzes genuine deliveries: one member of the JSON body, or of an object in it, is deleted, or becomes something
// else, and the delivery is signed again. It must not be refused unless may allows the refusal. name is the provider's
// name: its published samples are used, if they are at hand.
func Genuine(f *testing.F, name string, v VerifySigner, may Refusable, bodies ...string) {
	f.Helper()
	for i, body := range append(samples(f, name, "*.json"), bodies...) {
		for how := range replacements {
			f.Add([]byte(body), uint(i+how), uint(how))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, place, how uint) {
		var value any
		if json.Unmarshal(body, &value) != nil {
			return
		}
		if n := count(value); n > 0 {
			at := int(place % uint(n))
			value = mutated(value, &at, replacements[how%uint(len(replacements))])
		}
		changed, err := json.Marshal(value)
		require.NoError(t, err)
		d := Unsigned(string(changed))
		d.Topic = "pay"
		if v.Sign(&d) == nil {
			requireTaken(t, v, d, may)
		}
	})
}

// requireTaken requires that a genuine delivery is sound events, or may be refused.
func requireTaken(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, may Refusable) {
	t.Helper()
	events, err := v.Verify(t.Context(), d)
	if err != nil && may != nil && may(d, err) {
		return
	}
	require.NoError(t, err, "%s %s", d.URL, d.Body)
	require.NotEmpty(t, events)
	for _, e := range events {
		RequireSound(t, e)
	}
	require.Equal(t, http.StatusOK, v.Ack(d, events).Status)
}

// samples returns the published samples of a provider in files of this form.
func samples(f *testing.F, name, form string) []string {
	f.Helper()
	folder, err := published.Find(f, published.Payloads, name)
	if err != nil {
		f.Logf("without the published samples: %v", err)
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(folder, form))
	require.NoError(f, err)
	var bodies []string
	for _, path := range paths {
		body, err := os.ReadFile(path) //nolint:gosec // a published sample
		require.NoError(f, err)
		if !strings.HasSuffix(path, "SOURCES.json") && len(body) < 16<<10 {
			bodies = append(bodies, string(body))
		}
	}
	return bodies
}

// count returns the number of members in a value, those of its members included.
func count(value any) (n int) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			n += 1 + count(member)
		}
	case []any:
		for _, member := range v {
			n += 1 + count(member)
		}
	}
	return n
}

// mutated returns a value with the member at a place replaced.
func mutated(value any, at *int, to string) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if *at == 0 && to == "" {
				delete(v, name)
				*at--
				return v
			}
			v[name] = member(v[name], at, to)
		}
	case []any:
		for i := range v {
			v[i] = member(v[i], at, to)
		}
	}
	return value
}

func member(value any, at *int, to string) any {
	*at--
	switch {
	case *at < -1:
		return value
	case *at == -1 && to == "":
		return nil
	case *at == -1:
		return json.RawMessage(to)
	default:
		return mutated(value, at, to)
	}
}
