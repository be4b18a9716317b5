package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
)

func TestReadAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.payments.view = payment.View{Attempt: pending()}
	path := "/v1/payment-attempts/" + attemptID.String()
	got := b.send(http.MethodGet, path, "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, `"2"`, got.Header.Get("ETag"))
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	require.NotContains(t, got.object(t), "status_token")

	for _, tag := range []string{`"2"`, `W/"2"`, `"1", "2"`, `*`} {
		got = b.send(http.MethodGet, path, "", "If-None-Match: "+tag)
		require.Equal(t, http.StatusNotModified, got.StatusCode, tag)
		require.Empty(t, got.text)
		require.Equal(t, `"2"`, got.Header.Get("ETag"))
		require.Equal(t, "1", got.Header.Get("Retry-After"))
	}
	require.Equal(t, 304, b.send(http.MethodGet, path, "", `If-None-Match: "1"`, `If-None-Match: "2"`).StatusCode)
	for _, tag := range []string{`"1"`, `2`, `"22"`, `""`} {
		require.Equal(t, 200, b.send(http.MethodGet, path, "", "If-None-Match: "+tag).StatusCode, tag)
	}
}

// The payment may still succeed: no version shows a failure before the end.
func TestAPendingAttemptHasNotFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	declined := pending()
	declined.Failure = &payment.Failure{Code: "card_declined", Message: "No."}
	b.payments.view = payment.View{Attempt: declined}
	require.Nil(t, b.send(http.MethodGet, attemptPath, "").object(t)["failure"])
}

func TestReadAttemptOfNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []string{"1", "%00", "urn:uuid:" + attemptID.String(), "{" + attemptID.String() + "}", strings.ReplaceAll(attemptID.String(), "-", "")} {
		b.send(http.MethodGet, "/v1/payment-attempts/"+id, "", "Authorization: Bearer support").is(t, 404, "not-found")
		b.send(http.MethodGet, "/v1/payment-attempts/"+id, "").is(t, 403, "forbidden")
	}
	require.Zero(t, b.payments.calls)
	b.payments.err = payment.ErrForbidden
	b.send(http.MethodGet, "/v1/payment-attempts/"+attemptID.String(), "").is(t, 403, "forbidden")
}

func TestListAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	got := b.send(http.MethodGet, "/v1/orders/A-1/attempts", "")
	require.JSONEq(t, `{"items":[],"next_cursor":null}`, string(got.text))
	require.Empty(t, b.payments.filter)
	b.payments.views = []payment.View{{Attempt: pending()}}
	got = b.send(http.MethodGet, "/v1/orders/A-1/attempts?client_request_id=key-00000001", "")
	require.Len(t, got.object(t)["items"], 1)
	require.Equal(t, payment.RequestID("key-00000001"), b.payments.filter)
	for _, id := range []string{"", "%00", "%FF", strings.Repeat("a", 201)} {
		p := b.send(http.MethodGet, "/v1/orders/A-1/attempts?client_request_id="+id, "").is(t, 422, "validation-failed")
		require.Equal(t, "client_request_id", p.Errors[0].Field)
	}
}
