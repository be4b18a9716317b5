package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/paylatch/paylatch/internal/events/outbox"
)

// duplicateWindow is the time for which our JetStream stream detects a duplicate id. It is longer than the longest pause plus
// the start of another process.
const duplicateWindow = 10 * time.Minute

// ErrSubjects is returned for a JetStream stream that does not take, or does not keep, the events.
var ErrSubjects = errors.New("the JetStream stream does not take the events")

// NATS is a JetStream stream. Its Open creates it where it does not exist, and never changes one that does.
type NATS struct {
	// URL may have several addresses, separated by commas.
	URL    string
	Stream string
	// SubjectPrefix begins the subjects, which end in the type of an event.
	SubjectPrefix string
	// Credentials is the path of a .creds file; may be empty.
	Credentials string
	// Keep is how long a stream that is created keeps events.
	Keep time.Duration
}

// Open connects, and creates the stream where it does not exist. It returns ErrSubjects.
func (n NATS) Open(ctx context.Context) (Broker, error) {
	options := []nats.Option{
		nats.Name("paylatch"), nats.Timeout(openTime), nats.MaxReconnects(-1),
		// Without a connection a publish fails at once, instead of being buffered and sent later.
		nats.ReconnectBufSize(-1),
	}
	if n.Credentials != "" {
		options = append(options, nats.UserCredentials(n.Credentials))
	}
	conn, err := nats.Connect(n.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(publishTime))
	if err == nil {
		err = n.ensure(ctx, js)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsBroker{NATS: n, conn: conn, js: js}, nil
}

// ensure creates the stream, or checks one that exists.
func (n NATS) ensure(ctx context.Context, js jetstream.JetStream) error {
	s, err := js.Stream(ctx, n.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = js.CreateStream(ctx, jetstream.StreamConfig{
			Name: n.Stream, Subjects: []string{n.SubjectPrefix + ".>"}, Storage: jetstream.FileStorage,
			MaxAge: n.Keep, Duplicates: min(duplicateWindow, n.Keep), Description: "events of paylatch",
		})
		if err != nil {
			return fmt.Errorf("create the JetStream stream %s: %w", n.Stream, err)
		}
	}
	if err != nil {
		return fmt.Errorf("look up the JetStream stream %s: %w", n.Stream, err)
	}
	return n.check(s.CachedInfo().Config)
}

// check returns ErrSubjects for a stream that would lack events, or never acknowledge them.
func (n NATS) check(c jetstream.StreamConfig) error {
	for _, kind := range outbox.Types() {
		if !takes(c.Subjects, n.SubjectPrefix+"."+kind) {
			return fmt.Errorf("%w: %s has the subjects %q, but not %s.%s: add %s.> to the subjects, or change subject_prefix or stream",
				ErrSubjects, n.Stream, c.Subjects, n.SubjectPrefix, kind, n.SubjectPrefix)
		}
	}
	if c.NoAck {
		return fmt.Errorf("%w: %s has no_ack, so it does not confirm stored events: change the stream, or set stream to another stream", ErrSubjects, n.Stream)
	}
	if c.Sealed {
		return fmt.Errorf("%w: %s is sealed: set stream to another stream", ErrSubjects, n.Stream)
	}
	return nil
}

// takes reports whether one of the subjects, with the wildcards of NATS, matches a subject.
func takes(subjects []string, subject string) bool {
	for _, s := range subjects {
		if matches(strings.Split(s, "."), strings.Split(subject, ".")) {
			return true
		}
	}
	return false
}

func matches(pattern, tokens []string) bool {
	for i, p := range pattern {
		if i >= len(tokens) {
			return false
		}
		if p == ">" {
			return true
		}
		if p != "*" && p != tokens[i] {
			return false
		}
	}
	return len(pattern) == len(tokens)
}

// natsBroker is a connection to NATS.
type natsBroker struct {
	NATS

	conn *nats.Conn
	js   jetstream.JetStream
}

// Publish implements Broker. If one message of a round fails, JetStream still stores the others.
func (b *natsBroker) Publish(ctx context.Context, messages []Message) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	return inRounds(messages, func(round []int) []error {
		futures, errs := make([]jetstream.PubAckFuture, len(round)), make([]error, len(round))
		for i, n := range round {
			futures[i], errs[i] = b.send(messages[n])
		}
		for i, f := range futures {
			if errs[i] == nil {
				errs[i] = acknowledged(ctx, f)
			}
			if errs[i] != nil {
				errs[i] = fmt.Errorf("publish event %s to JetStream: %w", messages[round[i]].ID, errs[i])
			}
		}
		return errs
	})
}

// send does not wait for the acknowledgement.
func (b *natsBroker) send(m Message) (jetstream.PubAckFuture, error) {
	message := &nats.Msg{Subject: b.SubjectPrefix + "." + m.Type, Data: m.Body}
	if m.Traceparent != "" {
		message.Header = nats.Header{headerTraceparent: {m.Traceparent}}
	}
	return b.js.PublishMsgAsync( //nolint:wrapcheck // Publish wraps it
		message,
		// Another stream that took the subject in place of ours would not count.
		jetstream.WithMsgID(m.ID), jetstream.WithExpectStream(b.Stream),
	)
}

func acknowledged(ctx context.Context, f jetstream.PubAckFuture) error {
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-ctx.Done():
		return unanswered(ctx)
	}
}

// unanswered is why nothing is waited for any more.
func unanswered(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("not acknowledged within %s: %w", publishTime, ctx.Err())
	}
	return ctx.Err() //nolint:wrapcheck // it was stopped
}

// Close implements Broker.
func (b *natsBroker) Close() { b.conn.Close() }
