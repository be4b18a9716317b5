package webhooks_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

// A handler verifies the raw body, and acts only on verified events.
func Example() {
	verifier, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Unix(1773500966, 0) // time.Now() in a program
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		events, err := verifier.Verify(r.Context(), webhooks.Delivery{
			Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body, ReceivedAt: at,
		})
		switch {
		case errors.Is(err, webhooks.ErrUnavailable):
			w.WriteHeader(http.StatusServiceUnavailable) // the provider sends it again
		case err != nil:
			w.WriteHeader(http.StatusUnauthorized)
		}
		for _, e := range events {
			fmt.Println(e.Kind, e.References, *e.Money)
		}
	}

	body := `{"id":"evt_1","type":"payment_intent.succeeded","livemode":true,"data":{"object":{"id":"pi_1","object":"payment_intent",` +
		`"amount_received":1999,"currency":"eur","metadata":{"payment_attempt_id":"att_1"}}}}`
	genuine := webhooks.Delivery{Body: []byte(body), ReceivedAt: at}
	if err := verifier.Sign(&genuine); err != nil {
		fmt.Println(err)
		return
	}
	for _, content := range []string{body, strings.Replace(body, "1999", "1", 1)} {
		r := httptest.NewRequest(http.MethodPost, "/webhooks/stripe", strings.NewReader(content))
		r.Header = genuine.Header
		response := httptest.NewRecorder()
		handler(response, r)
		fmt.Println(response.Code)
	}
	// Output:
	// succeeded [att_1 pi_1] {1999 EUR}
	// 200
	// 401
}
