package main

import (
	"cmp"
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// subjectPrefix begins the subjects of a JetStream stream for which the configuration names no other.
const subjectPrefix = "paylatch"

// newStreams returns the streams of the configuration.
func newStreams(cfg *config.Config, store *postgres.Store, head *outbox.Head, counted *metrics.Metrics, now func() time.Time, log zerolog.Logger) *broker.Service {
	list := make([]broker.Stream, len(cfg.Streams))
	for i, s := range cfg.Streams {
		list[i] = broker.Stream{Name: s.Name, Open: opening(s, cfg.Retention.Events)}
		counted.StreamLost(s.Name, 0)
	}
	return broker.NewService(list, broker.Options{
		Store: store.Streams(), Head: head, Now: now,
		Encode: encodeEvent,
		Log: func(name string, err error) {
			logInterrupted(log, "stream", name, err, "publishing to the stream is interrupted; paylatch tries again")
		},
		Lost: func(name string, events int64) {
			log.Error().Str("stream", name).Int64("events", events).
				Msg("retention.events deleted events before they were published; publishing continues after them")
			counted.StreamLost(name, events)
		},
	})
}

// opening returns what connects to the broker of a stream. A JetStream stream that it creates keeps events for keep.
func opening(s config.Stream, keep time.Duration) func(ctx context.Context) (broker.Broker, error) {
	if s.Kind == "kafka" {
		return broker.Kafka{
			Brokers: s.Brokers, Topic: s.Topic, TLS: s.TLS,
			SASL: broker.SASL{Mechanism: s.SASL.Mechanism, Username: s.SASL.Username, Password: string(s.SASL.Password)},
		}.Open
	}
	return broker.NATS{
		URL: string(s.URL), Stream: s.Stream, SubjectPrefix: cmp.Or(s.SubjectPrefix, subjectPrefix), Credentials: s.Credentials, Keep: keep,
	}.Open
}

// Unpublished returns how far the streams are, for the metrics.
func (p *eventPublisher) Unpublished(ctx context.Context, now time.Time) (map[string]metrics.PublishedTo, error) {
	list, err := p.Streams.List(ctx)
	found := make(map[string]metrics.PublishedTo, len(list))
	for _, s := range list {
		to := metrics.PublishedTo{Behind: s.Behind, Failing: s.Failing()}
		if !s.Oldest.IsZero() {
			to.Oldest = max(0, now.Sub(s.Oldest))
		}
		found[s.Name] = to
	}
	return found, err
}
