package checkout_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/checkout"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const (
	secret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	retired = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
	news    = `{"id":"evt_1","type":"order.paid","created_at":"2026-03-02T10:00:01.000002Z","subject":"A-1","version":3,"data":{"order_id":"A-1"}}`
)

// signed returns the headers of a delivery.
func signed(t *testing.T, id, body string) http.Header {
	t.Helper()
	v, err := standard.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	d := webhooks.Delivery{Header: http.Header{}, Body: []byte(body), ReceivedAt: time.Now()}
	d.Header.Set("Webhook-Id", id)
	require.NoError(t, v.Sign(&d))
	return d.Header
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	var acted []string
	var failure error
	h, err := checkout.NewReceiver(checkout.Receiver{
		Secrets: []string{retired, secret}, Log: slog.New(slog.DiscardHandler),
		Act: func(ctx context.Context, e client.Event) error {
			if _, bounded := ctx.Deadline(); !bounded {
				return errors.New("it may last for ever")
			}
			if failure == nil {
				acted = append(acted, e.ID)
			}
			return failure
		},
	})
	require.NoError(t, err)
	post := func(header http.Header, body, method string) int {
		q := httptest.NewRequest(method, "https://shop.example/events", strings.NewReader(body))
		for name, values := range maps.All(header) {
			q.Header.Set(name, values[0])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		return w.Code
	}
	large := strings.TrimSuffix(news, "}") + `,"more":"` + strings.Repeat("x", 1<<20) + `"}`
	require.Equal(t, http.StatusNoContent, post(signed(t, "evt_1", news), news, http.MethodPost))
	require.Equal(t, http.StatusBadRequest, post(signed(t, "evt_1", news), news+" ", http.MethodPost))
	require.Equal(t, http.StatusBadRequest, post(http.Header{}, news, http.MethodPost))
	require.Equal(t, http.StatusInternalServerError, post(signed(t, "evt_2", news), news, http.MethodPost))
	require.Equal(t, http.StatusInternalServerError, post(signed(t, "evt_1", "{"), "{", http.MethodPost))
	require.Equal(t, http.StatusRequestEntityTooLarge, post(signed(t, "evt_1", large), large, http.MethodPost))
	require.Equal(t, http.StatusMethodNotAllowed, post(http.Header{}, "", http.MethodGet))
	failure = errors.New("the database is away")
	require.Equal(t, http.StatusServiceUnavailable, post(signed(t, "evt_1", news), news, http.MethodPost))
	require.Equal(t, []string{"evt_1"}, acted)

	for _, secrets := range [][]string{nil, {""}, {"whsec_"}, {"whsec_not base64"}} {
		_, err := checkout.NewReceiver(checkout.Receiver{Secrets: secrets})
		require.Error(t, err)
	}
}
