package notice

import (
	"context"
	"sync"

	"github.com/paylatch/paylatch/internal/events/lease"
)

// Service is the notices of the configuration. It is safe for concurrent use.
type Service struct {
	o       Options
	senders []*Sender
}

// NewService returns a service that Run starts.
func NewService(list []Notice, o Options) *Service {
	v := &Service{o: o}
	for _, n := range list {
		v.senders = append(v.senders, NewSender(n, o))
	}
	return v
}

// Run registers the notices and sends until ctx ends. A new notice begins with the events after its registration.
func (v *Service) Run(ctx context.Context) {
	if len(v.senders) == 0 || !lease.Until(ctx, lookEvery, v.register, func(err error) { v.o.Log("", err) }) {
		return
	}
	var sending sync.WaitGroup
	for _, s := range v.senders {
		sending.Go(func() { s.Run(ctx) })
	}
	sending.Wait()
}

func (v *Service) register(ctx context.Context) error {
	names := make([]string, len(v.senders))
	for i, s := range v.senders {
		names[i] = s.Name
	}
	return v.o.Store.RegisterNotices(ctx, names)
}
