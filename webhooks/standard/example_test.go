package standard_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

// A program that sends webhooks, or a test of one that receives them, signs.
func ExampleVerifier_Sign() {
	standard, err := standard.New(webhooks.Config{Secrets: []string{"whsec_cGF5bGF0Y2gtZXhhbXBsZS1zZWNyZXQ="}})
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

func ExampleVerifier_Verify() {
	standard, err := standard.New(webhooks.Config{Secrets: []string{"whsec_cGF5bGF0Y2gtZXhhbXBsZS1zZWNyZXQ="}})
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
