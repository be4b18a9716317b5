package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/config"
	"github.com/paylatch/paylatch/internal/outbox"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/stream"
	"github.com/paylatch/paylatch/internal/worker"
)

// publisher is what publishes events to the merchant.
type publisher struct {
	numberer *outbox.Numberer
	feed     *outbox.Feed
	purge    worker.Loop
}

func newPublisher(cfg *config.Config, store *postgres.Store, log zerolog.Logger) *publisher {
	head := &outbox.Head{}
	return &publisher{
		numberer: &outbox.Numberer{Store: store, Head: head, Log: func(err error) {
			log.Warn().Err(err).Msg("events for the merchant wait for their position; it is tried again")
		}},
		feed:  outbox.NewFeed(store, head),
		purge: worker.PurgeEvents(store, cfg.Retention.Events, time.Now),
	}
}

// changed is called after each commit of this process.
func (p *publisher) changed([]stream.ID) { p.numberer.Wake() }

// run publishes until ctx ends.
func (p *publisher) run(ctx context.Context) { _ = p.numberer.Run(ctx) }
