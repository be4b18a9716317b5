package overview

import (
	"context"
	"sync"
	"time"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/payment"
)

// Audit writes the audit log; *support.Service in the program.
type Audit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
}

// Accounts are the accounts that webhooks come from; *intake.Inbox in the program.
type Accounts interface {
	Stale(ctx context.Context) ([]intake.StaleAccount, error)
}

// Endpoints lists the endpoints that receive the merchant's events; *endpoint.Service in the program.
type Endpoints interface {
	List(ctx context.Context) ([]endpoint.Status, error)
}

// Options configure a Service. All but Added are required.
type Options struct {
	Store     Store
	Audit     Audit
	Accounts  Accounts
	Endpoints Endpoints
	// Held lists the accounts with pays and refunds that wait, Breakers are the states of circuit breakers by account: 0 for closed, 1 for
	// half-open, 2 for open.
	Held     func() []string
	Breakers func() map[string]float64
	// Added is called with the new counts of the current hour and the one before, each event once in all processes. Events of
	// earlier hours, counted after a pause, are left out. May be nil.
	Added func(subject, account, status, code string, n int64)
	Now   func() time.Time
}

const (
	// fresh is how long a read serves all callers.
	fresh = 5 * time.Second
	// readTime bounds a read, which goes on when its caller is gone.
	readTime = 5 * time.Second
	// glanceFor is how long a page that is open goes on being one look at it in the audit log.
	glanceFor = time.Hour
	// mostGlances bounds the memory of open pages.
	mostGlances = 1000
)

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	Options

	mu   sync.Mutex
	last Overview

	looks sync.Mutex
	// looked is when a person last had an entry in the audit log.
	looked map[string]time.Time
}

// New returns a service.
func New(o Options) *Service {
	if o.Added == nil {
		o.Added = func(string, string, string, string, int64) {}
	}
	return &Service{Options: o, looked: map[string]time.Time{}}
}

// Overview returns the numbers, a few seconds old at the most, and writes an entry into the audit log. It returns
// payment.ErrForbidden.
func (s *Service) Overview(ctx context.Context, who support.Staff) (o Overview, err error) {
	if err := who.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Overview{}, err
	}
	err = s.Audit.Watch(ctx, who, support.ViewedOverview, "overview", "", func() (err error) {
		o, err = s.Read(ctx)
		return err
	})
	if err == nil {
		s.note(who.Subject)
	}
	return o, err
}

// Glance is Overview for a page that reads itself again: it is written into the audit log only once an hour.
func (s *Service) Glance(ctx context.Context, who support.Staff) (Overview, error) {
	if err := who.Require(payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Overview{}, err
	}
	if !s.noted(who.Subject) {
		return s.Overview(ctx, who)
	}
	return s.Read(ctx)
}

func (s *Service) noted(subject string) bool {
	s.looks.Lock()
	defer s.looks.Unlock()
	at, there := s.looked[subject]
	return there && s.Now().Sub(at) < glanceFor
}

func (s *Service) note(subject string) {
	s.looks.Lock()
	defer s.looks.Unlock()
	if len(s.looked) >= mostGlances {
		clear(s.looked)
	}
	s.looked[subject] = s.Now()
}

// Read returns the numbers without an entry in the audit log: for the program itself. Concurrent callers wait for one read. They
// share its result, which must not be changed.
func (s *Service) Read(ctx context.Context) (Overview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := s.Now().Sub(s.last.At); !s.last.At.IsZero() && age >= 0 && age < fresh {
		return s.last, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	o, err := s.read(authz.WithReader(ctx, authz.Reader{})) // callers share it, so it has no single reader
	if err != nil {
		return Overview{}, err
	}
	s.last = o
	return o, nil
}
