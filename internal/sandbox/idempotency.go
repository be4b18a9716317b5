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

// keyRecord is what is remembered of an idempotency key, for ever. Without a
// status its first try met a fault before anything was done: the next one runs.
type keyRecord struct {
	Key    string `json:"key"`
	Hash   string `json:"hash"`
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	Await  string `json:"await,omitempty"`
}

// call is one call of a command.
type call struct {
	id      string // of the charge in the path
	key     string
	hash    string
	base    string // the address that the caller used
	retried bool   // an earlier call with the key met a fault and did nothing
}

// result is what an operation makes of a call.
type result struct {
	value any
	err   *apiError
	fault fault  // met by this call, and by no other with its key
	again bool   // nothing was done: the key's next call does it
	await string // the event that must be received before the answer goes out

	reply    reply
	replayed bool
}

func refuse(status int, code, message string) result {
	return result{err: &apiError{status: status, Code: code, Message: message}}
}

// command makes a handler of an operation: the operation runs once for each key,
// in one journal line with its answer.
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
		s.answer(w, r, res)
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

// once runs an operation unless the key has an answer already.
func (t *tx) once(c call, status int, run func(call) result) result {
	known, seen := t.keys[c.key]
	switch {
	case seen && known.Hash != c.hash:
		return refuse(http.StatusConflict, "idempotency_key_reused", "The key was used for another request.").replied(status)
	case seen && known.Status != 0:
		reply := reply{status: known.Status, body: []byte(known.Body)}
		return result{reply: reply, await: known.Await, replayed: true}
	}
	c.retried = seen
	res := run(c).replied(status)
	if res.keepsKey() {
		t.entry.Keys = append(t.entry.Keys, keyRecord{Key: c.key, Hash: c.hash, Await: res.await})
		if !res.again {
			last := &t.entry.Keys[len(t.entry.Keys)-1]
			last.Status, last.Body = res.reply.status, string(res.reply.body)
		}
	}
	return res
}

// keepsKey is false for what the same request would meet again anyway.
func (res result) keepsKey() bool {
	return res.err == nil || res.err.status == http.StatusConflict
}

func (res result) replied(status int) result {
	if res.err != nil {
		res.reply = errorReply(res.err)
	} else {
		res.reply = jsonReply(status, res.value)
	}
	return res
}

// answer sends the result, or what the token wants in its place.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, res result) {
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

// hang ends without an answer. The panic is net/http's documented way to close
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
