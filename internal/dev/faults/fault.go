package faults

import (
	"net/http"
	"time"
)

// Request is a request that has arrived as a whole. Its context ends with the caller's connection.
type Request struct {
	*http.Request

	// Body is the whole body, in place of the request's own.
	Body []byte
}

// Response is the response to the caller. A nil response closes the connection without one.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// Cut closes the connection in the middle of the body.
	Cut bool
}

// Way passes a request on and returns its response.
type Way func(r *Request) *Response

// Fault turns a working way into a way with a fault.
type Fault func(on Way) Way

// Drop loses a request: it never arrives.
func Drop(Way) Way { return func(*Request) *Response { return nil } }

// Lose loses the response: the server has done the request, and the caller can't find out.
func Lose(on Way) Way {
	return func(r *Request) *Response {
		on(r)
		return nil
	}
}

// Cut loses the second half of the response's body.
func Cut(on Way) Way {
	return func(r *Request) *Response {
		a := on(r)
		if a != nil {
			a.Cut = true
		}
		return a
	}
}

// Hang keeps a request until its caller has gone; it never arrives.
func Hang(Way) Way {
	return func(r *Request) *Response {
		<-r.Context().Done()
		return nil
	}
}

// Answer responds in the place of the server, which gets nothing.
func Answer(status int, body string) Fault {
	return func(Way) Way {
		return func(*Request) *Response { return &Response{Status: status, Body: []byte(body)} }
	}
}

// Delay passes a request on after a time, or not at all when its caller has gone by then.
func Delay(by time.Duration) Fault {
	return func(on Way) Way {
		return func(r *Request) *Response {
			late := time.NewTimer(by)
			defer late.Stop()
			select {
			case <-late.C:
				return on(r)
			case <-r.Context().Done():
				return nil
			}
		}
	}
}

// Late keeps a response for a time after the server has done the request, or until the caller has gone.
func Late(by time.Duration) Fault {
	return func(on Way) Way {
		return func(r *Request) *Response {
			a := on(r)
			late := time.NewTimer(by)
			defer late.Stop()
			select {
			case <-late.C:
			case <-r.Context().Done():
			}
			return a
		}
	}
}

// Repeat passes a request on twice, one after the other, as a proxy does that lost the first response. The caller gets the
// second.
func Repeat(on Way) Way {
	return func(r *Request) *Response {
		on(r)
		return on(r)
	}
}

// When lets a fault happen to the requests that match only.
func When(match func(r *Request) bool, f Fault) Fault {
	return func(on Way) Way {
		broken := f(on)
		return func(r *Request) *Response {
			if match(r) {
				return broken(r)
			}
			return on(r)
		}
	}
}

// Commands matches the requests that change something at a provider.
func Commands(r *Request) bool { return r.Method == http.MethodPost }

// First matches the first request only that another match takes.
func First(match func(r *Request) bool) func(r *Request) bool {
	once := make(chan struct{}, 1)
	return func(r *Request) bool {
		if !match(r) {
			return false
		}
		select {
		case once <- struct{}{}:
			return true
		default:
			return false
		}
	}
}
