package faults

import (
	"sync"
	"sync/atomic"
)

// Hold keeps requests at a place of their way until it is freed, however long their callers wait.
type Hold struct {
	held    atomic.Int64
	reached chan struct{}
	freed   chan struct{}
	first   func()
	free    func()
}

// NewHold returns a hold that is freed at the end of the test at the latest.
func NewHold(tb TB) *Hold {
	tb.Helper()
	h := OpenHold()
	tb.Cleanup(h.free)
	return h
}

// OpenHold returns a hold that its caller must free.
func OpenHold() *Hold {
	h := &Hold{reached: make(chan struct{}), freed: make(chan struct{})}
	h.first = sync.OnceFunc(func() { close(h.reached) })
	h.free = sync.OnceFunc(func() { close(h.freed) })
	return h
}

// Before keeps a request on its way to the server. It arrives once the hold is freed, also when its caller has gone.
func (h *Hold) Before(on Way) Way {
	return func(r *Request) *Response {
		h.keep()
		return on(r)
	}
}

// After holds the response on its way back: the server has done the request.
func (h *Hold) After(on Way) Way {
	return func(r *Request) *Response {
		a := on(r)
		h.keep()
		return a
	}
}

func (h *Hold) keep() {
	h.held.Add(1)
	h.first()
	<-h.freed
}

// Reached is closed when the first request is held.
func (h *Hold) Reached() <-chan struct{} { return h.reached }

// Held is how many requests have been held so far, including requests that have gone on.
func (h *Hold) Held() int64 { return h.held.Load() }

// Free lets the held requests go, and holds no more requests from now on.
func (h *Hold) Free() { h.free() }
