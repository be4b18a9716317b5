package all_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// A receiver handles a request in these steps.
func ExampleNew() {
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

func ExampleKinds() {
	_, err := all.New("cash", webhooks.Config{})
	fmt.Println(errors.Is(err, webhooks.ErrConfig), len(all.Kinds()) > 0)
	// Output: true true
}
