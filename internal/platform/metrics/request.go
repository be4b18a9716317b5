package metrics

import (
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// Request is a finished request. Its texts come from the program and its configuration, never from the caller, so they
// can be labels.
type Request struct {
	// Method is "other" for a method that no call has. Route is empty for a path that no call has.
	Method, Route string
	Status        int
	Took          time.Duration
	// Code is the problem's code; may be empty.
	Code     string
	Account  string
	Verdicts []fsm.Verdict
	// Operation is the contract's name of a command that was called, empty for all else. Worked is
	// how long the use case took.
	Operation string
	Worked    time.Duration
	// KeyResult is the result of the command's key; may be empty.
	KeyResult KeyResult
}

// KeyResult is the result of a command's idempotency key.
type KeyResult string

// The results of a key.
const (
	// KeyCreated commands were executed. KeyTakeover commands were resumed at the point at which an earlier runner had stopped.
	KeyCreated  KeyResult = "created"
	KeyTakeover KeyResult = "takeover"
	// KeyReused commands got an earlier request's response, KeyInProgress ones waited for it, or for another command, in
	// vain.
	KeyReused     KeyResult = "reused"
	KeyInProgress KeyResult = "in_progress"
	// KeyConflict and KeyQuota commands were refused for their key.
	KeyConflict KeyResult = "conflict"
	KeyQuota    KeyResult = "quota"
)

// Observe counts a finished request.
func (m *Metrics) Observe(s Request) {
	route := s.Route
	if route == "" {
		route = "(none)"
	}
	m.requests.WithLabelValues(s.Method, route, strconv.Itoa(s.Status)).Inc()
	m.durations.WithLabelValues(s.Method, route).Observe(s.Took.Seconds())
	if s.KeyResult != "" {
		m.command(s)
	}
	if strings.HasPrefix(s.Route, "/webhooks/") {
		m.delivery(s)
	}
}

func (m *Metrics) command(s Request) {
	m.commands.WithLabelValues(s.Operation, string(s.KeyResult)).Inc()
	switch s.KeyResult {
	case KeyCreated, KeyTakeover:
		m.processing.WithLabelValues(s.Operation).Observe(s.Worked.Seconds())
	case KeyReused, KeyInProgress:
		m.waits.Observe(s.Worked.Seconds())
	case KeyConflict, KeyQuota:
	}
}

func (m *Metrics) delivery(s Request) {
	account := s.Account
	if account == "" {
		account = "(unknown)" // no configured account can have this name
	}
	for _, v := range s.Verdicts {
		m.webhooks.WithLabelValues(account, string(v)).Inc()
	}
	if s.Code != "" {
		m.refused.WithLabelValues(account, s.Code).Inc()
	}
}
