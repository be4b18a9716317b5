package payment

import "time"

// Licence allows calls that move money until a lease ends. It is made before the
// lease is taken, so it always ends first.
type Licence struct {
	start time.Time
	lease time.Duration
	now   func() time.Time
}

func (s *Service) licence() Licence {
	return NewLicence(s.now(), s.opts.Lease, s.now)
}

// Check returns ErrLicenceEnded past the lease, by the monotonic or by the wall
// clock: a process that was frozen, or whose clock was set, sends nothing. It is
// called just before the first byte goes out.
func (l Licence) Check() error {
	if l.now == nil {
		return ErrLicenceEnded
	}
	now := l.now()
	if now.Sub(l.start) >= l.lease || now.Round(0).Sub(l.start.Round(0)) >= l.lease {
		return ErrLicenceEnded
	}
	return nil
}

// left is how long the licence still lasts.
func (l Licence) left() time.Duration {
	if l.now == nil {
		return 0
	}
	return l.lease - l.now().Sub(l.start)
}

// NewLicence returns a licence that ends lease after start, by the clock now.
func NewLicence(start time.Time, lease time.Duration, now func() time.Time) Licence {
	return Licence{start: start, lease: lease, now: now}
}
