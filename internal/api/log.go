package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/redact"
)

// AccessLog writes one line a request and measures it. The line never holds a body, a token or a key.
type AccessLog struct {
	Log zerolog.Logger
	// Refusals gets the lines of requests that were refused (4xx), in place of Log; nil for Log.
	Refusals *zerolog.Logger
	Observe  func(metrics.Request)
	Now      func() time.Time
}

// Write logs a request after its response.
func (l AccessLog) Write(r *AccessRecord, route string, status int) {
	level, cause := zerolog.InfoLevel, error(nil)
	if status >= http.StatusInternalServerError {
		level, cause = zerolog.ErrorLevel, r.Cause
	} else if r.Cut != nil {
		level, cause = zerolog.ErrorLevel, r.Cut
	}
	now, log := l.Now(), &l.Log
	if l.Refusals != nil && status >= http.StatusBadRequest && level == zerolog.InfoLevel {
		log = l.Refusals
	}
	log.WithLevel(level).Err(cause).
		Str("request_id", r.RequestID).Str("method", r.Method).Str("route", route).
		Int("status", status).Dur("took_ms", now.Sub(r.Begun)).
		EmbedObject(r).Msg("request")
	l.Observe(r.measured(route, status, now))
}

// MarshalZerologObject implements zerolog.LogObjectMarshaler with the fields that are not empty.
func (r *AccessRecord) MarshalZerologObject(e *zerolog.Event) {
	if r.Span.Valid() {
		e.Stringer("trace_id", r.Span.Trace).Stringer("span_id", r.Span.Span)
	}
	for _, field := range [...]struct{ name, value string }{
		{"peer", r.Peer},
		{"origin", withoutCard(r.Origin)},
		{"sub", withoutCard(r.Subject)},
		{"on_behalf_of", withoutCard(r.OnBehalfOf)},
		{"code", r.Code},
		{"idempotency_key_hash", keyHash(string(r.Key))},
		{"idempotency_result", string(r.Result)},
		{"order_id", string(r.Order)},
		{"attempt_id", r.Attempt},
		{"refund_id", r.Refund},
		{"dispute_id", r.Dispute},
		{"account", r.Account},
		{"verdict", VerdictsText(r.Verdicts)},
	} {
		if field.value != "" {
			e.Str(field.name, field.value)
		}
	}
}

// withoutCard is empty for a text with a card number.
func withoutCard(text string) string {
	if redact.CardNumberIn(text) {
		return ""
	}
	return text
}

// keyHash identifies a key in the log without showing it.
func keyHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:12]
}

// VerdictsText is a list of verdicts as a text.
func VerdictsText(list []fsm.Verdict) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	return strings.Join(texts, ",")
}
