package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/payment"
)

// ListAttempts handles GET /v1/orders/{order_id}/attempts.
func (s *server) ListAttempts(ctx context.Context, r gen.ListAttemptsRequestObject) (gen.ListAttemptsResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.orderID(r.OrderID)
	if err != nil {
		return nil, err
	}
	request, err := requestFilter(r.Params.ClientRequestID)
	if err != nil {
		return nil, err
	}
	views, err := s.Payments.Attempts(ctx, x.actor, id, request)
	if err != nil {
		return nil, err
	}
	list := gen.AttemptList{Items: make([]gen.Attempt, len(views))}
	for i, v := range views {
		list.Items[i] = s.attempt(v)
	}
	return answer{http.StatusOK, list}, nil
}

const longestRequest = 200

// requestFilter refuses an empty filter: it is more likely a lost id than a wish
// for everything.
func requestFilter(id *string) (payment.RequestID, error) {
	switch {
	case id == nil:
		return "", nil
	case *id == "" || len(*id) > longestRequest || !utf8.ValidString(*id) || strings.ContainsRune(*id, 0):
		return "", &payment.ValidationError{Fields: []payment.FieldError{
			{Field: "client_request_id", Message: "must have 1 to 200 characters"},
		}}
	}
	return payment.RequestID(*id), nil
}

// attemptID notes the attempt that is asked for, for the log.
func (x *exchange) attemptID(text string) (payment.AttemptID, error) {
	id, err := payment.ParseAttemptID(text)
	if err != nil {
		return id, x.actor.Unseen(err)
	}
	x.attempt = id.String()
	return id, nil
}

const headerETag = "ETag"

// showing renders an attempt and sets the headers for those who poll it.
func (s *server) showing(x *exchange, v payment.View) gen.Attempt {
	x.about(v.Attempt)
	x.header().Set(headerETag, etag(v.Version))
	if wait := s.retryAfter(v); wait != "" {
		x.header().Set(echo.HeaderRetryAfter, wait)
	}
	return s.attempt(v)
}

func etag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// retryAfter says when to ask again; it is empty when there is nothing to wait
// for.
func (s *server) retryAfter(v payment.View) string {
	if v.State.Final() {
		return ""
	}
	return strconv.FormatInt(seconds(s.pollAfter(v.Attempt)), 10)
}

// matches compares as RFC 9110 wants it for If-None-Match: weakly, any of a list.
func matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}
