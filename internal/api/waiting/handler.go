package waiting

import (
	"context"
	"net/http"
	"time"
)

// Wait is the part of a request that may take long.
type Wait struct {
	slot slot
	// wait writes the response in the end, atOnce without waiting; both return its status.
	wait   func(c *connection) int
	atOnce func(w http.ResponseWriter) int
	// done gets the status.
	done func(status int)
}

type leftKey struct{}

// Handler runs next, and then the wait that it has left with Leave. net/http keeps for each request that is under way
// three buffers, two goroutines and the stack that authentication has grown, and for a connection that was taken from it
// nothing: a waiter so costs its connection and one small goroutine.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		var left *Wait
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), leftKey{}, &left)))
		if left == nil {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // as of HTTP/2
			left.end(left.atOnce(w))
			return
		}
		_ = conn.SetDeadline(time.Time{})
		c := &connection{conn: conn, header: w.Header().Clone()}
		go func() {
			defer conn.Close() //nolint:errcheck // there is nothing more to do
			left.end(left.wait(c))
		}()
	})
}

// Leave runs wait once the handlers of a request have returned, and then done. The request must be a GET that
// came through Handler. The headers set so far are sent.
func Leave(ctx context.Context, wait *Wait, done func(status int)) {
	left, _ := ctx.Value(leftKey{}).(**Wait)
	wait.done, *left = done, wait
}

// end frees the slot when all is done: the hub's end waits for it.
func (l *Wait) end(status int) {
	l.done(status)
	l.slot.free()
}
