package bulk

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Store keeps jobs. Its errors are those of package payment.
type Store interface {
	// Count counts the items that an order chooses with an id below before, in portions. Its time grows with the number of
	// events in the time range of the filter.
	Count(ctx context.Context, o Order, before uuid.UUID) (Counts, error)
	// Begin stores a job and the entry of its beginning in one transaction, and returns it as stored. While another one of its kind is running
	// it stores nothing and returns that, and false.
	Begin(ctx context.Context, j Job, begun support.AuditEntry) (Job, bool, error)
	// Job reads a job. It returns payment.ErrJobNotFound.
	Job(ctx context.Context, id uuid.UUID) (Job, error)
	// Jobs lists jobs before an id, newest first.
	Jobs(ctx context.Context, before uuid.UUID, limit int) ([]Job, error)
	// Stop ends a job that is running, and writes the entries in the same transaction; false if it was over. It returns payment.ErrJobNotFound.
	Stop(ctx context.Context, id uuid.UUID, entries func(Job) []support.AuditEntry) (Job, bool, error)
}

// Audit audits reads and refusals; *support.Service in the program.
type Audit interface {
	Watch(ctx context.Context, who support.Staff, action support.Action, targetType, target string, act func() error) error
	Refuse(ctx context.Context, who support.Staff, action support.Action, targetType, target string, why error) error
}

// Service is the use cases of staff. It is safe for concurrent use.
type Service struct {
	cell  payment.Cell
	store Store
	audit Audit
}

// New returns a service. The ids of its jobs contain the number of the cell.
func New(of payment.Cell, store Store, audit Audit) *Service { return &Service{of, store, audit} }

// Try returns how many items an order would choose now, with subtotals, and changes nothing. It returns payment.ErrForbidden and
// a payment.ValidationError.
func (s *Service) Try(ctx context.Context, who support.Staff, o Order) (Counts, error) {
	var c Counts
	_, try := o.Kind.action()
	if err := s.may(ctx, who, o, try); err != nil {
		return c, err
	}
	err := s.audit.Watch(ctx, who, try, o.Kind.target(), o.Filter.text(o.Kind), func() (err error) {
		c, err = s.store.Count(ctx, o, s.cell.NewID())
		return err
	})
	return c, err
}

// Begin begins a job. The same order by the same person, while its job is running, gets that job. It returns payment.ErrForbidden, a
// payment.ValidationError, and a *RunningError while another job of the kind is running.
func (s *Service) Begin(ctx context.Context, who support.Staff, o Order) (Job, error) {
	act, _ := o.Kind.action()
	if err := s.may(ctx, who, o, act); err != nil {
		return Job{}, err
	}
	j := Job{Order: o, ID: s.cell.NewID(), ActionID: payment.OnlyCell.NewID(), By: who, State: Running}
	j.By.Subject, j.By.Door, j.By.Key = who.Person(), "", nil // as it is kept
	counts, err := s.store.Count(ctx, o, j.ID)
	if err != nil {
		return Job{}, err
	}
	j.Total = counts.Total
	detail := map[string]any{"filter": o.Filter.Members(o.Kind), "total": counts.Total, "counts": counts.By}
	if o.Resolution != "" {
		detail["resolution"] = string(o.Resolution)
	}
	got, begun, err := s.store.Begin(ctx, j, j.entry(payment.OnlyCell.NewID(), support.Begun, detail))
	switch {
	case err != nil:
		return Job{}, err
	case begun || got.repeatedBy(who, o):
		return got, nil
	}
	running := &RunningError{Job: got}
	return Job{}, s.audit.Refuse(ctx, who, act, "job", got.ID.String(), running)
}

// may returns payment.ErrForbidden, which is audited, and a payment.ValidationError.
func (s *Service) may(ctx context.Context, who support.Staff, o Order, action support.Action) error {
	if err := who.Require(o.Kind.roles()...); err != nil {
		return s.audit.Refuse(ctx, who, action, o.Kind.target(), o.Filter.text(o.Kind), err)
	}
	if err := who.MayAct(o.Reason, o.Kind.roles()...); err != nil {
		return err
	}
	return o.valid()
}

// repeatedBy reports whether the same person orders the same job again.
func (j Job) repeatedBy(who support.Staff, o Order) bool {
	return j.By.Subject == who.Person() && j.Reason == o.Reason && j.Resolution == o.Resolution && j.Filter.equal(o.Filter)
}

func (f Filter) equal(g Filter) bool {
	same := func(a, b *time.Time) bool { return a == b || a != nil && b != nil && a.Equal(*b) }
	return f.Account == g.Account && f.Verdict == g.Verdict && f.Type == g.Type && f.Kind == g.Kind && same(f.Since, g.Since) && same(f.Until, g.Until)
}

// Job returns a job with its progress. It returns payment.ErrForbidden and payment.ErrJobNotFound.
func (s *Service) Job(ctx context.Context, who support.Staff, id uuid.UUID) (j Job, err error) {
	if err := mayLook(who.Actor); err != nil {
		return Job{}, err
	}
	err = s.audit.Watch(ctx, who, support.ViewedJob, "job", id.String(), func() error {
		j, err = s.store.Job(ctx, id)
		return err
	})
	return j, err
}

// Jobs lists jobs, newest first. It returns payment.ErrForbidden and a payment.ValidationError.
func (s *Service) Jobs(ctx context.Context, who support.Staff, p support.Page) (list []Job, next string, err error) {
	if err := mayLook(who.Actor); err != nil {
		return nil, "", err
	}
	before, limit, err := p.BeforeID()
	if err != nil {
		return nil, "", err
	}
	err = s.audit.Watch(ctx, who, support.ViewedJobs, "jobs", "", func() error {
		list, err = s.store.Jobs(ctx, before, limit+1)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	list, next = support.Cut(p, list, func(j Job) (time.Time, string) { return j.CreatedAt, j.ID.String() })
	return list, next, nil
}

// Stop ends a job. Its finished items stay done, and it does nothing more once Stop has returned. The person who began the job
// may stop it, and an admin. Stop does not change a job that is over. It returns payment.ErrForbidden, payment.ErrJobNotFound,
// and a payment.ValidationError without a reason.
func (s *Service) Stop(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (Job, error) {
	if err := who.MayAct(reason, payment.RoleSupport, payment.RoleAdmin); err != nil {
		return Job{}, err
	}
	j, err := s.store.Job(ctx, id)
	if err != nil {
		return Job{}, s.audit.Refuse(ctx, who, support.StoppedJob, "job", id.String(), err)
	}
	if j.By.Subject != who.Person() && !who.Has(payment.RoleAdmin) {
		return Job{}, s.audit.Refuse(ctx, who, support.StoppedJob, "job", id.String(), payment.ErrForbidden)
	}
	j, _, err = s.store.Stop(ctx, id, func(j Job) []support.AuditEntry {
		stop := Job{Order: Order{Kind: j.Kind, Reason: reason}, ID: id, ActionID: payment.OnlyCell.NewID(), By: who}.entry(payment.OnlyCell.NewID(), support.Done, nil)
		stop.Action = support.StoppedJob
		return []support.AuditEntry{stop, j.ended(payment.OnlyCell.NewID())}
	})
	return j, err
}

func mayLook(a authz.Actor) error { return a.Require(payment.RoleSupport, payment.RoleAdmin) }
