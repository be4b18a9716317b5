package sandbox

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecode: what is accepted is a JSON object that says the same when it is
// written and read again.
func FuzzDecode(f *testing.F) {
	f.Add(`{"reference":"a","amount":1999,"currency":"EUR","token":"tok_success"}`)
	f.Add(`{"amount":1,"amount":2}`)
	f.Add(`{"amount":{"x":[1]}} `)
	f.Add(`{"Token":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		var in chargeRequest
		if decode(httptest.NewRecorder(), r, &in) != nil || body == "" {
			return
		}
		require.True(t, json.Valid([]byte(body)))
		text, err := json.Marshal(in)
		require.NoError(t, err)
		var again chargeRequest
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, in, again)
	})
}
