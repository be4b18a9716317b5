package worker

import (
	"fmt"
	"runtime/debug"
)

// caught returns the error of do, or its panic as an error with the stack. One item must not end the process, and with it
// the work on all other items.
func caught(do func() error) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("panic: %v\n%s", thrown, debug.Stack())
		}
	}()
	return do()
}
