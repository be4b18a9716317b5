package idempotency_test

import (
	"context"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/idempotency"
)

// A command is executed once, however often it is sent.
func ExampleGuard() {
	guard := &idempotency.Guard{Store: newMemory(), Wait: time.Second, Lease: time.Minute}
	for range 2 {
		answer, result, err := guard.Do(context.Background(), request("a"), idempotency.KeepOther,
			func(context.Context, bool) (idempotency.Response, error) {
				fmt.Println("executed")
				return idempotency.Response{Status: 201, Body: []byte("made")}, nil
			})
		fmt.Println(result, answer.Status, string(answer.Body), err)
	}
	// Output:
	// executed
	// created 201 made <nil>
	// reused 201 made <nil>
}

// Two bodies that mean the same have one hash.
func ExampleHashRequest() {
	a := idempotency.HashRequest("POST", "/v1/orders", nil, nil, []byte(`{"amount":1999,"currency":"EUR"}`))
	b := idempotency.HashRequest("POST", "/v1/orders", nil, nil, []byte(`{ "currency": "EUR", "amount": 1999 }`))
	c := idempotency.HashRequest("POST", "/v1/orders", nil, nil, []byte(`{ "currency": "EUR", "amount": 2000 }`))
	fmt.Println(a == b, a == c)
	// Output: true false
}

func ExampleParseKey() {
	fmt.Println(idempotency.ParseKey([]string{`"8f14e45f-ceea"`}))
	fmt.Println(idempotency.ParseKey([]string{"short"}))
	fmt.Println(idempotency.ParseKey(nil))
	// Output:
	// 8f14e45f-ceea <nil>
	//  idempotency key invalid
	//  idempotency key missing
}
