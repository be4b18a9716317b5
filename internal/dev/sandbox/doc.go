// Package sandbox is a payment provider that misbehaves on request.
//
// It takes charges, captures, cancels and refunds over HTTP, shows a hosted
// page, sends signed webhooks, and keeps a ledger of every money movement, so
// that everything can be tried without an account anywhere. How a charge goes
// wrong is chosen by its token (tokens.go); the rest is an ordinary provider:
//
//	POST ─► command ─► store.update ─┬─ the key's record, or the operation     (one journal line:
//	 (strict JSON, Idempotency-Key)  └─ charge, ledger, events, key             all of it or nothing)
//	                     └─► fsync ─► the token's fault, or the response
//	Run ─► plans (a charge's later steps) and events (webhooks, until a 2xx)
//
// An action at the provider without a call of the merchant is an act of its dashboard (dispute.go, dashboard.go). It
// takes no Idempotency-Key: each call repeats the act.
//
//	POST /v1/dashboard/charges/{id}/refund   {amount}                           without a reference of the merchant's
//	POST /v1/dashboard/charges/{id}/dispute  {amount, reason, due_by, warning}  takes the money, but for a warning
//	POST /v1/dashboard/disputes/{id}/{act}   open, evidence, win, lose, accept  moves the money as the status requires
//
// Each sends its webhook (refund.succeeded; dispute.warning, opened, updated, won, lost, accepted), stands in the ledger
// if it moved money, and is in lookups of the charge. A dispute's money movement is named by its entry of the ledger; the
// webhook has the entry as entry_id. A refund is named by its id.
//
// Two lists, in pages of at most 100 (from, to, cursor, limit), show facts that no webhook brought. GET /v1/balance is the
// ledger with fee (1.4 % and 25 minor units of a charge), net and the payout of each day that is over (books.go).
// GET /v1/events has each event as its webhook has it, including events that are never delivered (Options.Lose).
//
// Guarantees: one key is one operation, however many calls have it at once. A
// response reports only state that is on disk. Work that a kill interrupts (an
// undelivered webhook, a charge that decides itself later) goes on when the state file
// is opened again. The ledger has an entry for each movement and for nothing else.
//
// The drop-in (dropin.js) is a script for a shop's page, as real providers have one.
// The shop's backend creates a charge with the token tok_dropin and gives the page its
// client_secret; the script shows the customer the other tokens and confirms the charge
// with the one that is chosen, once, from the browser. A charge that was canceled, by
// the shop or by paylatch, can't be confirmed any more.
//
// It does not expire charges, and forgets nothing: the journal grows until the file is deleted. It authenticates callers only
// for the drop-in, or if it has an API key. Only the tester must be able to reach it.
package sandbox
