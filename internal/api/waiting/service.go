package waiting

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/stream"
)

// Service answers reads of attempts that may wait.
type Service struct {
	// Hub must be running; without one every read is answered at once.
	Hub      *Hub
	Read     func(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error)
	Renderer render.Renderer
}

// How many may wait with the status tokens of one attempt, and as one user. A page's token is easily copied, and each
// waiter costs a connection.
const (
	tokenSlots = 20
	userSlots  = 50
)

// group is what an actor's waiters share the slots of. A service that acts for no user waits for all of them, and is not
// limited.
func group(a authz.Actor) stream.Group {
	switch {
	case a.OnlyAttempt != nil:
		return stream.Group{Name: "attempt " + a.OnlyAttempt.String(), Slots: tokenSlots}
	case a.Has(payment.RoleService) && a.OnBehalfOf == "":
		return stream.Group{}
	}
	return stream.Group{Name: "user " + string(a.User()), Slots: userSlots}
}

// slot is a place to wait in.
type slot struct {
	// Subscription is nil where waiting is not possible.
	*stream.Subscription[*Status]
	// full is why; nil at the hub's end and without a hub, when a read is answered at once instead.
	full error
}

func (s *Service) slot(actor authz.Actor, id payment.AttemptID) slot {
	if s.Hub == nil {
		return slot{}
	}
	sub, err := s.Hub.Subscribe(stream.ID(id), group(actor))
	if errors.Is(err, stream.ErrEnded) {
		err = nil
	}
	return slot{sub, err}
}

func (s slot) free() {
	if s.Subscription != nil {
		s.Close()
	}
}
