package tracing

import (
	"context"
	"time"
)

// Role is a span's side of a call.
type Role int

// The roles of spans. Internal is of this process alone.
const (
	Internal Role = iota
	Server
	Client
	Producer
	Consumer
)

// Of has the attributes of a span. A member that does not apply is empty.
type Of struct {
	// Attempt is the id of the attempt, and the span is in its trace then.
	Attempt [16]byte
	// Refers is an attempt that a span is about in another trace, which is linked.
	Refers [16]byte
	Order  string
	// Account is the configured name of an account, of an endpoint or of a stream. Kind is the kind of an operation, an event or
	// a webhook.
	Account, Kind string
}

// Start is how a span begins.
type Start struct {
	Name string
	Role Role
	Of   Of
	// Parent is invalid for the first span of a trace.
	Parent Context
	// ID is the span's own; invalid for a random one.
	ID Context
	// At is when the span began; zero for now.
	At    time.Time
	Links []Context
}

// Tracer takes spans. None of its methods may block.
type Tracer interface {
	// Now returns the time of the clock for spans that are recorded afterwards.
	Now() time.Time
	// Sampled reports whether the spans of an attempt's trace are exported. It is the same in all processes, at any time.
	Sampled(trace TraceID) bool
	Start(s Start) Live
}

// Live is a span that has begun.
type Live interface {
	Context() Context
	Link(c Context)
	// End is called once. Of has the final attributes of the span.
	End(of Of, outcome string, failed bool)
}

// Span is a span that has begun. All methods may be called on nil, which is the span if traces are off.
type Span struct {
	live Live
	of   Of
	// tracer samples linked attempts.
	tracer Tracer
}

// Context returns the span's name; the zero value for nil.
func (s *Span) Context() Context {
	if s == nil {
		return Context{}
	}
	return s.live.Context()
}

// About sets the span's attributes once they are known. The span stays in its trace and is linked to the attempt.
func (s *Span) About(of Of) {
	if s == nil {
		return
	}
	s.of = of
	if of.Refers != [16]byte{} {
		s.live.Link(root(s.tracer, of.Refers))
	}
}

// End ends the span with an outcome from a small set of words. It must be called once.
func (s *Span) End(outcome string, failed bool) {
	if s != nil {
		s.live.End(s.of, outcome, failed)
	}
}

// root names the root span of an attempt's trace, which need not have been begun by this process.
func root(t Tracer, attempt [16]byte) Context {
	return Context{Trace: attempt, Span: SpanID(attempt[8:]), Sampled: t.Sampled(attempt)}
}

// begin begins a span and returns its context.
func (c *scope) begin(ctx context.Context, s Start) (context.Context, *Span) {
	live := c.tracer.Start(s)
	return context.WithValue(ctx, key{}, &scope{c.tracer, live.Context()}), &Span{live: live, of: s.Of, tracer: c.tracer}
}

// joined returns the start of a span in the trace of its attempt: below the span that the context is in, if that is of the
// same trace, else below the trace's root, and linked with that span.
func (c *scope) joined(s Start) Start {
	switch {
	case s.Of.Attempt == [16]byte{} || c.span.Trace == TraceID(s.Of.Attempt):
		s.Parent = c.span
		return s
	case c.span.Valid():
		s.Links = append(s.Links, c.span)
	}
	s.Parent = root(c.tracer, s.Of.Attempt)
	return s
}

// Begin begins a span in the trace of its attempt. One of no attempt is below the span that ctx is in.
func Begin(ctx context.Context, name string, role Role, about Of) (context.Context, *Span) {
	c := scopeOf(ctx)
	if c == nil {
		return ctx, nil
	}
	return c.begin(ctx, c.joined(Start{Name: name, Role: role, Of: about}))
}

// Request begins the span of a request that came in, in its caller's trace if there is one.
func Request(ctx context.Context, name, traceparent string) (context.Context, *Span) {
	c := scopeOf(ctx)
	if c == nil {
		return ctx, nil
	}
	return c.begin(ctx, Start{Name: name, Role: Server, Parent: Parse(traceparent)})
}

// Batch begins a span that several callers share, in a trace of its own. The function of returns the span of each caller, to
// which the new span is linked.
func Batch[T any](ctx context.Context, name string, items []T, of func(T) Context) (context.Context, *Span) {
	c := scopeOf(ctx)
	if c == nil {
		return ctx, nil
	}
	s := Start{Name: name}
	for _, item := range items {
		if link := of(item); link.Valid() {
			s.Links = append(s.Links, link)
		}
	}
	return c.begin(ctx, s)
}

// Mark returns the beginning of a span that is recorded at its end; zero if traces are off.
func Mark(ctx context.Context) time.Time {
	if c := scopeOf(ctx); c != nil {
		return c.tracer.Now()
	}
	return time.Time{}
}

// Past is a span that has ended already, for work whose subject, or whose worth for a span, shows only at the end.
type Past struct {
	Name  string
	Role  Role
	Of    Of
	Since time.Time
	// Shared is the span of the shared transaction; zero if the transaction was not shared.
	Shared  Context
	Outcome string
	Failed  bool
}

// Ended records a span that ends now, and returns it.
func Ended(ctx context.Context, p Past) Context {
	c := scopeOf(ctx)
	if c == nil {
		return Context{}
	}
	return c.ended(c.joined(p.start()), p)
}

// First records the root span of an attempt's trace, which ends now. It is linked with the span that ctx is in.
func First(ctx context.Context, p Past) {
	c := scopeOf(ctx)
	if c == nil {
		return
	}
	s := p.start()
	s.ID = root(c.tracer, p.Of.Attempt)
	if c.span.Valid() {
		s.Links = append(s.Links, c.span)
	}
	c.ended(s, p)
}

func (p Past) start() Start {
	s := Start{Name: p.Name, Role: p.Role, Of: p.Of, At: p.Since}
	if p.Shared.Valid() {
		s.Links = append(s.Links, p.Shared)
	}
	return s
}

func (c *scope) ended(s Start, p Past) Context {
	live := c.tracer.Start(s)
	live.End(p.Of, p.Outcome, p.Failed)
	return live.Context()
}
