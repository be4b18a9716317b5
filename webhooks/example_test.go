package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/webhooks"
)

// What a receiver does with a request.
func ExampleNew() {
	verifier, err := webhooks.New("stripe", webhooks.Config{Secrets: []string{"whsec_example"}})
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
	_, err := webhooks.New("cash", webhooks.Config{})
	fmt.Println(errors.Is(err, webhooks.ErrConfig), len(webhooks.Kinds()) > 0)
	// Output: true true
}

// A program that sends webhooks, or a test of one that receives them, signs.
func ExampleStandard_Sign() {
	standard, err := webhooks.NewStandard(webhooks.Config{Secrets: []string{"whsec_cGF5bGF0Y2gtZXhhbXBsZS1zZWNyZXQ="}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{
		Header:     http.Header{"Webhook-Id": {"evt_1"}},
		Body:       []byte(`{"type":"charge.succeeded"}`),
		ReceivedAt: time.Unix(1773500966, 0),
	}
	err = standard.Sign(&d)
	fmt.Println(err)
	fmt.Println(d.Header.Get("webhook-timestamp"))
	fmt.Println(d.Header.Get("webhook-signature"))
	// Output:
	// <nil>
	// 1773500966
	// v1,PVts9WYUpVZTt65wVHu9yuEfsn+JdsIaq70vmZYq1To=
}

func ExampleStandard_Verify() {
	standard, err := webhooks.NewStandard(webhooks.Config{Secrets: []string{"whsec_cGF5bGF0Y2gtZXhhbXBsZS1zZWNyZXQ="}})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := webhooks.Delivery{
		Header: http.Header{"Webhook-Id": {"evt_1"}},
		Body: []byte(`{"type":"charge.failed","data":{"reference":"att_1","charge_id":"ch_1",` +
			`"amount":1999,"currency":"EUR","failure_code":"card_declined"}}`),
		ReceivedAt: time.Unix(1773500966, 0),
	}
	if err := standard.Sign(&d); err != nil {
		fmt.Println(err)
		return
	}
	events, err := standard.Verify(context.Background(), d)
	fmt.Println(err)
	for _, e := range events {
		fmt.Println(e.ID, e.Kind, e.FailureCode, e.References, *e.Money)
	}
	fmt.Println(standard.Ack(d, events).Status)
	// Output:
	// <nil>
	// evt_1 failed card_declined [att_1 ch_1] {1999 EUR}
	// 200
}

func ExampleStripe_Sign() {
	stripe, err := webhooks.NewStripe(webhooks.Config{Secrets: []string{"whsec_example"}})
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

func ExampleStripe_Verify() {
	stripe, err := webhooks.NewStripe(webhooks.Config{Secrets: []string{"whsec_new", "whsec_old"}})
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
