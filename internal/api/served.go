package api

import (
	"net/http"
	"time"

	"github.com/paylatch/paylatch/internal/idempotency"
)

// served is what can be told of an exchange without naming anybody.
func (x *exchange) served(route string, status int, now time.Time) Served {
	s := Served{
		Method: "other", Route: route, Status: status, Took: now.Sub(x.begun),
		Code: x.code, Account: x.account, Verdicts: x.verdicts,
	}
	switch x.method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		s.Method = x.method
	}
	if x.operation != "" {
		s.Operation, s.Worked, s.KeyResult = x.operation, now.Sub(x.commanded), x.keyResult()
	}
	return s
}

func (x *exchange) keyResult() KeyResult {
	switch {
	case x.tookOver:
		return KeyTakeover
	case x.result == idempotency.Created:
		return KeyCreated
	case x.result == idempotency.Reused:
		return KeyReused
	}
	switch x.code {
	case "idempotency-key-reused":
		return KeyConflict
	case "request-in-progress":
		return KeyInProgress
	case "quota-exceeded":
		return KeyQuota
	}
	return ""
}
