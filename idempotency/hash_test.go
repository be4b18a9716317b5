package idempotency_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/idempotency"
)

func hash(body string) idempotency.Hash {
	return idempotency.HashRequest("POST", "/v1/orders/{order_id}/pay", []string{"A-1"}, nil, []byte(body))
}

func TestWhatMeansTheSameHasOneHash(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{`{"amount":1999,"currency":"EUR"}`, `{"currency":"EUR","amount":1999}`},
		{`{"amount":1999,"currency":"EUR"}`, "{\n\t\"amount\" : 1999 ,\r\n \"currency\":\"EUR\"}\n"},
		{`{"a":{"y":1,"x":[1,{"b":1,"a":2}]}}`, `{"a":{"x":[1,{"a":2,"b":1}],"y":1}}`},
		{`{"a":"\u20ac/\u0041"}`, `{"a":"€\/A"}`},
		{`{"a":1e2}`, `{"a":100}`},
	} {
		require.Equal(t, hash(same[0]), hash(same[1]), same)
	}
}

func TestWhatMeansAnotherThingHasAnotherHash(t *testing.T) {
	t.Parallel()
	seen := map[idempotency.Hash]string{}
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `""`, ` `,
		`{"amount":1999}`, `{"amount":2000}`, `{"amount":"1999"}`, `{"amount":-1999}`, `{"amount":1999.01}`, `{"amount":null}`, `{"amount":[1999]}`,
		`{"Amount":1999}`, `{"amount":1999,"currency":"EUR"}`, `{"amount":1999,"currency":"eur"}`, `{"amount":1999,"currency":"EUR "}`,
		`{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":"\u00e9"}`, `{"a":"e\u0301"}`,
		`{"a":1,"a":1}`, `{"a":1`, `{"a":1}}`, `{"a":1} x`,
	} {
		h := hash(body)
		require.NotContains(t, seen, h, "%q and %q", body, seen[h])
		seen[h] = body
	}
}

func TestAllPartsOfARequestCount(t *testing.T) {
	t.Parallel()
	of := idempotency.HashRequest
	first := of("POST", "/a/{id}", []string{"1", "2"}, url.Values{"x": {"1"}}, []byte("{}"))
	for _, other := range []idempotency.Hash{
		of("PUT", "/a/{id}", []string{"1", "2"}, url.Values{"x": {"1"}}, []byte("{}")),
		of("POST", "/b/{id}", []string{"1", "2"}, url.Values{"x": {"1"}}, []byte("{}")),
		of("POST", "/a/{id}", []string{"2", "1"}, url.Values{"x": {"1"}}, []byte("{}")),
		of("POST", "/a/{id}", []string{"12"}, url.Values{"x": {"1"}}, []byte("{}")),
		of("POST", "/a/{id}", []string{"1", "2", ""}, url.Values{"x": {"1"}}, []byte("{}")),
		of("POST", "/a/{id}", []string{"1", "2"}, url.Values{"x": {"2"}}, []byte("{}")),
		of("POST", "/a/{id}", []string{"1", "2"}, nil, []byte("{}")),
		of("POST", "/a/{id}1", []string{"", "2"}, url.Values{"x": {"1"}}, []byte("{}")),
	} {
		require.NotEqual(t, first, other)
	}
	query := url.Values{"b": {"1"}, "a": {"2", "3"}}
	parsed, err := url.ParseQuery("b=1&a=2&a=3")
	require.NoError(t, err)
	require.Equal(t, of("GET", "/", nil, query, nil), of("GET", "/", nil, parsed, nil))
}

// The vectors of RFC 8785, sections 3.2.2 and 3.2.3, and its appendix B: what is
// canonical already has the hash of what it was made from.
func TestRFC8785(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`: "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\"," +
			"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		`[-0,-0.0,5e-324,1.7976931348623157e308,9007199254740992,295147905179352830000,9.999999999999997e22,1e23,1.0000000000000001e23,1e21,1e-6,1e-7]`: `[0,0,5e-324,1.7976931348623157e+308,9007199254740992,295147905179352830000,9.999999999999997e+22,1e+23,1.0000000000000001e+23,1e+21,0.000001,1e-7]`,
	} {
		require.Equal(t, hash(out), hash(in))
	}
}

func TestMemberOrderAndSpaceDoNotMatterAndAmountsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOfN(rapid.String(), rapid.String(), 0, 8).Draw(t, "members")
		amount := rapid.Int64Range(1, 1_000_000_000_000).Draw(t, "amount")
		body := func(amount int64) map[string]any {
			m := map[string]any{"amount": amount}
			for k, v := range members {
				m["m_"+k] = v
			}
			return m
		}
		sorted, err := json.Marshal(body(amount))
		require.NoError(t, err)
		require.Equal(t, hash(string(sorted)), hash(shuffled(t, body(amount))))
		other := rapid.Int64Range(1, 1_000_000_000_000).Filter(func(n int64) bool { return n != amount }).Draw(t, "other")
		require.NotEqual(t, hash(string(sorted)), hash(shuffled(t, body(other))))
	})
}

// shuffled writes the members of an object in any order, with space between.
func shuffled(t *rapid.T, members map[string]any) string {
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	var b bytes.Buffer
	for i, name := range rapid.Permutation(names).Draw(t, "order") {
		k, err := json.Marshal(name)
		require.NoError(t, err)
		v, err := json.Marshal(members[name])
		require.NoError(t, err)
		b.WriteString([]string{"{ ", " ,\n\t"}[min(i, 1)] + string(k) + "\r\n: " + string(v))
	}
	return b.String() + " }\n"
}

// Any body can be hashed, and one that has a canonical form has the hash of it,
// and of itself with other white space.
func FuzzHashRequest(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":[1,2,{"b":null}]}`, `{"a":1e400}`, `[-0.0]`, "\"\xff\"", `"\ud800"`, `{"a":1,"a":2}`, `nul`, `[[[[[[`, `9007199254740993`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		h := hash(string(body))
		require.Equal(t, h, hash(string(body)))
		canonical, err := jcs.Transform(body)
		if err != nil {
			return
		}
		require.Equal(t, h, hash(string(canonical)))
		var spaced bytes.Buffer
		if json.Indent(&spaced, body, " ", "\t") == nil {
			require.Equal(t, h, hash(spaced.String()))
		}
	})
}
