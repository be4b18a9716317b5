package api

import (
	"context"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// An AccessRecord records each request for the log and the metrics.

// AccessRecord collects the facts about one request while it is served. It belongs to the request's goroutine.
type AccessRecord struct {
	RequestID string
	// Span is the span of the request if tracing is on.
	Span   tracing.Context
	Begun  time.Time
	Method string
	// Peer is the caller's address. Origin is the page's origin, as the browser names it. Subject and OnBehalfOf come from
	// the token.
	Peer, Origin, Subject, OnBehalfOf string

	// Operation is the command; its use case was called at Commanded. Key, Result and TookOver are its idempotency key and its outcome.
	Operation string
	Commanded time.Time
	Key       idempotency.Key
	Result    idempotency.Result
	TookOver  bool

	Order    payment.OrderID
	Attempt  string
	Refund   string
	Dispute  string
	Account  string
	Verdicts []fsm.Verdict
	// Code is the problem's code. Cause is the error behind it.
	Code  string
	Cause error
	// Cut is why the body of a response that had begun has no end.
	Cut error
}

type key struct{}

// WithAccessRecord returns a context that has a record.
func WithAccessRecord(ctx context.Context, r *AccessRecord) context.Context {
	return context.WithValue(ctx, key{}, r)
}

// AccessRecordOf returns the record of a request; nil if there is none.
func AccessRecordOf(ctx context.Context) *AccessRecord {
	r, _ := ctx.Value(key{}).(*AccessRecord)
	return r
}

// SubjectSeen records a request's subject, where authentication is not the API's.
func SubjectSeen(ctx context.Context, subject string) {
	if r := AccessRecordOf(ctx); r != nil {
		r.Subject = subject
	}
}

// About records the attempt that a request is about.
func (r *AccessRecord) About(a payment.Attempt) {
	r.Order, r.Attempt, r.Account = a.OrderID, a.ID.String(), a.Account
}

// AboutRefund records the refund that a request is about.
func (r *AccessRecord) AboutRefund(of payment.Refund) {
	r.Order, r.Attempt, r.Account, r.Refund = of.OrderID, of.AttemptID.String(), of.Account, of.ID.String()
}

// AboutDispute records the dispute that a request is about.
func (r *AccessRecord) AboutDispute(of payment.Dispute) {
	r.Order, r.Attempt, r.Account, r.Dispute = of.OrderID, of.AttemptID.String(), of.Account, of.ID.String()
}

// measured returns the record for the metrics, without values that the caller sent.
func (r *AccessRecord) measured(route string, status int, now time.Time) metrics.Request {
	m := metrics.Request{
		Method: "other", Route: route, Status: status, Took: now.Sub(r.Begun),
		Code: r.Code, Account: r.Account, Verdicts: r.Verdicts,
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		m.Method = r.Method
	}
	if r.Operation != "" {
		m.Operation, m.Worked, m.KeyResult = r.Operation, now.Sub(r.Commanded), r.keyResult()
	}
	return m
}

func (r *AccessRecord) keyResult() metrics.KeyResult {
	switch {
	case r.TookOver:
		return metrics.KeyTakeover
	case r.Result == idempotency.Created:
		return metrics.KeyCreated
	case r.Result == idempotency.Reused:
		return metrics.KeyReused
	}
	switch r.Code {
	case "idempotency-key-reused":
		return metrics.KeyConflict
	case "request-in-progress":
		return metrics.KeyInProgress
	case "quota-exceeded":
		return metrics.KeyQuota
	}
	return ""
}
