package waiting

import (
	"context"
	"strconv"
	"sync"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
)

// Hub wakes the waiters of attempts.
type Hub = stream.Hub[*Status]

// NewHub returns a hub of attempts. It reads changed attempts by watched, without a check of rights, since each waiter has read its
// attempt before. For limit and log see stream.Options.
func NewHub(
	bus stream.Bus, watched func(ctx context.Context, ids []payment.AttemptID) ([]payment.View, error), limit int, log func(error),
) *Hub {
	return stream.New(stream.Options[*Status]{
		Bus: bus, Limit: limit, Log: log,
		Version: func(s *Status) int { return s.Version },
		Read: func(ctx context.Context, ids []stream.ID) (map[stream.ID]*Status, error) {
			attempts := make([]payment.AttemptID, len(ids))
			for i, id := range ids {
				attempts[i] = payment.AttemptID(id)
			}
			views, err := watched(ctx, attempts)
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

// Status is an attempt as all its waiters share it: it is rendered once for them, and once for staff.
type Status struct {
	payment.View

	all, staff text
}

// text is a rendered status.
type text struct {
	once sync.Once
	// event is the status as server-sent events have it, body the JSON in it.
	event, body []byte
}

// render returns the status for a reader.
func (s *Status) render(r render.Renderer, reader authz.Actor) *text {
	t := &s.all
	if !reader.Continues(s.UserID) {
		t = &s.staff
	}
	t.once.Do(func() {
		head := "event: status\nid: " + strconv.Itoa(s.Version) + "\ndata: "
		t.event = append(append([]byte(head), render.JSON(r.For(reader, s.UserID).Attempt(s.View))...), '\n')
		t.body = t.event[len(head) : len(t.event)-1]
	})
	return t
}
