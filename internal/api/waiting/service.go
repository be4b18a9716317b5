package waiting

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/stream"
)

// Service answers reads of attempts that may wait.
type Service struct {
	// Hub must be running; without one every read is answered at once.
	Hub      *Hub
	Read     func(ctx context.Context, actor authz.Actor, id payment.AttemptID) (payment.View, error)
	Renderer render.Renderer
}

// How many may wait with the status tokens of one attempt, with those of all attempts of one user, and as one user. A page's token is
// easily copied, and each waiter costs a connection. One network has one in networkPart of all, and never fewer than a user.
// These numbers are in docs/explanation/security.md.
const (
	tokenSlots  = 20
	pagesSlots  = 50
	userSlots   = 50
	networkPart = 2
)

// groups returns the groups of slots that an actor's waiters share. A service without a user waits for all users, and has no
// limit.
func (s *Service) groups(a authz.Actor, network string) []stream.Group {
	own := stream.Group{Name: "user " + string(a.User()), Slots: userSlots}
	switch {
	case a.OnlyAttempt != nil:
		own = stream.Group{Name: "attempt " + a.OnlyAttempt.String(), Slots: tokenSlots}
	case a.Has(payment.RoleService) && a.OnBehalfOf == "":
		return nil
	}
	return []stream.Group{own, {Name: "network " + network, Slots: max(userSlots, s.Hub.Limit()/networkPart)}}
}

// read reads the attempt. A waiter with a status token also takes a slot of the attempt's user, since only the read returns the user.
func (s *Service) read(ctx context.Context, actor authz.Actor, id payment.AttemptID, in slot) (payment.View, slot, error) {
	v, err := s.Read(ctx, actor, id)
	if err != nil || actor.OnlyAttempt == nil || in.Subscription == nil {
		return v, in, err
	}
	if full := in.Join(stream.Group{Name: "pages " + string(v.UserID), Slots: pagesSlots}); full != nil {
		in.free()
		in = slot{full: full}
	}
	return v, in, nil
}

// slot is a place to wait in.
type slot struct {
	// Subscription is nil where waiting is not possible.
	*stream.Subscription[*Status]
	// full is why; nil at the hub's end and without a hub, when a read is answered at once instead.
	full error
}

func (s *Service) slot(actor authz.Actor, id payment.AttemptID, network string) slot {
	if s.Hub == nil {
		return slot{}
	}
	sub, err := s.Hub.Subscribe(stream.ID(id), s.groups(actor, network)...)
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
