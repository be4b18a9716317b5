package contract_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api/contract"
)

func TestParseReadsJSON(t *testing.T) {
	t.Parallel()
	got, err := contract.ParseJSON([]byte(` {"a":[1,-2.5e3,"\ud83d\ude00\\u12",true,null,{}],"A":{"a":""}} `))
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"a": []any{json.Number("1"), json.Number("-2.5e3"), "😀\\u12", true, nil, map[string]any{}},
		"A": map[string]any{"a": ""},
	}, got)
}

func TestParseRefusesWhatCanBeReadTwoWays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, reason string }{
		"nothing":               {"", "empty"},
		"blanks":                {" \n", "empty"},
		"broken off":            {`{"a":1`, "syntax error at byte 6"},
		"trailing data":         {`{"a":1} {}`, "syntax error at byte 9"},
		"trailing comma":        {`{"a":1,}`, "not JSON"},
		"comment":               {`{/**/}`, "not JSON"},
		"single quotes":         {`{'a':1}`, "not JSON"},
		"byte order mark":       {"\ufeff{}", "not JSON"},
		"leading zero":          {`{"a":01}`, "not JSON"},
		"NaN":                   {`{"a":NaN}`, "not JSON"},
		"twice":                 {`{"a":1,"a":1}`, `"a" occurs twice`},
		"twice by escape":       {`{"a":1,"\u0061":1}`, `"a" occurs twice`},
		"twice, deep":           {`{"a":[{"b":1,"b":2}]}`, `"b" occurs twice`},
		"invalid UTF-8":         {"{\"a\":\"\xff\"}", "UTF-8"},
		"high surrogate":        {`{"a":"\ud800"}`, "surrogate"},
		"low surrogate":         {`{"a":"\udc00"}`, "surrogate"},
		"surrogates turned":     {`{"a":"\udc00\ud800"}`, "surrogate"},
		"surrogate and a quote": {`{"a":"\ud800\""}`, "surrogate"},
		"too deep":              {strings.Repeat("[", 33) + strings.Repeat("]", 33), "deeper than 32"},
		"too deep in objects":   {strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33), "deeper than 32"},
		"far too deep":          {strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contract.ParseJSON([]byte(c.text))
			var refused *contract.JSONError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, c.reason)
		})
	}
}

func TestParseTakesTheDeepestDepth(t *testing.T) {
	t.Parallel()
	_, err := contract.ParseJSON([]byte(strings.Repeat("[", 32) + strings.Repeat("]", 32)))
	require.NoError(t, err)
}

func TestQuoteShortens(t *testing.T) {
	t.Parallel()
	require.Equal(t, `"a\n\u00fc"`, contract.QuoteName("a\nü"))
	require.Len(t, contract.QuoteName(strings.Repeat("a", 500)), 68)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"amount":1999,"currency":"EUR"}`, `{"a":1,"a":2}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud800"}`,
		`{"a":1e400}`, `"\\ud800"`, `{"a":{"a":{"a":[[[]]]}}}`, "\xff", `{"\u0061":1,"a":2}`, `1 1`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := contract.ParseJSON(text)
		if err != nil {
			var refused *contract.JSONError
			require.ErrorAs(t, err, &refused)
			require.Nil(t, got)
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var lax any
		require.NoError(t, d.Decode(&lax), "what is accepted is JSON")
		require.Equal(t, lax, got, "and means what encoding/json says")
		again, err := json.Marshal(got)
		require.NoError(t, err)
		once, err := contract.ParseJSON(again)
		require.NoError(t, err, "and is still accepted when written again")
		require.Equal(t, got, once)
		if _, ok := got.(map[string]any); ok && !bytes.ContainsAny(text, "eE.") {
			_, err = jcs.Transform(text)
			require.NoError(t, err, "and has a canonical form")
		}
	})
}
