package main

import (
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/rs/zerolog"
)

const (
	// heapGrowth is how much the heap may grow between two garbage collections, in percent of the memory in use. The service uses
	// little memory and allocates much, so Go's default of 100 would take a fifth of its processor time.
	heapGrowth = 400
	// ofCgroup and ofMachine are the parts of the memory that Go's soft limit allows: most of a container's, but only a quarter of a
	// machine's, where PostgreSQL may run beside the service. Near the limit, collections become more frequent.
	ofCgroup, ofMachine = 0.8, 0.25
)

// tuneMemory sets the garbage collector to the memory that the process may use. GOGC, GOMEMLIMIT and AUTOMEMLIMIT=off in the
// environment take precedence.
func tuneMemory(log zerolog.Logger) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	allowed := memlimit.ApplyFallback(
		memlimit.ApplyRatio(memlimit.FromCgroup, ofCgroup),
		memlimit.ApplyRatio(memlimit.FromSystem, ofMachine))
	if _, err := memlimit.Set(memlimit.WithRatio(1), memlimit.WithProvider(allowed)); err != nil {
		log.Warn().Err(err).Msg("the memory of this machine is unknown; set GOMEMLIMIT below the service's memory limit")
	}
}
