// Package demo is a shop that is as small as one can be: it creates an order,
// shows a checkout page, and passes the page's pay on to paylatch. It is what a
// merchant's backend has to do, and it runs in `paylatch dev` only.
//
// It calls paylatch as a merchant does, by HTTP and with a service's token. The
// page that it serves never sees that token:
//
//	page ── POST …/pay, Idempotency-Key ──► demo ── POST /v1/orders/{id}/pay ──► paylatch
//	page ── GET  …/status ────────────────► demo ── GET  /v1/payment-attempts/{id} ──► paylatch
//	page ── GET  /v1/payment-attempts/{id}, the attempt's own status token ──────► paylatch
//
// Without JavaScript the page is a form. Its hidden client_request_id is made of
// the order and the number of attempts that it has had, so that a form that is
// sent twice, from whatever tab, names the same attempt.
package demo
