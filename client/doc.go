// Package client is the Go client of paylatch, for a merchant's backend.
//
// The client repeats a command with the same Idempotency-Key until its result arrives: after a broken connection, a 5xx, a 429,
// and while the same request is running. So a lost response never causes a second payment:
//
//	c, err := client.New("https://pay.example", token, client.Options{})
//	attempt, err := c.Pay(ctx, orderID, api.Pay{…}, client.Command{Key: cart.Key, OnBehalfOf: cart.User})
//
// Store the key with its purpose, such as the cart, before the first call. A process that dies continues with the same key and
// gets the same attempt. Without a Key the client makes one for each call.
//
// A refusal is a [*ProblemError] (RFC 9457): decide by Code. A declined payment is no error but an attempt with status failed.
//
// Later changes come from the feed ([Client.Events]) or arrive at an endpoint ([ParseEvent]). Both deliver at least once; package
// inbox processes each event once.
//
// Package api, below, is generated from the contract and has the types. [Client.API] is the whole generated client, with the same
// retries.
package client
