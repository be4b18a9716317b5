// Package faults breaks the network between two programs of a test, and between a browser and a shop.
//
// HTTP is a proxy before a provider, a shop or a service, and sees whole requests; a Fault decides their fate. TCP is a proxy
// before any server, such as a database, and sees connections.
//
//	service ─► HTTP: Drop, Lose, Cut, Answer, Hang, Delay, Late, Repeat, a Hold before or after ─► provider
//	service ─► TCP:  Freeze and Thaw, Blackhole, Reset, CutAfter                    ─► PostgreSQL
//
// WorstBodies are request bodies that are expensive to read.
//
// A request that HTTP has begun to pass on ends with the test and not with the caller: a provider works on when its caller has
// died.
package faults

import "context"

// TB is the part of testing.TB that the proxies need: the program links this package for a rehearsal, and no test code.
type TB interface {
	Helper()
	Fatal(args ...any)
	Cleanup(do func())
	Context() context.Context
}
