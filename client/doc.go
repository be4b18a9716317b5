// Package client is the Go client of paylatch, for a merchant's backend.
//
// A command is sent again until its result has arrived, always with the same
// Idempotency-Key: after a broken connection, a 5xx, a 429, and while the same request is under way. So a
// payment is not made twice because its response was lost:
//
//	c, err := client.New("https://pay.example", token, client.Options{})
//	attempt, err := c.Pay(ctx, orderID, api.Pay{…}, client.Command{Key: cart.Key, OnBehalfOf: cart.User})
//
// Keep the key with what it is for, such as the cart, before the first try: a process that dies
// comes back with the same key, and gets the same attempt. Without a Key one is made for each
// call.
//
// What is refused comes as a [*ProblemError] (RFC 9457): decide by Code. A declined payment is no error
// but an attempt with status failed.
//
// What happens later is read from the feed ([Client.Events]) or pushed to an endpoint
// ([VerifyNews]). Both deliver at least once; package inbox acts once on each.
//
// Package api, below, is generated from the contract and has the types. [Client.API] is the whole
// of it, with the same retries.
package client
