package testdb

import (
	"errors"
	"testing"

	"github.com/paylatch/paylatch/internal/payment"
)

// Fails returns a log for a background task of a test. An error fails the test, except that the database did not answer in time: that
// happens on a busy machine, and the task tries again.
func Fails(tb testing.TB, task string) func(error) {
	tb.Helper()
	return func(err error) {
		if errors.Is(err, payment.ErrUnavailable) {
			tb.Logf("%s: %v", task, err)
			return
		}
		tb.Errorf("%s: %v", task, err)
	}
}
