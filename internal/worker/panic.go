package worker

import (
	"fmt"
	"runtime/debug"
)

// caught returns what do returns, or its panic as an error with the stack: one item must
// not end the process, and with it the work on all others.
func caught(do func() error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panic: %v\n%s", thrown, debug.Stack())
		}
	}()
	return do()
}
