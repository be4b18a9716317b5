// Package demo is a minimal shop. It creates an order, shows a checkout page, and forwards the page's pay request to
// paylatch. It does the work of a merchant's backend, and it runs in `paylatch dev` only.
//
// It calls paylatch as a merchant does, by HTTP and with a service's token. The
// page that it serves never sees that token:
//
//	page ── POST …/pay, Idempotency-Key ──► demo ── POST /v1/orders/{id}/pay ──► paylatch
//	page ── GET  …/status ────────────────► demo ── GET  /v1/payment-attempts/{id} ──► paylatch
//	page ── GET  /v1/payment-attempts/{id}, the attempt's own status token ──────► paylatch
//
// A second checkout has the provider's own form, as with Stripe's Payment Element: the
// provider's script takes the payment, and paylatch keeps score. The shop registers the
// attempt and creates the payment at the provider under the attempt's key, so that a
// form that is opened again, by a double press or a reload, is the same payment:
//
//	page ── POST …/form, Idempotency-Key ──► demo ─┬─ POST /v1/orders/{id}/attempts ──► paylatch
//	                                               └─ POST /v1/charges, the attempt's key ──► provider
//	provider's script ── client secret ─────────────────────────────────────────────────► provider
//	page ── POST …/give-up ────────────────► demo ── POST /v1/payment-attempts/{id}/report ──► paylatch
//
// Without JavaScript the first checkout is a form. Its hidden client_request_id is derived from
// the order and the number of its attempts, so that a form that is sent twice, from any tab, names the same attempt.
package demo
