package kit_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

func TestDoJSONSpeaksJSON(t *testing.T) {
	t.Parallel()
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"said":"`+r.Method+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("X-Key")+`","heard":`+string(body)+`}`)
	})
	r := post(url)
	r.Method, r.Header = http.MethodPut, http.Header{"X-Key": {"k"}}
	var got struct {
		Said  string         `json:"said"`
		Heard map[string]int `json:"heard"`
	}
	a, err := kit.DoJSON(t.Context(), client(t), r, map[string]int{"amount": 5})
	require.NoError(t, err)
	require.NoError(t, a.Read(&got))
	require.Equal(t, "PUT application/json k", got.Said)
	require.Equal(t, map[string]int{"amount": 5}, got.Heard)
	require.Empty(t, r.Header.Get("Content-Type"), "the caller's header is its own")
}

func TestDoJSONOfNothingHasNoBody(t *testing.T) {
	t.Parallel()
	url, hits := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(body) > 0 || r.Header.Get("Content-Type") != "" {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	a, err := kit.DoJSON(t.Context(), client(t), kit.Request{Method: http.MethodDelete, URL: url, Header: http.Header{}}, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.Status)
	require.EqualValues(t, 1, hits.Load())
}

func TestDoJSONOfACommandWithoutABody(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 1)
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- r.Header.Get("Content-Type") + " " + string(body)
		_, _ = io.WriteString(w, `{}`)
	})
	r := post(url)
	r.Header, r.Body = http.Header{}, nil
	_, err := kit.DoJSON(t.Context(), client(t), r, kit.NoBody)
	require.NoError(t, err)
	require.Equal(t, "application/json ", <-sent)
	require.Empty(t, r.Header, "the caller's header is its own")
}

func TestDoJSONSendsNothingThatIsNoJSON(t *testing.T) {
	t.Parallel()
	url, hits := server(t, func(http.ResponseWriter, *http.Request) {})
	_, err := kit.DoJSON(t.Context(), client(t), post(url), math.Inf(1))
	require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	clock, r := newClock(), post(url)
	r.Permit = clock.permit()
	clock.expire()
	_, err = kit.DoJSON(t.Context(), client(t), r, 1)
	require.ErrorIs(t, err, gateway.ErrPermitEnded)
	require.Zero(t, hits.Load())
}

func TestJSONEscapesOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"Salt & pepper <fine>":    `"Salt & pepper <fine>"`,
		"a\u2028b":                "\"a\u2028b\"",
		"\"\\\n\x00":              `"\"\\\n\u0000"`,
		`no escape: \u0026`:       `"no escape: \\u0026"`,
		`two backslashes \\u0026`: `"two backslashes \\\\u0026"`,
	} {
		raw, err := kit.JSON(body)
		require.NoError(t, err)
		require.Equal(t, want, string(raw))
	}
	for given, want := range map[string]string{
		`{"a":"\u0026\u003c\u003E\u00e9"}`:   `{"a":"&<>é"}`,
		`"\ud83d\ude00 \ud83d \u0022\u005C"`: `"😀 \ud83d \u0022\u005C"`,
		`"\\u0026\\\u0026"`:                  `"\\u0026\\&"`,
	} {
		raw, err := kit.JSON(json.RawMessage(given))
		require.NoError(t, err)
		require.Equal(t, want, string(raw))
	}
}

func TestWhatIsNoObjectIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "null", "[]", `"x"`, "1", "{", "<html>", `{"said":1}`, `{"said":"x"} {}`} {
		var got struct {
			Said string `json:"said"`
		}
		require.Error(t, kit.Answer{Body: []byte(body)}.Read(&got), body)
	}
}

func TestDigits(t *testing.T) {
	t.Parallel()
	d := kit.Digits{"CLP": 2, "IDR": -2}
	for _, c := range []struct {
		money payment.Money
		units int64
	}{
		{payment.Money{Minor: 1999, Currency: "EUR"}, 1999},
		{payment.Money{Minor: 1999, Currency: "CLP"}, 199900},
		{payment.Money{Minor: 199900, Currency: "IDR"}, 1999},
		{payment.Money{Minor: 0, Currency: "IDR"}, 0},
	} {
		units, err := d.Units(c.money)
		require.NoError(t, err)
		require.Equal(t, c.units, units)
		back, err := d.Money(units, string(c.money.Currency))
		require.NoError(t, err)
		require.Equal(t, c.money, *back)
	}
	lower, err := d.Money(100, "clp")
	require.NoError(t, err)
	require.Equal(t, payment.Money{Minor: 1, Currency: "CLP"}, *lower)

	for _, m := range []payment.Money{{Minor: 1950, Currency: "IDR"}, {Minor: math.MaxInt64 / 10, Currency: "CLP"}} {
		_, err := d.Units(m)
		require.ErrorIs(t, err, gateway.ErrUnsupportedRequest)
	}
	for units, currency := range map[int64]string{150: "CLP", math.MaxInt64: "IDR", -1: "EUR", 1: ""} {
		_, err := d.Money(units, currency)
		require.Error(t, err, currency)
	}
}
