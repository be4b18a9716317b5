package stripe_test

import (
	"context"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/stripe"
)

func ExampleVerifier_Sign() {
	stripe, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{Body: []byte(`{}`), ReceivedAt: time.Unix(1773500966, 0)}
	err = stripe.Sign(&d)
	fmt.Println(err)
	fmt.Println(d.Header.Get("Stripe-Signature"))
	// Output:
	// <nil>
	// t=1773500966,v1=723b4e7e974db458294d3aa57f9a3a8c438e53332a5e91732602404405e68e44
}

func ExampleVerifier_Verify() {
	stripe, err := stripe.New(webhooks.Config{Secrets: []string{"whsec_new", "whsec_old"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{
		Body: []byte(`{"id":"evt_1","type":"payment_intent.succeeded","livemode":true,"data":{"object":{"id":"pi_1",` +
			`"object":"payment_intent","amount_received":500,"currency":"isk","metadata":{"payment_attempt_id":"att_1"}}}}`),
		ReceivedAt: time.Unix(1773500966, 0),
	}
	if err := stripe.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := stripe.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.Kind, e.References, *e.Money, e.SecretIndex)
	}
	// Output:
	// <nil>
	// succeeded [att_1 pi_1] {5 ISK} 0
}
