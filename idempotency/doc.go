// Package idempotency executes a command once, however often a client sends it. It is not tied to payments: a command is a
// user, an endpoint, a key, and the hash of the request.
//
// The life of a key, in one row:
//
//	(none) ── KeyClaim ──► running ── KeyRespond ──► answered ── expiry ──► (none)
//	                         │  ▲
//	             lease ends  └──┘ KeyClaim by another runner: the fencing token rises,
//	                             and the old runner's response is refused
//
// The rules hold for every [Store]:
//
//	same key, same request        the first response again
//	same key, another request     ErrKeyReused; the first request is untouched
//	the first request is running  wait, then ErrInProgress
//	refused before its execution  the key stays free
//
// # Choosing a function
//
// [Guard.InTx] is for a command with its effect in the database of the keys: both are committed together. [Guard.Do] is for a
// command that calls other services between two transactions. [Execute] is the building block of both, for commands that need the
// transaction itself or respond in a later one ([Claim.Respond]). Package echoidempotency is a middleware over a Guard, and package
// pgxstore keeps the keys in PostgreSQL.
//
// Duplicates within a process wait in memory for the first execution ([Flights]). They hold no connection and no lock.
package idempotency
