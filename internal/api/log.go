package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/cardnumber"
)

// logged writes one line a request, after it was answered. It never holds a
// body, a token or a key.
func (s *server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			c.Error(err)
		}
		if x := exchangeIn(c); !x.waits {
			s.log(x, c.Path(), c.Response().Status)
		}
		return nil
	}
}

// log writes the line of a request.
func (s *server) log(x *exchange, route string, status int) {
	level, cause := zerolog.InfoLevel, error(nil)
	if status >= http.StatusInternalServerError {
		level, cause = zerolog.ErrorLevel, x.cause
	}
	s.Log.WithLevel(level).Err(cause).
		Str("request_id", x.requestID).Str("method", x.method).Str("route", route).
		Int("status", status).Dur("took_ms", s.Now().Sub(x.begun)).
		EmbedObject(x).Msg("request")
	s.Observe(x.served(route, status, s.Now()))
}

// MarshalZerologObject implements zerolog.LogObjectMarshaler with what is known.
func (x *exchange) MarshalZerologObject(e *zerolog.Event) {
	for _, field := range [...]struct{ name, value string }{
		{"peer", x.peer},
		{"origin", withoutCard(x.origin)},
		{"sub", withoutCard(x.subject)},
		{"on_behalf_of", withoutCard(x.onBehalfOf)},
		{"code", x.code},
		{"idempotency_key_hash", keyHash(string(x.key))},
		{"idempotency_result", string(x.result)},
		{"order_id", string(x.order)},
		{"attempt_id", x.attempt},
		{"refund_id", x.refund},
		{"account", x.account},
		{"verdict", verdicts(x.verdicts)},
	} {
		if field.value != "" {
			e.Str(field.name, field.value)
		}
	}
}

// withoutCard is what a caller says of itself, or nothing where that holds a card number.
func withoutCard(said string) string {
	if cardnumber.In(said) {
		return ""
	}
	return said
}

// Seen notes for the log whose request it is, where the API did not find that out itself.
func Seen(ctx context.Context, subject string) {
	if x := exchangeOf(ctx); x != nil {
		x.subject = subject
	}
}

// keyHash names a key in the log without telling it.
func keyHash(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:12]
}

func verdicts(list []fsm.Verdict) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v)
	}
	return strings.Join(texts, ",")
}
