package main

import "time"

// now is the clock of the program: whatever is wired here takes the time from it. What is only measured from one moment to the next
// (deadlines of sockets, pauses, leases while they are renewed) does not, nor do the ids, the libraries, and the sandbox, which has the clock of
// a provider. Leases and schedules are by the database's clock. internal/e2e builds the program with a clock that is wrong.
func now() time.Time { return time.Now() } //nolint:forbidigo // the one place
