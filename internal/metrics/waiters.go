package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/paylatch/paylatch/internal/stream"
)

// waiters tell of long polls and streams, as their hub counts them.
func waiters(stats func() stream.Stats) []prometheus.Collector {
	gauge := func(name, help string, of func(stream.Stats) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(of(stats())) })
	}
	counter := func(name, help string, of func(stream.Stats) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of(stats())) })
	}
	return []prometheus.Collector{
		gauge("paylatch_waiters", "Long polls and streams that wait.", func(s stream.Stats) int { return s.Waiting }),
		gauge("paylatch_waited_attempts", "Attempts that somebody waits for.", func(s stream.Stats) int { return s.Things }),
		gauge("paylatch_listening", "1 while the connection stands by which other processes tell of changes.", func(s stream.Stats) int {
			if s.Listening {
				return 1
			}
			return 0
		}),
		counter("paylatch_waiter_wakes_total", "Waiters told of a change.", func(s stream.Stats) uint64 { return s.Woken }),
		counter("paylatch_waiters_refused_total", "Long polls and streams refused because max_waiters were there.", func(s stream.Stats) uint64 { return s.Refused }),
		counter("paylatch_notices_sent_total", "Notices of changes sent to other processes, each of many attempts.", func(s stream.Stats) uint64 { return s.Announced }),
		counter("paylatch_notices_heard_total", "Notices of changes heard from other processes.", func(s stream.Stats) uint64 { return s.Heard }),
		counter("paylatch_waiter_looks_total", "Looks for changes of waited attempts that nobody told of.", func(s stream.Stats) uint64 { return s.Looks }),
		counter("paylatch_waiter_reads_total", "Reads of attempts that had changed, each for all who wait.", func(s stream.Stats) uint64 { return s.Reads }),
	}
}
