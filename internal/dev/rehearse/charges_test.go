package rehearse

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCharges(t *testing.T) {
	t.Parallel()
	body := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	read := func(c Charges) ([]Charge, error) {
		if len(c.Command) == 0 {
			c.URL, c.Header = server.URL, map[string]string{"Authorization": "Bearer key"}
		}
		return (&counter{c, server.Client()}).read(context.WithoutCancel(t.Context()))
	}

	body = `{"data": [
		{"id": "a", "status": "paid", "amount": {"value": 1999, "currency": "EUR"}, "live": false},
		{"id": "b", "status": "open", "amount": {"value": 1999, "currency": "EUR"}, "live": false}
	], "count": 3}`
	list := Charges{List: "data", Where: map[string]string{"status": "paid", "live": "false"}, ID: "id", Amount: "amount.value", Currency: "amount.currency"}
	got, err := read(list)
	require.NoError(t, err)
	require.Equal(t, []Charge{{"1999", "EUR", "a"}}, got)
	require.Empty(t, since(got, got))
	require.Equal(t, got, since(nil, got))

	before, err := read(Charges{List: "data.1.amount"})
	require.ErrorContains(t, err, "is neither a list nor a number")
	require.Empty(t, before)

	three, err := read(Charges{List: "count"})
	require.NoError(t, err)
	four, err := read(Charges{Command: []string{"sh", "-c", "echo 4"}})
	require.NoError(t, err)
	require.Len(t, since(three, four), 1)

	_, err = (&counter{Charges{URL: server.URL}, server.Client()}).read(t.Context())
	require.ErrorContains(t, err, "401 Unauthorized")
	_, err = read(Charges{Command: []string{"sh", "-c", "exit 3"}})
	require.ErrorContains(t, err, "exit status 3")
	body = "<html>"
	_, err = read(list)
	require.ErrorContains(t, err, "not JSON")
}

// TestSinceWithEqualItems: two charges without an id may be equal in all members.
func TestSinceWithEqualItems(t *testing.T) {
	t.Parallel()
	one := []Charge{{id: "{}"}}
	require.Len(t, since(one, []Charge{{id: "{}"}, {id: "{}"}}), 1)
}
