// Package stream wakes waiters when what they wait for has changed, whichever process changed it. A subscription costs
// neither a database connection nor a lock.
//
//	a commit ─► Hub.Changed ─┬─► subscriptions of this process
//	                         └─► Hub.Announce ─► NOTIFY, many ids in one, no sooner than the commit
//	LISTEN, one connection a process ─► subscriptions of this process
//	a comparison of all versions, each second ─► changes with a lost notification
//
// A waiter subscribes first and reads then, so no change falls between the two. What has changed is read once for all
// its waiters, in one statement with all else that has changed meanwhile. Notifications are hints: a lost one costs a
// second, never a wrong response, and one too many costs a read.
//
// Changes that follow each other quickly may wake once: a waiter gets the last state, not each on the way there. So a
// slow one blocks nothing and keeps nothing in memory.
//
// The package depends neither on what is waited for nor on where it is kept: see [Bus] and [Options].
package stream
