package main

import "runtime"

// heapFloor is how much garbage may gather, in bytes, before it is collected
// however little is in use. The collector otherwise runs each time that the heap
// has doubled, which for a few megabytes is many times a second under load.
const heapFloor = 48 << 20

// keepHeapFloor counts the floor as used, without a page of it ever being
// touched, until its end is called.
func keepHeapFloor() (end func()) {
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}
