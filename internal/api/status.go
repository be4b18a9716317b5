package api

import (
	"context"
	"strconv"
	"sync"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
)

// Status is an attempt as all who wait for it share it: it is rendered once for
// them, and written from where it lies.
type Status struct {
	payment.View

	once sync.Once
	// event is the status as server-sent events have it, body the JSON in it.
	event, body []byte
}

// render returns the status as an event and as a body. JSON of ours has no line's
// end but its last.
func (s *server) render(of *Status) (event, body []byte) {
	of.once.Do(func() {
		head := "event: status\nid: " + strconv.Itoa(of.Version) + "\ndata: "
		of.event = append(append([]byte(head), encode(s.attempt(of.View))...), '\n')
		of.body = of.event[len(head) : len(of.event)-1]
	})
	return of.event, of.body
}

// NewHub returns a hub of attempts. What has changed is read by watched, which
// asks nobody's leave: only who may read an attempt gets to wait for it. For
// limit and log see stream.Options.
func NewHub(
	bus stream.Bus, watched func(ctx context.Context, ids []payment.AttemptID) ([]payment.View, error), limit int, log func(error),
) *stream.Hub[*Status] {
	return stream.New(stream.Options[*Status]{
		Bus: bus, Limit: limit, Log: log,
		Version: func(s *Status) int { return s.Version },
		Read: func(ctx context.Context, ids []stream.ID) (map[stream.ID]*Status, error) {
			asked := make([]payment.AttemptID, len(ids))
			for i, id := range ids {
				asked[i] = payment.AttemptID(id)
			}
			views, err := watched(ctx, asked)
			if err != nil {
				return nil, err
			}
			states := make(map[stream.ID]*Status, len(views))
			for _, v := range views {
				states[stream.ID(v.ID)] = &Status{View: v}
			}
			return states, nil
		},
	})
}
