package main

import "time"

// now is the clock of the program; everything that is wired here takes the time from it. Exceptions are durations that are only
// measured (deadlines of sockets, pauses, leases while they are renewed), the ids, the libraries, and the sandbox, which has the
// clock of a provider. Leases and schedules use the database's clock. internal/dev/e2e builds the program with a clock that is
// wrong.
func now() time.Time { return time.Now() } //nolint:forbidigo // the one place
