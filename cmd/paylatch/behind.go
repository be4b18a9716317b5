package main

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/platform/metrics"
)

// Undelivered returns how far the endpoints are, for the metrics.
func (p *eventPublisher) Undelivered(ctx context.Context, now time.Time) (map[string]metrics.Endpoint, error) {
	list, err := p.Endpoints.List(ctx)
	found := make(map[string]metrics.Endpoint, len(list))
	for _, s := range list {
		e := metrics.Endpoint{Behind: s.Behind, Retries: s.Retries, Dead: s.Dead, Gone: s.State == endpoint.Gone}
		if !s.Oldest.IsZero() {
			e.Oldest = max(0, now.Sub(s.Oldest))
		}
		found[s.Name] = e
	}
	return found, err
}

// Behind returns how far the readers of the feed are, for the metrics.
func (p *eventPublisher) Behind(now time.Time) map[string]metrics.Reader {
	list := p.Readers.List(p.Numberer.Head.Last(), now)
	found := make(map[string]metrics.Reader, len(list))
	for _, r := range list {
		found[r.Name] = metrics.Reader{Behind: r.Behind, Since: r.Since}
	}
	return found
}
