package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// stub is a provider with the sandbox's API that accepts every charge at once, so that the benchmark measures paylatch and not
// the provider.
type stub struct {
	url     string
	server  *http.Server
	charges atomic.Int64
	// slow counts charges of tok_slow, which wait for gate.
	slow atomic.Int64
	gate atomic.Pointer[gate]
}

type gate struct{ asked, release chan struct{} }

// hold makes the next slow charge wait for the second channel. The first channel receives a value when the charge waits.
func (s *stub) hold() (asked, release chan struct{}) {
	g := &gate{make(chan struct{}, 1), make(chan struct{})}
	s.gate.Store(g)
	return g.asked, g.release
}

func newStub(ctx context.Context) (*stub, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the stub provider: %w", err)
	}
	s := &stub{url: "http://" + l.Addr().String()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/charges", s.charge)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (s *stub) charge(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Amount int64  `json:"amount"`
		Token  string `json:"token"`
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil || json.Unmarshal(raw, &in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if g := s.gate.Load(); in.Token == "tok_slow" && g != nil {
		s.slow.Add(1)
		g.asked <- struct{}{}
		<-g.release
	}
	s.charges.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	//nolint:gosec // JSON for the program alone
	_, _ = fmt.Fprintf(w, `{"id":"ch_%s","status":"succeeded","amount":%d,"amount_captured":%d,"currency":"EUR"}`,
		md5Of(r.Header.Get("Idempotency-Key")), in.Amount, in.Amount)
}

func (s *stub) close() { _ = s.server.Close() }
