package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// headerTraceparent is of W3C Trace Context, which names it in lower case.
const headerTraceparent = "Traceparent"

// traced begins the span of a request of the API, of a provider or of the console, and returns its context. Other requests,
// such as health checks, have no span.
func (x *Exchange) traced(route string) context.Context {
	r := x.context.Request()
	ctx := r.Context()
	if !tracing.On(ctx) || !strings.HasPrefix(route, "/v1/") && !strings.HasPrefix(route, WebhookPath) && !strings.HasPrefix(route, "/support") {
		return ctx
	}
	ctx, x.span = tracing.Request(ctx, named(r.Method)+" "+route, r.Header.Get(headerTraceparent))
	x.Span = x.span.Context()
	return ctx
}

// named is a method in the name of a span; any text may be sent as one.
func named(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// ended logs a request after its response, and ends its span.
func (s *ExchangeOptions) ended(x *Exchange, route string, status int) {
	s.Access.Write(x.AccessRecord, route, status)
	if x.span == nil {
		return
	}
	of := tracing.Of{Order: string(x.Order), Account: x.Account}
	if id, err := payment.ParseAttemptID(x.Attempt); err == nil {
		of.Refers = id
	}
	x.span.About(of)
	outcome := x.Code
	if outcome == "" {
		outcome = strconv.Itoa(status)
	}
	x.span.End(outcome, status >= http.StatusInternalServerError)
}
