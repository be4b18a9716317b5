// Package stream wakes waiters when their topic has changed, in any process. A subscription costs neither a database
// connection nor a lock.
//
//	a commit ─► Hub.Changed ─┬─► subscriptions of this process
//	                         └─► Hub.Announce ─► NOTIFY, many ids in one, no sooner than the commit
//	LISTEN, one connection a process ─► subscriptions of this process
//	a comparison of all versions, each second ─► changes with a lost notification
//
// A waiter subscribes first and reads then, so no change falls between the two. A changed topic is read once for all its
// waiters, in one statement with all other topics that have changed meanwhile. Notifications are hints: a lost notification
// costs a second, never a wrong response, and a superfluous notification costs a read.
//
// Changes that follow each other quickly may wake once: a waiter gets the last state, not each state in between. So a slow
// waiter blocks nothing and keeps nothing in memory.
//
// The package depends neither on the kind of topic nor on its storage: see [Bus] and [Options].
package stream
