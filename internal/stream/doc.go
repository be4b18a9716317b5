// Package stream tells those who wait for something that it has changed,
// whichever process changed it. Waiting costs neither a database connection nor
// a lock nor a goroutine: a waiter is an entry in a list.
//
//	a commit ─► Hub.Changed ─┬─► waiters of this process
//	                         └─► Hub.Announce ─► NOTIFY, many ids in one, no sooner than the commit
//	LISTEN, one connection a process ─► waiters of this process
//	a look at all that is waited for, each second ─► what a notification failed to tell
//
// Who waits joins first and reads then, so nothing falls between the two. What
// has changed is read once for all who wait for it, in one statement with all else
// that has changed meanwhile. Notifications are hints: one that is lost costs a
// second, never a wrong answer, and one too many costs a read.
//
// Changes that follow each other quickly may be told as one: a waiter gets the
// last state, not each on the way there. So a slow one holds nothing up and keeps
// nothing in memory.
//
// The package knows neither what is waited for nor where it is kept: see [Bus]
// and [Options].
package stream
