// Package idempotency lets a client send a command any number of times and have
// it executed once. It is not tied to payments: a command is a user, an
// endpoint, a key, and the hash of the request.
//
// A key's life, in one row:
//
//	(none) ── Claim ──► running ── Answer ──► answered ── expiry ──► (none)
//	                      │  ▲
//	          lease ends  └──┘ Claim by another runner: the fence rises, and
//	                          what the old runner brings is refused
//
// Claim and Answer run in the caller's transaction, so that a command's effect
// and its key are on disk together or not at all. Duplicates within a process
// wait in memory on the first ([Flights]): they hold no connection and no lock.
package idempotency
