package broker

import (
	"context"
	"sync"

	"github.com/paylatch/paylatch/internal/events/lease"
)

// Service is the streams of the configuration. It is safe for concurrent use.
type Service struct {
	o          Options
	publishers []*Publisher
}

// NewService returns a service that Run starts.
func NewService(list []Stream, o Options) *Service {
	v := &Service{o: o}
	for _, s := range list {
		v.publishers = append(v.publishers, NewPublisher(s, o))
	}
	return v
}

// Run registers the streams and publishes to all until ctx ends.
func (v *Service) Run(ctx context.Context) {
	if len(v.publishers) == 0 || !lease.Until(ctx, lookEvery, v.Register, func(err error) { v.o.Log("", err) }) {
		return
	}
	var publishing sync.WaitGroup
	for _, p := range v.publishers {
		publishing.Go(func() { p.Run(ctx) })
	}
	publishing.Wait()
}

// Register has the store keep the streams. One that is new begins at the head of the feed.
func (v *Service) Register(ctx context.Context) error {
	return v.o.Store.RegisterStreams(ctx, v.names())
}

// List returns how far each stream is, by name. One that was never served yet is not there.
func (v *Service) List(ctx context.Context) ([]Status, error) {
	return v.o.Store.StreamStatuses(ctx, v.names())
}

func (v *Service) names() []string {
	names := make([]string, len(v.publishers))
	for i, p := range v.publishers {
		names[i] = p.Name
	}
	return names
}
