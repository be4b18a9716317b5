package groupcommit_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/paylatch/paylatch/internal/platform/groupcommit"
)

// BenchmarkDo compares a group with one flush per item. A flush takes as long as an fsync, and the disk does one flush
// at a time.
func BenchmarkDo(b *testing.B) {
	var disk sync.Mutex
	fsync := func(context.Context, *groupcommit.Batch[int]) error {
		disk.Lock()
		defer disk.Unlock()
		time.Sleep(time.Millisecond)
		return nil
	}
	g := groupcommit.New(groupcommit.Options[int]{Flush: fsync, Batch: groupcommit.Limits{Items: 128}})
	for name, do := range map[string]func() error{
		"alone": func() error { return fsync(b.Context(), nil) },
		"group": func() error { return g.Do(b.Context(), 1) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(64)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := do(); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkDo_lone measures the cost of a group for a lone item.
func BenchmarkDo_lone(b *testing.B) {
	g := groupcommit.New(groupcommit.Options[int]{
		Flush: func(context.Context, *groupcommit.Batch[int]) error { return nil },
		Batch: groupcommit.Limits{Items: 128}, Linger: time.Millisecond, Stall: time.Second,
	})
	for b.Loop() {
		if err := g.Do(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}
