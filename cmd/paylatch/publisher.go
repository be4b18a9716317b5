package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/stream"
	"github.com/paylatch/paylatch/internal/platform/worker"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// The publisher publishes events to the merchant: it gives them positions, delivers them to endpoints and publishes them to streams.

// eventPublisher is what publishes events to the merchant.
type eventPublisher struct {
	Numberer  *outbox.Numberer
	Feed      *outbox.Feed
	Readers   outbox.Readers
	Endpoints *endpoint.Service
	Streams   *broker.Service
	// Purges remove what the retention has passed.
	Purges []worker.Loop
}

// newPublisher returns a publisher of the configuration.
func newPublisher(cfg *config.Config, store *postgres.Store, counted *metrics.Metrics, unsettled func() bool, now func() time.Time, log zerolog.Logger) (*eventPublisher, error) {
	head := &outbox.Head{Unsettled: unsettled}
	p := &eventPublisher{
		Numberer: &outbox.Numberer{Store: store, Head: head, Log: func(err error) {
			log.Warn().Err(err).Msg("events for the merchant still wait for their position in the feed; paylatch tries again")
		}},
		Feed:    outbox.NewFeed(store, head),
		Streams: newStreams(cfg, store, head, counted, now, log),
	}
	for _, e := range cfg.Endpoints {
		counted.EndpointLost(e.Name, 0)
	}
	var err error
	if p.Endpoints, err = newEndpoints(cfg, store, p.Feed, head, counted.EndpointLost, now, log); err != nil {
		return nil, err
	}
	p.Purges = []worker.Loop{worker.PurgeEvents(store, cfg.Retention.Events, now), worker.PurgeDeliveries(p.Endpoints, cfg.Retention.Events, now)}
	return p, nil
}

// newEndpoints returns the endpoints of the configuration. What they lose is passed to lost.
func newEndpoints(
	cfg *config.Config, store *postgres.Store, feed *outbox.Feed, head *outbox.Head, lost func(name string, events int64),
	now func() time.Time, log zerolog.Logger,
) (*endpoint.Service, error) {
	list := make([]endpoint.Endpoint, len(cfg.Endpoints))
	for i, e := range cfg.Endpoints {
		list[i] = endpoint.Endpoint{Name: e.Name, URL: e.URL, Types: e.Chosen(), Schedule: e.Schedule, AllowPrivate: e.AllowPrivate}
		for _, s := range e.Secrets {
			list[i].Secrets = append(list[i].Secrets, string(s))
		}
	}
	return endpoint.NewService(list, endpoint.Options{
		Store: store.Endpoints(), Feed: feed, Head: head, Now: now,
		Encode: encodeEvent,
		Log: func(name string, err error) {
			logInterrupted(log, "endpoint", name, err, "deliveries to the endpoint are interrupted; paylatch tries again")
		},
		Lost: func(name string, events int64) {
			log.Error().Str("endpoint", name).Int64("events", events).
				Msg("retention.events deleted events (of any type) before they were delivered; deliveries continue after them")
			lost(name, events)
		},
	})
}

// typesByEndpoint returns the types of events that each endpoint takes, by its name; none means all.
func typesByEndpoint(cfg *config.Config) map[string][]string {
	types := make(map[string][]string, len(cfg.Endpoints))
	for _, e := range cfg.Endpoints {
		types[e.Name] = e.Chosen()
	}
	return types
}

// logInterrupted logs what a loop goes on after: a panic is an error.
func logInterrupted(log zerolog.Logger, kind, name string, err error, text string) {
	if broke, is := errors.AsType[*lease.PanicError](err); is {
		log.Error().Err(err).Str(kind, name).Bytes("stack", broke.Stack).Msg(text)
		return
	}
	log.Warn().Err(err).Str(kind, name).Msg(text)
}

// encodeEvent renders an event as the feed has it.
func encodeEvent(e outbox.Event) []byte { return bytes.TrimSpace(render.JSON(render.Event(e))) }

// Changed is called after each commit of this process.
func (p *eventPublisher) Changed([]stream.ID) { p.Numberer.Wake() }

// Run publishes until ctx ends; without delivers it only gives positions.
func (p *eventPublisher) Run(ctx context.Context, delivers bool) {
	if !delivers {
		_ = p.Numberer.Run(ctx)
		return
	}
	var publishing sync.WaitGroup
	publishing.Go(func() { p.Endpoints.Run(ctx) })
	publishing.Go(func() { p.Streams.Run(ctx) })
	_ = p.Numberer.Run(ctx)
	publishing.Wait()
}
