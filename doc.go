// Package paylatch is the root of a self-hosted service between a shop's checkout and its payment providers. The program is in
// cmd/paylatch. This package has no code; it lists the public packages, which are useful without the service:
//
//   - [github.com/paylatch/paylatch/webhooks] verifies webhooks of nineteen kinds of payment providers and reads their meaning,
//     without network or database. [github.com/paylatch/paylatch/webhooks/all] makes a verifier by the name of its kind.
//   - [github.com/paylatch/paylatch/idempotency] executes a command once, however often a client sends it.
//     [github.com/paylatch/paylatch/idempotency/pgxstore] keeps the keys in PostgreSQL,
//     [github.com/paylatch/paylatch/idempotency/echoidempotency] is a middleware for echo.
//   - [github.com/paylatch/paylatch/inbox] processes a message once, in the transaction of its effect.
//   - [github.com/paylatch/paylatch/client] calls the service's API, with retries that keep the idempotency key.
//   - [github.com/paylatch/paylatch/fsm] has the state machines of payments, refunds, operations and disputes as pure functions.
//
// The examples below show one call of each package that needs no database. The packages have further examples.
package paylatch
