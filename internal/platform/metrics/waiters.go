package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/paylatch/paylatch/internal/platform/stream"
)

// waiters returns the counts of the hub of long polls and streams.
func waiters(stats func() stream.Stats) []prometheus.Collector {
	gauge := func(name, help string, of func(stream.Stats) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(of(stats())) })
	}
	counter := func(name, help string, of func(stream.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of(stats())) })
	}
	return []prometheus.Collector{
		gauge("paylatch_waiters", "Long polls and streams that wait.", func(s stream.Stats) int { return s.Waiters }),
		gauge("paylatch_waited_attempts", "Attempts that have waiters.", func(s stream.Stats) int { return s.Topics }),
		gauge("paylatch_listening", "1 while the process is connected for notices of other processes.", func(s stream.Stats) int {
			if s.Listening {
				return 1
			}
			return 0
		}),
		counter("paylatch_waiter_wakes_total", "Waiters woken by a change.", func(s stream.Stats) uint64 { return s.Wakes }),
		counter("paylatch_waiters_refused_total", "Long polls and streams refused because of max_waiters.", func(s stream.Stats) uint64 { return s.Refused }),
		counter("paylatch_notices_sent_total", "Notices of changes sent to other processes, each of many attempts.", func(s stream.Stats) uint64 { return s.Announced }),
		counter("paylatch_notices_heard_total", "Notices of changes received from other processes.", func(s stream.Stats) uint64 { return s.Received }),
		counter("paylatch_waiter_looks_total", "Comparisons that search for changes with a lost notice.", func(s stream.Stats) uint64 { return s.Compares }),
		counter("paylatch_waiter_reads_total", "Reads of changed attempts, each for all waiters of the attempt.", func(s stream.Stats) uint64 { return s.Reads }),
	}
}
