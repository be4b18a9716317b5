package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/metrics"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/outbox/broker"
	"github.com/paylatch/paylatch/internal/outbox/endpoint"
	"github.com/paylatch/paylatch/internal/outbox/lease"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/stream"
	"github.com/paylatch/paylatch/internal/worker"
)

// publisher is what publishes events to the merchant.
type publisher struct {
	numberer               *outbox.Numberer
	feed                   *outbox.Feed
	readers                outbox.Readers
	endpoints              *endpoint.Service
	streams                *broker.Service
	purge, purgeDeliveries worker.Loop
}

func newPublisher(cfg *config.Config, store *postgres.Store, counted *metrics.Metrics, log zerolog.Logger) (*publisher, error) {
	head := &outbox.Head{}
	p := &publisher{
		numberer: &outbox.Numberer{Store: store, Head: head, Log: func(err error) {
			log.Warn().Err(err).Msg("events for the merchant wait for their position; it is tried again")
		}},
		feed:    outbox.NewFeed(store, head),
		purge:   worker.PurgeEvents(store, cfg.Retention.Events, time.Now),
		streams: newStreams(cfg, store, head, counted, log),
	}
	for _, e := range cfg.Endpoints {
		counted.EndpointLost(e.Name, 0)
	}
	var err error
	if p.endpoints, err = newEndpoints(cfg, store, p.feed, head, counted.EndpointLost, log); err != nil {
		return nil, err
	}
	p.purgeDeliveries = worker.PurgeDeliveries(p.endpoints, cfg.Retention.Events, time.Now)
	return p, nil
}

// newEndpoints returns the endpoints of the configuration. What they lose is passed to lost.
func newEndpoints(
	cfg *config.Config, store *postgres.Store, feed *outbox.Feed, head *outbox.Head, lost func(name string, events int64), log zerolog.Logger,
) (*endpoint.Service, error) {
	list := make([]endpoint.Endpoint, len(cfg.Endpoints))
	for i, e := range cfg.Endpoints {
		list[i] = endpoint.Endpoint{Name: e.Name, URL: e.URL, Types: e.Types, Schedule: e.Schedule, AllowPrivate: e.AllowPrivate}
		for _, s := range e.Secrets {
			list[i].Secrets = append(list[i].Secrets, string(s))
		}
	}
	return endpoint.NewService(list, endpoint.Options{
		Store: store.Endpoints(), Feed: feed, Head: head, Now: time.Now,
		Encode: encodeEvent,
		Log: func(name string, err error) {
			interrupted(log, "endpoint", name, err, "deliveries to the endpoint are interrupted; they go on once this works")
		},
		Lost: func(name string, events int64) {
			log.Error().Str("endpoint", name).Int64("events", events).
				Msg("as many events, of any type, were deleted by retention.events before they were delivered; deliveries go on behind them")
			lost(name, events)
		},
	})
}

// typesOfEndpoints returns the types of events that each endpoint takes, by its name; none means all.
func typesOfEndpoints(cfg *config.Config) map[string][]string {
	types := make(map[string][]string, len(cfg.Endpoints))
	for _, e := range cfg.Endpoints {
		types[e.Name] = e.Types
	}
	return types
}

// interrupted logs what a loop goes on after: a panic is an error.
func interrupted(log zerolog.Logger, kind, name string, err error, text string) {
	if broke, is := errors.AsType[*lease.PanicError](err); is {
		log.Error().Err(err).Str(kind, name).Bytes("stack", broke.Stack).Msg(text)
		return
	}
	log.Warn().Err(err).Str(kind, name).Msg(text)
}

// encodeEvent renders an event as the feed has it.
func encodeEvent(e outbox.Event) []byte { return bytes.TrimSpace(render.JSON(render.Event(e))) }

// changed is called after each commit of this process.
func (p *publisher) changed([]stream.ID) { p.numberer.Wake() }

// run publishes until ctx ends.
func (p *publisher) run(ctx context.Context, delivers bool) {
	if !delivers {
		_ = p.numberer.Run(ctx)
		return
	}
	var publishing sync.WaitGroup
	publishing.Go(func() { p.endpoints.Run(ctx) })
	publishing.Go(func() { p.streams.Run(ctx) })
	_ = p.numberer.Run(ctx)
	publishing.Wait()
}
