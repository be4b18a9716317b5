// Package idempotency lets a client send a command any number of times and have
// it executed once. It is not tied to payments: a command is a user, an
// endpoint, a key, and the hash of the request.
//
// A key's life, in one row:
//
//	(none) ── KeyClaim ──► running ── KeyRespond ──► answered ── expiry ──► (none)
//	                         │  ▲
//	             lease ends  └──┘ KeyClaim by another runner: the fence rises, and
//	                             what the old runner stores is refused
//
// The rules are here, once, for whatever keeps the rows ([Store], the port):
//
//	same key, same request     the first response again
//	same key, another request  ErrKeyReused; the first is untouched
//	the first is under way     wait, then ErrInProgress
//	refused before executing   the key is not used up
//
// # Which way in
//
// [Guard.InTx] is for a command whose effect is in the database of the keys: both are on disk
// together or not at all. [Guard.Do] is for one that calls others, between two transactions. [Execute] is
// what both are made of, for commands that need the transaction itself, or respond in a later one
// ([Claim.Respond]); paylatch's own commands run on it. Package echoidempotency is a middleware over a
// Guard, package pgxstore keeps the keys in PostgreSQL.
//
// Duplicates within a process wait in memory on the first ([Flights]): they hold no connection
// and no lock.
package idempotency
