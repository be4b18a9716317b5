package tracing_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/platform/tracing"
)

// recorder is a tracer that keeps the spans that began. Spans of attempts whose id begins with 0 are sampled.
type recorder struct {
	mu    sync.Mutex
	begun []tracing.Start
	ended []string
}

func (r *recorder) Now() time.Time { return time.Unix(1, 0) }

func (r *recorder) Sampled(id tracing.TraceID) bool { return id[0] == 0 }

func (r *recorder) Start(s tracing.Start) tracing.Live {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = append(r.begun, s)
	c := s.ID
	if !c.Valid() {
		c = tracing.Context{Trace: s.Parent.Trace, Span: tracing.SpanID{byte(len(r.begun))}, Sampled: s.Parent.Sampled}
	}
	if !s.Parent.Valid() && !s.ID.Valid() {
		c.Trace = tracing.TraceID{0xee, byte(len(r.begun))}
	}
	return &recorded{r, c}
}

type recorded struct {
	in *recorder
	c  tracing.Context
}

func (r *recorded) Context() tracing.Context { return r.c }

func (r *recorded) Link(c tracing.Context) { r.in.ended = append(r.in.ended, "link "+c.Traceparent()) }

func (r *recorded) End(_ tracing.Of, outcome string, _ bool) {
	r.in.ended = append(r.in.ended, outcome)
}

const (
	attemptID = "01900000-0000-7000-8000-00000000abcd"
	traceOf   = "0190000000007000800000000000abcd"
	caller    = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
)

var attempt = uuid.MustParse(attemptID)

func about() tracing.Of { return tracing.Of{Attempt: attempt, Kind: "charge"} }

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		is   bool
	}{
		"sampled":                  {caller, true},
		"later version, more text": {"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true},
		"empty":                    {"", false},
		"upper case":               {"00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01", false},
		"no trace":                 {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", false},
		"no span":                  {"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false},
		"forbidden version":        {"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false},
		"more text":                {caller + "-more", false},
		"text behind":              {caller + "0", false},
		"no hexadecimal":           {"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", false},
		"shifted":                  {"00-4bf92f3577b34da6a3ce929d0e0e47360-0f067aa0ba902b7-01", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tracing.Parse(tt.text)
			require.Equal(t, tt.is, c.Valid())
			if tt.is {
				require.Equal(t, caller[3:], c.Traceparent()[3:])
			}
		})
	}
	require.False(t, tracing.Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00").Sampled)
	require.True(t, tracing.Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03").Sampled)
}

func FuzzParse(f *testing.F) {
	f.Add(caller)
	f.Add("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more")
	f.Fuzz(func(t *testing.T, text string) {
		if c := tracing.Parse(text); c.Valid() && tracing.Parse(c.Traceparent()) != c {
			t.Errorf("%q is read as %v, which is not read as itself", text, c)
		}
	})
}

// TestAttempt: the spans of an attempt are in the trace that its id names, below a root that needs no process to have begun it,
// and are linked with the request in which they are made.
func TestAttempt(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	ctx, request := tracing.Request(tracing.With(t.Context(), r), "POST", caller)
	require.Equal(t, tracing.Parse(caller), r.begun[0].Parent)
	require.Equal(t, tracing.Parse(caller).Trace, request.Context().Trace)

	tracing.First(ctx, tracing.Past{Name: "payment attempt", Of: about(), Shared: tracing.Parse(caller)})
	require.Equal(t, traceOf, r.begun[1].ID.Trace.String())
	require.Equal(t, traceOf[16:], r.begun[1].ID.Span.String())
	require.False(t, r.begun[1].Parent.Valid())
	require.Equal(t, []tracing.Context{tracing.Parse(caller), request.Context()}, r.begun[1].Links)

	in, call := tracing.Begin(ctx, "charge", tracing.Client, about())
	require.Equal(t, r.begun[1].ID, r.begun[2].Parent, "below the root")
	require.Equal(t, []tracing.Context{request.Context()}, r.begun[2].Links)
	require.Equal(t, call.Context(), tracing.Current(in))

	tracing.Ended(in, tracing.Past{Name: "within", Of: about(), Outcome: "done"})
	require.Equal(t, call.Context(), r.begun[3].Parent, "below the call, in the same trace")
	require.Empty(t, r.begun[3].Links)
	require.Equal(t, []string{"", "done"}, r.ended)

	request.About(tracing.Of{Refers: attempt})
	require.Equal(t, "link "+r.begun[1].ID.Traceparent(), r.ended[2])
}

func TestBatch(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	ctx, _ := tracing.Request(tracing.With(t.Context(), r), "POST", caller)
	_, span := tracing.Batch(ctx, "commit", []string{caller, "", caller}, tracing.Parse)
	require.False(t, r.begun[1].Parent.Valid(), "it has a trace of its own")
	require.NotEqual(t, tracing.Current(ctx).Trace, span.Context().Trace)
	require.Equal(t, []tracing.Context{tracing.Parse(caller), tracing.Parse(caller)}, r.begun[1].Links)
}

// everything makes all tracing calls of a pay.
func everything(ctx context.Context) bool {
	since := tracing.Mark(ctx)
	ctx, request := tracing.Request(ctx, "POST", caller)
	_, batch := tracing.Batch(ctx, "commit", []int{1, 2, 3}, func(int) tracing.Context { return tracing.Context{} })
	tracing.First(ctx, tracing.Past{Name: "payment attempt", Of: about(), Since: since, Shared: batch.Context()})
	in, call := tracing.Begin(ctx, "charge", tracing.Client, about())
	call.End("accepted", false)
	ended := tracing.Ended(in, tracing.Past{Name: "webhook", Of: about()})
	request.About(about())
	request.End("201", false)
	batch.End("", false)
	return tracing.On(ctx) || tracing.Current(in).Valid() || ended.Valid() || tracing.Current(in).Traceparent() != ""
}

// TestOff: without a tracer nothing is made, and nothing allocated.
func TestOff(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all goroutines
	ctx := context.WithValue(t.Context(), struct{ x int }{1}, 2)
	require.False(t, everything(ctx))
	require.Zero(t, testing.AllocsPerRun(1000, func() { everything(ctx) }))
	require.True(t, everything(tracing.With(ctx, &recorder{})))
}

// below is a context with some values.
func below(ctx context.Context, values int) context.Context {
	if values == 0 {
		return ctx
	}
	return below(context.WithValue(ctx, new(int), 0), values-1)
}

// BenchmarkOff measures the tracing cost of a pay while traces are off.
func BenchmarkOff(b *testing.B) {
	ctx := below(b.Context(), 10) // as deep as a request's
	b.ReportAllocs()
	for b.Loop() {
		everything(ctx)
	}
}
