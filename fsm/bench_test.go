package fsm_test

import (
	"testing"

	"github.com/paylatch/paylatch/fsm"
)

func BenchmarkNext(b *testing.B) {
	for _, bm := range []struct {
		name string
		from fsm.State
		news fsm.Event
	}{
		{"moves", fsm.Requested, fsm.EventSucceeded},
		{"repeat", fsm.Succeeded, fsm.EventSucceeded},
		{"stale", fsm.Succeeded, fsm.EventProcessing},
		{"applied beside", fsm.Succeeded, fsm.EventDisputed},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fsm.Next(bm.from, bm.news); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
