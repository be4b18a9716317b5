package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
)

// ReadAttempt handles GET /v1/payment-attempts/{payment_attempt_id}. Who wants to
// wait takes a seat before the attempt is read, so that no change is missed.
func (s *server) ReadAttempt(ctx context.Context, r gen.ReadAttemptRequestObject) (gen.ReadAttemptResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.attemptID(r.PaymentAttemptID)
	if err != nil {
		return nil, err
	}
	wish, err := x.wish(r.Params)
	if err != nil {
		return nil, err
	}
	var place seat
	if wish.patience > 0 {
		place = s.seat(x.actor, id)
	}
	v, err := s.Payments.Attempt(ctx, x.actor, id)
	if err != nil {
		place.leave()
		return nil, err
	}
	tags := valueOf(r.Params.IfNoneMatch)
	same := matches(tags, etag(v.Version))
	if same && place.refused != nil && !v.State.Final() {
		return nil, place.refused
	}
	body := s.showing(x, v)
	if wish.preferred {
		x.header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wish.patience/time.Second)))
	}
	if same && place.waiter != nil && !v.State.Final() {
		return &poll{
			server: s, x: x, waiter: place.waiter, tags: tags, patience: wish.patience, version: v.Version, retryAfter: s.retryAfter(v),
		}, nil
	}
	place.leave()
	if same {
		return answer{http.StatusNotModified, nil}, nil
	}
	return answer{http.StatusOK, body}, nil
}

// seat is a place to wait in. It has no waiter if none was asked for or to be had.
type seat struct {
	waiter *stream.Waiter[*Status]
	// refused is why there is none for whoever has to wait; nil at the hub's end, too,
	// at which nobody waits any more.
	refused error
}

func (s *server) seat(actor payment.Actor, id payment.AttemptID) seat {
	if s.Hub == nil {
		return seat{}
	}
	w, err := s.Hub.Join(stream.ID(id), party(actor))
	if errors.Is(err, stream.ErrEnded) {
		err = nil
	}
	return seat{w, err}
}

// How many may wait with the status tokens of one attempt, and how many as one user.
// A token is a page's, and anybody may have it; each waiter costs a connection.
const (
	mostByToken = 20
	mostByUser  = 50
)

// party is as whom an actor waits. A service that names no user waits for all of
// them, and is not limited.
func party(a payment.Actor) stream.Party {
	switch {
	case a.OnlyAttempt != nil:
		return stream.Party{Name: "attempt " + a.OnlyAttempt.String(), Most: mostByToken}
	case a.Has(payment.RoleService) && a.OnBehalfOf == "":
		return stream.Party{}
	}
	return stream.Party{Name: "user " + string(a.User()), Most: mostByUser}
}

func (t seat) leave() {
	if t.waiter != nil {
		t.waiter.Leave()
	}
}

// longestWait is what more is taken as, in seconds.
const longestWait = 60

// wish is how long the caller would wait for a change.
type wish struct {
	patience time.Duration
	// preferred says that the wish came by Prefer.
	preferred bool
}

// wish reads what the caller asks for. Without a version to compare with nobody
// waits.
func (x *exchange) wish(p gen.ReadAttemptParams) (w wish, err error) {
	var seconds int
	ok := true
	switch {
	case p.Wait != nil:
		seconds, ok = waitSeconds(*p.Wait)
	case p.Prefer != nil:
		seconds, w.preferred = preferredWait(*p.Prefer)
	}
	switch {
	case !ok:
		return w, &payment.ValidationError{Fields: []payment.FieldError{{Field: "wait", Message: "must be a whole number of seconds; more than 60 is taken as 60"}}}
	case p.IfNoneMatch == nil || x.head:
		return wish{}, nil
	}
	w.patience = time.Duration(seconds) * time.Second
	return w, nil
}

func waitSeconds(text string) (int, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = math.MaxInt
	}
	return min(n, longestWait), true
}

// preferredWait reads Prefer as RFC 7240 defines it: of several the first counts,
// and what can't be understood is ignored.
func preferredWait(header string) (int, bool) {
	for preference := range strings.SplitSeq(header, ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "wait") {
			return waitSeconds(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return 0, false
}

// poll is an answer that waits for a change.
type poll struct {
	server *server
	line   *line
	x      *exchange
	waiter *stream.Waiter[*Status]
	tags   string
	// patience is for how long it waits on.
	patience   time.Duration
	version    int
	retryAfter string
}

// VisitReadAttemptResponse gives the request's goroutine back: who waits needs no
// more than the connection. One that can't be taken over, as of HTTP/2, is
// answered at once.
func (p *poll) VisitReadAttemptResponse(w http.ResponseWriter) error {
	l, err := p.x.takeOver(w, &p.server.crew, p.waiter)
	if err != nil {
		p.waiter.Leave()
		return answer{http.StatusNotModified, nil}.send(w)
	}
	p.line = l
	l.begin(p.version, min(p.patience, lookAround), p.awake)
	return nil
}

// awake looks whether it is time to answer.
func (p *poll) awake() {
	for {
		switch s, what := p.line.look(p.version); what {
		case nothing:
			return
		case changed:
			p.version, p.retryAfter = s.Version, p.server.retryAfter(s.View)
			if matches(p.tags, etag(s.Version)) {
				continue
			}
			_, body := p.server.render(s)
			p.finish(p.line.answer(p.server.Now(), http.StatusOK, p.marks(), body))
		case rang:
			if p.patience -= lookAround; p.patience > 0 {
				p.line.timer.Reset(min(p.patience, lookAround))
				continue
			}
			fallthrough
		case closing:
			p.finish(p.line.answer(p.server.Now(), http.StatusNotModified, p.marks(), nil))
		case gone:
			p.finish(statusGone)
		}
		return
	}
}

// finish ends what was answered with a status. The hub's end waits for it.
func (p *poll) finish(status int) {
	p.line.end(func() {
		p.server.log(p.x, p.x.route, status)
		p.waiter.Leave()
	})
}

// marks are the headers for those who poll.
func (p *poll) marks() string {
	marks := headerETag + ": " + etag(p.version) + "\r\n"
	if p.retryAfter != "" {
		marks += "Retry-After: " + p.retryAfter + "\r\n"
	}
	return marks
}
