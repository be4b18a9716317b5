// Package rejected keeps deliveries with a wrong signature for a day, encrypted. Their signature matches no secret of
// their account. It verifies them again once the account's configuration has changed. So genuine deliveries of a time
// with a wrong secret are taken in then, as if they had just come, with the time of their arrival.
//
//	Keep ─► memory, bounded ─► Flush ─► sealed rows, the newest of each account ─► VerifyAgain ─► intake
//
// Anyone may send anything to an endpoint, so keeping costs little and never delays a response: there is a rate limit for each
// account and each network, a memory limit for each account, and one write a second at most. Deliveries beyond the limits are
// dropped and counted. A provider sends refused deliveries again for a while; its list of events has the others.
//
// A delivery may be taken in more than once, by several processes, by its provider's next try or by a backfill: the intake acts
// once on each event.
package rejected
