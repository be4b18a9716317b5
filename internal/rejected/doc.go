// Package rejected keeps deliveries whose signature no secret of their account made, for a day and encrypted, and verifies them
// again once the account's configuration has changed: the genuine ones of a time with a wrong secret are taken in then, as if they
// had just come, by the time of their arrival.
//
//	Keep ─► memory, bounded ─► Flush ─► sealed rows, the newest of each account ─► VerifyAgain ─► intake
//
// Anything may be sent to an endpoint, so keeping costs little and never delays a response: a limit of rate for each account and each
// network, a limit of memory for each account, one write a second at most. What is beyond that is dropped and counted. A
// provider sends again what was refused, for a while; its list of events has the rest.
//
// A delivery may be taken in more than once, by several processes, by its provider's next try or by a backfill: the intake
// acts once on each event.
package rejected
