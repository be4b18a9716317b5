package main

import (
	"os"
	"time"
	_ "unsafe" // for go:linkname
)

// now is a clock that is off by CLOCK_OFF, a duration.
func now() time.Time { return time.Now().Add(off) }

var off, _ = time.ParseDuration(os.Getenv("CLOCK_OFF"))

// timeOfIDs is the clock of new ids.
//
//go:linkname timeOfIDs github.com/google/uuid.timeNow
var timeOfIDs func() time.Time

func init() { timeOfIDs = now }
