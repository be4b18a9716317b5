package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
)

// A pay request is repeated until its outcome is certain, with the key of the cart.
func Example() {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tries++
		fmt.Println("try", tries, r.Header.Get("Idempotency-Key"))
		if tries == 1 {
			panic(http.ErrAbortHandler) // the response is lost
		}
		status(http.StatusCreated, attempt)(w, r)
	}))
	defer server.Close()

	c, err := client.New(server.URL, "token", client.Options{HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if err != nil {
		panic(err)
	}
	a, err := c.Pay(context.Background(), "A-1", api.Pay{PaymentMethod: api.PaymentMethod{Token: "tok_success"}},
		client.Command{Key: "cart-0001", OnBehalfOf: "u1"})
	var refused *client.ProblemError
	switch {
	case errors.As(err, &refused):
		fmt.Println("refused:", refused.Code)
	case err != nil:
		fmt.Println("unknown, send it again with the same key:", err)
	default:
		fmt.Println(a.Status, a.Amount, a.Currency)
	}
	// Output:
	// try 1 cart-0001
	// try 2 cart-0001
	// succeeded 1999 EUR
}

// The feed is read from the last cursor that was stored.
func ExampleClient_Events() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("after") == "c2" {
			status(http.StatusOK, `{"items":[],"next_cursor":"c2"}`)(w, r)
			return
		}
		status(http.StatusOK, firstPage)(w, r)
	}))
	defer server.Close()
	c, err := client.New(server.URL, "token", client.Options{HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	if err != nil {
		panic(err)
	}
	stored := ""
	for e, err := range c.Events(context.Background(), stored, client.Feed{Types: []string{"order.paid"}, Wait: -1}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(e.Type, e.Subject) // act on it by inbox.Once, with e.ID, and store the cursor with the effect
		stored = e.Cursor
	}
	fmt.Println(stored)
	// Output:
	// order.paid A-1
	// order.paid A-2
	// c2
}

// An endpoint accepts only deliveries that are signed by one of its secrets.
func ExampleParseEvent() {
	_, err := client.ParseEvent([]string{secret}, http.Header{}, []byte(news))
	fmt.Println(errors.Is(err, client.ErrNotGenuine))
	// Output: true
}
