package providertest

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// replacements are what a member becomes, one after the other; the first stands for its absence.
var replacements = []string{
	"", `null`, `true`, `0`, `-1`, `5`, `19.99`, `1e3`, `99999999999999999999`, `""`, `"x"`, `"1,5"`, `"XYZ"`, `"0.001"`, `[]`, `[5]`,
	`[null]`, `{}`, `{"id":5}`, `{"value":"x","currency":"EUR"}`,
}

// Genuine fuzzes genuine deliveries: one member of the JSON body, or of an object in it, is deleted, or becomes something
// else, and the delivery is signed again. It is never refused. inBody says that the scheme puts the signature into the
// body, where some of that leaves nothing that could be signed. name is the provider's: its published samples are taken,
// if they are at hand.
func Genuine(f *testing.F, name string, v VerifySigner, inBody bool, bodies ...string) {
	f.Helper()
	for i, body := range append(samples(f, name), bodies...) {
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
		if v.Sign(&d) != nil {
			return
		}
		events, err := v.Verify(t.Context(), d)
		if inBody && (errors.Is(err, webhooks.ErrSignatureMalformed) || errors.Is(err, webhooks.ErrSignatureMissing)) {
			return
		}
		require.NoError(t, err, string(d.Body))
		require.NotEmpty(t, events)
		for _, e := range events {
			RequireSound(t, e)
		}
	})
}

// samples are the published samples of a provider.
func samples(f *testing.F, name string) []string {
	f.Helper()
	paths, err := filepath.Glob(filepath.Join(PublishedDir(), "..", "payloads", name, "*.json"))
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

// mutated returns a value of which the member at a place has become something else.
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
