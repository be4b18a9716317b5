package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// Service is the endpoints of the configuration. It is safe for concurrent use.
type Service struct {
	o       Options
	senders []*Sender
}

// NewService returns an error for a secret that is none.
func NewService(list []Endpoint, o Options) (*Service, error) {
	v := &Service{o: o}
	for _, e := range list {
		s, err := NewSender(e, o)
		if err != nil {
			return nil, err
		}
		v.senders = append(v.senders, s)
	}
	return v, nil
}

// Run registers the endpoints and delivers to all until ctx ends.
func (v *Service) Run(ctx context.Context) {
	if len(v.senders) == 0 {
		return
	}
	if !lease.Until(ctx, lookEvery, v.Register, func(err error) { v.o.Log("", err) }) {
		return
	}
	var sending sync.WaitGroup
	for _, s := range v.senders {
		sending.Go(func() { s.Run(ctx) })
	}
	sending.Wait()
}

// Register has the store keep the endpoints. One that is new begins at the head of the feed.
func (v *Service) Register(ctx context.Context) error {
	digests := make(map[string][]byte, len(v.senders))
	for _, s := range v.senders {
		sum := sha256.Sum256([]byte(s.URL))
		digests[s.Name] = sum[:]
	}
	return v.o.Store.RegisterEndpoints(ctx, digests)
}

// List returns how far each endpoint is, by name. One that was never served yet is not there.
func (v *Service) List(ctx context.Context) ([]Status, error) {
	names, hosts := make([]string, len(v.senders)), map[string]string{}
	for i, s := range v.senders {
		names[i] = s.Name
		if u, err := url.Parse(s.URL); err == nil {
			hosts[s.Name] = u.Host
		}
	}
	list, err := v.o.Store.EndpointStatuses(ctx, names)
	for i := range list {
		list[i].Host = hosts[list[i].Name]
	}
	return list, err
}

// Attempts lists the log of an endpoint, newest first, before the attempt of a number, 0 being all; with failed those only
// that failed. It returns ErrNotFound.
func (v *Service) Attempts(ctx context.Context, name string, before int64, failed bool, limit int) ([]Attempt, error) {
	if _, err := v.sender(name); err != nil {
		return nil, err
	}
	return v.o.Store.EndpointAttempts(ctx, name, before, failed, limit)
}

// Test sends an event of TestType at once, regardless of the endpoint's state and types. The event is in no feed and is not
// sent again. Test returns ErrNotFound for an unknown endpoint. A failure of the receiver is in the attempt, not an error.
func (v *Service) Test(ctx context.Context, name string) (Attempt, error) {
	s, err := v.sender(name)
	if err != nil {
		return Attempt{}, err
	}
	data, err := json.Marshal(map[string]string{"endpoint": name})
	if err != nil {
		return Attempt{}, fmt.Errorf("encode: %w", err)
	}
	a, _ := s.client.Send(ctx, outbox.Event{
		ID: uuid.New(), Type: TestType, Subject: name, Version: 1, Payload: data, CreatedAt: v.o.Now(),
	})
	return a, nil
}

// RedeliverAfter sends again all events behind a cursor of the feed. It returns ErrNotFound, ErrAhead, or the feed's error
// for a cursor.
func (v *Service) RedeliverAfter(ctx context.Context, name string, cursor outbox.Cursor) error {
	if _, err := v.sender(name); err != nil {
		return err
	}
	if _, err := v.o.Feed.Read(ctx, cursor, nil, 1, 0); err != nil {
		return err
	}
	return v.o.Store.SetEndpointBack(ctx, name, max(cursor.Position, 0))
}

// RedeliverEvents sends again events that the endpoint was sent, dead ones above all. It returns ErrNotFound and, where it does
// not send any, an *UnknownError.
func (v *Service) RedeliverEvents(ctx context.Context, name string, ids []uuid.UUID) error {
	if _, err := v.sender(name); err != nil {
		return err
	}
	return v.o.Store.RetryEvents(ctx, name, ids)
}

// PurgeEvents deletes at most limit attempts of before a time, and as many retries of events that are not kept any more.
func (v *Service) PurgeEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	n, lost, err := v.o.Store.PurgeDeliveries(ctx, before, limit)
	if err != nil {
		return n, err
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		v.o.Lost(name, lost[name])
	}
	return n, nil
}

func (v *Service) sender(name string) (*Sender, error) {
	for _, s := range v.senders {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
}
