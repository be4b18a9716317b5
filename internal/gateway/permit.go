package gateway

import "time"

// Permit allows calls that move money until a lease ends. Its clock is read before the
// lease is taken, so it always ends first.
type Permit struct {
	start time.Time
	lease time.Duration
	now   func() time.Time
}

// NewPermit returns a permit that ends lease after start, by the clock now.
func NewPermit(start time.Time, lease time.Duration, now func() time.Time) Permit {
	return Permit{start: start, lease: lease, now: now}
}

// Check returns ErrPermitEnded past the lease, by the monotonic or by the wall clock: after a
// freeze of the process, or a change of its clock, nothing is sent. It is called just before the
// first byte goes out.
func (p Permit) Check() error {
	if p.now == nil {
		return ErrPermitEnded
	}
	now := p.now()
	if now.Sub(p.start) >= p.lease || now.Round(0).Sub(p.start.Round(0)) >= p.lease {
		return ErrPermitEnded
	}
	return nil
}

// Left is how long the permit still lasts.
func (p Permit) Left() time.Duration {
	if p.now == nil {
		return 0
	}
	return p.lease - p.now().Sub(p.start)
}
