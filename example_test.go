package paylatch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// A forged webhook is refused before anything is read.
func Example_webhooks() {
	verifier, err := all.New("stripe", webhooks.Config{Secrets: []string{"whsec_example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = verifier.Verify(context.Background(), webhooks.Delivery{
		Method:     http.MethodPost,
		Header:     http.Header{"Stripe-Signature": {"t=1773500966,v1=00"}},
		Body:       []byte(`{"id":"evt_1","type":"payment_intent.succeeded"}`),
		ReceivedAt: time.Unix(1773500966, 0),
	})
	fmt.Println(errors.Is(err, webhooks.ErrSignatureInvalid))
	// Output: true
}

// A second success changes nothing.
func Example_fsm() {
	step, err := fsm.Next(fsm.Succeeded, fsm.EventSucceeded)
	fmt.Println(step.To, step.Verdict, err)
	// Output: succeeded repeat <nil>
}

// A refused command is an error with a code.
func Example_client() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprint(w, `{"type":"/problems/order-already-paid","status":409,"code":"order-already-paid","retryable":false}`)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "token", client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Pay(context.Background(), "A-1", api.Pay{PaymentMethod: api.PaymentMethod{Token: "tok_success"}},
		client.Command{Key: "cart-0001", OnBehalfOf: "u1"})
	if refused, ok := errors.AsType[*client.ProblemError](err); ok {
		fmt.Println(refused.Code)
	}
	// Output: order-already-paid
}
