// Package timerslack lets the kernel wake the program a little later than it asked
// for, and so far less often.
//
// While there is work, Go's runtime has a thread (sysmon) that looks around every
// 20 µs. Linux may let a thread sleep longer than it asked for, by its timer slack,
// which is 50 µs unless somebody says otherwise. Each wake interrupts what runs on
// that processor, PostgreSQL for one, and on a virtual machine it costs 12 µs: a
// ninth of what the program used under load, and a quarter at one client
// (docs/decisions/0017).
package timerslack

import "time"

const (
	// Slack is how much later a timer of the program may ring: far less than anything
	// that it waits for.
	Slack = time.Millisecond
	// usual is what Linux gives to a process that says nothing.
	usual = 50 * time.Microsecond
)
