package fsm_test

import (
	"testing"

	"github.com/paylatch/paylatch/fsm"
)

func BenchmarkNext(b *testing.B) {
	for _, bm := range []struct {
		name string
		from fsm.State
		news fsm.News
	}{
		{"moves", fsm.Requested, fsm.NewsSucceeded},
		{"repeat", fsm.Succeeded, fsm.NewsSucceeded},
		{"stale", fsm.Succeeded, fsm.NewsProcessing},
		{"applied beside", fsm.Succeeded, fsm.NewsDisputed},
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
