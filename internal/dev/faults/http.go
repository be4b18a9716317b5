package faults

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
)

// HTTP is a proxy before a server.
type HTTP struct {
	// URL is its own address.
	URL string

	ctx    context.Context
	wire   *http.Transport
	always []Fault

	mu     sync.Mutex
	to     string
	faults []Fault
	counts map[string]int64
}

// NewHTTP returns a proxy before the server at an address such as http://127.0.0.1:1234. With an empty address it responds 503.
// Permanent faults come before the faults of Break. The proxy ends with the test.
func NewHTTP(tb TB, to string, always ...Fault) *HTTP {
	tb.Helper()
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &HTTP{
		URL: "http://" + l.Addr().String(), ctx: tb.Context(), to: to, always: always, counts: map[string]int64{},
		wire: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
	var all sync.WaitGroup
	s := &http.Server{ //nolint:gosec // G112: its callers are the test's own programs
		Handler: p,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				all.Add(1)
			case http.StateClosed, http.StateHijacked:
				all.Done()
			case http.StateActive, http.StateIdle:
			}
		},
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l)
	}()
	tb.Cleanup(func() {
		_ = s.Close()
		<-served
		all.Wait()
	})
	return p
}

// Forward returns a handler that passes each request on to the request's own address, as a browser's proxy does, until ctx ends.
func Forward(ctx context.Context, wire *http.Transport) *HTTP {
	return &HTTP{ctx: ctx, counts: map[string]int64{}, wire: wire}
}

// Lead has the proxy lead to another server from now on.
func (p *HTTP) Lead(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
}

// Break lets faults happen to the requests that arrive from now on, the first one outermost, in place of earlier ones.
func (p *HTTP) Break(faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
}

// Mend lets requests pass that arrive from now on. Held requests stay held.
func (p *HTTP) Mend() { p.Break() }

// Count is how many requests of a kind, such as "POST /v1/charges", have arrived, whether or not they passed.
func (p *HTTP) Count(kind string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[kind]
}

// ServeHTTP implements http.Handler.
func (p *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	a := p.way(r)(&Request{r, body})
	if a == nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	if !a.Cut {
		_, _ = w.Write(a.Body)
		return
	}
	_, _ = w.Write(a.Body[:len(a.Body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// way is the way of a request that arrives now.
func (p *HTTP) way(r *http.Request) Way {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[r.Method+" "+r.URL.Path]++
	way := p.pass
	for _, faults := range [][]Fault{p.faults, p.always} {
		for i := range faults {
			way = faults[len(faults)-1-i](way)
		}
	}
	return way
}

// pass sends a request on. A server that can't be reached is no response.
func (p *HTTP) pass(r *Request) *Response {
	p.mu.Lock()
	to := p.to
	p.mu.Unlock()
	target := to + r.URL.RequestURI()
	switch {
	case r.URL.IsAbs():
		target = r.URL.String()
	case to == "":
		return &Response{Status: http.StatusServiceUnavailable}
	}
	out, err := http.NewRequestWithContext(p.ctx, r.Method, target, bytes.NewReader(r.Body))
	if err != nil {
		return nil
	}
	out.Header = r.Header.Clone()
	resp, err := p.wire.RoundTrip(out)
	if err != nil {
		return nil
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	resp.Header.Del("Connection")
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}
}
