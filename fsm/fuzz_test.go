package fsm_test

import (
	"testing"
)

func FuzzNext(f *testing.F) { fuzz(f, attemptLife()) }

func FuzzNextRefund(f *testing.F) { fuzz(f, refundLife()) }

func FuzzNextOperation(f *testing.F) { fuzz(f, operationLife()) }

func FuzzNextDispute(f *testing.F) { fuzz(f, disputeLife()) }

func fuzz[S ~string](f *testing.F, m life[S]) {
	f.Helper()
	for _, from := range m.states {
		for _, event := range m.events {
			f.Add(string(from), event)
		}
	}
	f.Add("", "")
	f.Add("Requested", "succeeded ")
	f.Add("open", "dated won")
	f.Fuzz(func(t *testing.T, from, event string) { m.check(t, S(from), event) })
}
