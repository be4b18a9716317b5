// Package waiting serves waiters for a change of an attempt: long polls and server-sent events.
//
//	subscribe ─► read the attempt ─► respond at once
//	                              └─► leave the wait ─► take the connection from net/http ─► one goroutine that reads it
//
// The goroutine's read ends with the peer, and by its deadline at a wake of the hub, at the end of the time, and when a
// heartbeat is due. docs/decisions/0009 has the figures.
package waiting
