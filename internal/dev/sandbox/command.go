package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const maxKey = 255

// command makes a handler of an operation: the operation runs once for each key,
// in one journal line with its response.
func command[T request[T]](s *Server, status int, run func(*tx, call, T) result) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, in, refused := parseCall[T](w, r)
		if refused != nil {
			write(w, errorReply(refused))
			return
		}
		c.base = s.base(r)
		var res result
		err := s.store.update(func(t *tx) {
			t.lag = s.opts.Delays.Webhook
			res = t.once(c, status, func(c call) result { return run(t, c, in) })
		})
		if err != nil {
			s.opts.Log(err)
			write(w, errorReply(internalError()))
			return
		}
		s.respond(w, r, res)
	}
}

func parseCall[T request[T]](w http.ResponseWriter, r *http.Request) (call, T, *apiError) {
	var in T
	c := call{id: r.PathValue("id"), key: r.Header.Get("Idempotency-Key")}
	if c.key == "" || len(c.key) > maxKey {
		return c, in, &apiError{
			status: http.StatusBadRequest, Code: "idempotency_key_missing",
			Message: "Send an Idempotency-Key of 1 to 255 bytes.",
		}
	}
	if err := decode(w, r, &in); err != nil {
		return c, in, err
	}
	in, refused := in.checked()
	if refused != nil {
		return c, in, refused
	}
	canonical, err := json.Marshal(in)
	if err != nil {
		return c, in, invalid(err.Error())
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", r.URL.Path, canonical))
	c.hash = hex.EncodeToString(sum[:])
	return c, in, nil
}

// respond sends the result, or the token's fault instead.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, res result) {
	switch res.fault {
	case faultHang:
		s.hang(r.Context())
	case faultError:
		write(w, errorReply(internalError()))
	case faultNone:
		s.awaitDelivery(r.Context(), res.await)
		if res.replayed {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		write(w, res.reply)
	}
}

// hang ends without a response. The panic is net/http's documented way to close
// the connection with no byte sent; it is not logged.
func (s *Server) hang(ctx context.Context) {
	timer := time.NewTimer(s.opts.Delays.Hang)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.closed:
	case <-timer.C:
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) awaitDelivery(ctx context.Context, event string) {
	delivered := s.store.delivered(event)
	if delivered == nil {
		return
	}
	timer := time.NewTimer(s.opts.Delays.WebhookFirst)
	defer timer.Stop()
	select {
	case <-delivered:
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *Server) base(r *http.Request) string {
	if s.opts.PublicURL != "" {
		return strings.TrimSuffix(s.opts.PublicURL, "/")
	}
	return "http://" + r.Host
}
