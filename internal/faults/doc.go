// Package faults breaks the network between two programs of a test.
//
// HTTP stands before a provider, a shop or a service, and sees whole requests: what becomes of them is a Fault. TCP stands before
// anything, a database for example, and sees connections.
//
//	service ─► HTTP: Drop, Lose, Cut, Answer, Hang, Delay, a Hold before or after ─► provider
//	service ─► TCP:  Freeze and Thaw, Blackhole, Reset, CutAfter                    ─► PostgreSQL
//
// WorstBodies are request bodies that are dear to read.
//
// What HTTP has begun to pass on ends with the test and not with the caller: a provider works on when its caller has died.
package faults
