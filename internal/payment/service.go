package payment

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/paylatch/paylatch/internal/groupcommit"
	"github.com/paylatch/paylatch/internal/idempotency"
)

// Account is how one account at a provider is treated.
type Account struct {
	Provider Provider
	// Live is false for an account of test money, true for one of real money, nil
	// if that can't be told.
	Live *bool
	// Lives are how long its attempts may stay unfinished.
	Lives Lives
	// Hears says that webhooks of the account are taken.
	Hears bool
	// Offered accounts may be named by a customer's pay; the default one always may.
	Offered bool
	// AutoRefund pays late money back by itself.
	AutoRefund bool
}

// Options configure a Service. Store and Accounts are required.
type Options struct {
	Store          Store
	Accounts       map[string]Account
	DefaultAccount string
	// OrdersBy are the roles that may create orders, and so set prices; nil means the
	// service alone.
	OrdersBy []Role

	// Wait is how long a duplicate waits for the first request.
	Wait time.Duration
	// Lease is how long a runner may speak with a provider; all its calls end
	// within. ProviderTimeout, of one call, must be shorter.
	Lease           time.Duration
	ProviderTimeout time.Duration
	// Quota bounds the new keys of one user.
	Quota idempotency.Quota
	// RecheckAfter is when a pending attempt is first asked about after an answer;
	// the later delays are multiples of it.
	RecheckAfter time.Duration

	// SilentAfter is how long attempts may be pending without any webhook of their
	// account until that counts as silent.
	SilentAfter time.Duration

	// Seal encrypts a payment method's token for the attempt; Open decrypts it.
	// Without them no token is kept, and no charge is ever sent twice.
	Seal func(token string, id AttemptID) ([]byte, error)
	Open func(sealed []byte, id AttemptID) (string, error)

	// Notes gathers what calls to the providers took and ended with; nil for nobody.
	Notes *Notes

	// Now is the clock of licences and of the search for missed names; it must carry a
	// monotonic reading.
	Now func() time.Time
}

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	opts     Options
	store    Store
	now      func() time.Time
	commands idempotency.Flights[Reply]
	orders   idempotency.Flights[createdOrder]
	cancels  idempotency.Flights[cancelledOrder]
	refunds  idempotency.Flights[Refunded]
	arrivals *groupcommit.Group[*arrival]
	// seed is that of the hashes which keep arrivals apart.
	seed      maphash.Seed
	heard     hearing
	missed    missed
	byID      *groupcommit.Group[*lookup[AttemptID]]
	byRequest *groupcommit.Group[*lookup[RequestName]]
	early     earlyNotices
	knows     *groupcommit.Group[*knowing]
	begins    *groupcommit.Group[*beginning]
	settles   *groupcommit.Group[*settling]
}

// New returns a service.
func New(o Options) *Service {
	o.Accounts = withNotes(o.Accounts, o.Notes)
	if len(o.OrdersBy) == 0 {
		o.OrdersBy = []Role{RoleService}
	}
	s := &Service{opts: o, store: o.Store, now: o.Now, seed: maphash.MakeSeed()}
	s.arrivals = s.groupArrivals()
	s.byID, s.byRequest = share(lookAll(s.store.AttemptsByID)), share(lookAll(s.store.AttemptsByRequest))
	s.knows = share(s.knowAll)
	s.begins, s.settles = share(s.beginAll), share(s.settleAll)
	return s
}

// Run returns when ctx has ended and the webhooks that are queued by then are applied; Intake
// refuses further ones.
func (s *Service) Run(ctx context.Context) error {
	<-ctx.Done()
	s.arrivals.Close()
	return nil
}

func (s *Service) account(name string) (Account, bool) {
	a, ok := s.opts.Accounts[name]
	return a, ok
}
