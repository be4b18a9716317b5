package payment

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/fsm"
)

// What a provider said is worth some patience with the storage: as many tries as that,
// none of which is begun later than the patience allows. A try behind somebody's lock
// takes as long as a statement may.
const (
	settleTries    = 10
	settlePause    = 200 * time.Millisecond
	settlePatience = 5 * time.Second
)

// errOvertaken says that a refusal which was to be answered is void: another runner has
// sent the same command since.
var errOvertaken = errors.New("another runner took over")

// settling is one call of settle. One that is left must be done alone.
type settling struct {
	// before is the attempt as the runner took it.
	before Attempt
	news   News
	now    Attempt
	left   bool
	// odd says that the news were left out since they made the program panic.
	odd bool
}

// settle is commit 2: it applies what a runner learnt to the attempt that it took,
// which was as before says, gives the lease back and says when to ask next. News of
// a runner that was overtaken is applied all the same; only the lease, the schedule
// and its own conclusions no longer count. It returns errOvertaken, and has done nothing,
// if such a runner's caller was to be told of a refusal.
//
// First opens the transaction: a key is locked before its attempt. Without it, calls
// that come at the same time share a transaction.
func (s *Service) settle(ctx context.Context, before Attempt, n News, first ...func(ctx context.Context, tx Tx) error) (View, error) {
	c := &settling{before: before, news: n}
	shared := len(first) == 0 && s.settles.Do(context.WithoutCancel(ctx), c) == nil
	if !shared || c.left {
		if err := s.settleAlone(ctx, c, first...); err != nil {
			return View{}, err
		}
	}
	return s.show(ctx, c.now)
}

// settleAlone settles one call. News that make the program panic are left out, for a
// person to look at: the lease is given back all the same, and the next check is put off.
func (s *Service) settleAlone(ctx context.Context, c *settling, first ...func(ctx context.Context, tx Tx) error) error {
	settle := func(ctx context.Context, b *batch) error {
		for _, do := range first {
			if err := do(ctx, b.tx); err != nil {
				return err
			}
		}
		a, err := b.lock(ctx, c.before.OrderID, c.before.ID)
		switch {
		case err != nil:
			return err
		case c.news.Answered && a.Fence != c.before.Fence:
			return errOvertaken
		}
		if c.odd {
			b.open(b.change(a), NeedsReview, oddAnswer)
			b.latest().About = "odd answer"
		}
		return s.settleIn(ctx, b, map[AttemptID]Attempt{a.ID: a}, c)
	}
	err := s.patiently(ctx, settle)
	if thrown := (*PanicError)(nil); errors.As(err, &thrown) {
		c.news, c.odd = News{}, true
		return errors.Join(err, s.patiently(ctx, settle))
	}
	return err
}

// oddAnswer is what a person is asked about an answer that made the program panic.
const oddAnswer = "What the provider answered could not be applied, by a fault of this program that its log shows. " +
	"Compare with the provider's dashboard, and report the fault."

// settleAll settles in one transaction what can be settled without waiting for
// anybody's lock.
func (s *Service) settleAll(ctx context.Context, calls []*settling) error {
	ids, names := make([]AttemptID, len(calls)), []Reference{}
	for i, c := range calls {
		ids[i] = c.before.ID
		for _, name := range append(c.news.Names, c.news.ProviderPaymentID) {
			if name != "" {
				names = append(names, Reference{c.before.Account, name})
			}
		}
	}
	return s.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		b := s.newBatch(tx)
		locked, err := b.take(ctx, ids, sorted(names))
		if err != nil {
			return err
		}
		return s.settleIn(ctx, b, locked, calls...)
	})
}

func (s *Service) settleIn(ctx context.Context, b *batch, locked map[AttemptID]Attempt, calls ...*settling) error {
	for _, c := range calls {
		a, ok := locked[c.before.ID]
		if c.left = !ok; c.left {
			continue
		}
		change, news := b.change(a), c.news
		ours := change.Attempt.Fence == c.before.Fence
		if !ours {
			news = news.overtaken()
		}
		if err := b.hear(ctx, change, news); err != nil {
			return err
		}
		switch {
		case ours && c.before.State.Final():
			s.voided(b, change, news, a.wantedBefore(c.before.LeaseUntil))
		case ours:
			s.release(b, c.before, change, news)
			if c.before.State != fsm.Authorized && change.Attempt.State == fsm.Authorized {
				// Authorised since the provider was asked: what it refused then it may do now.
				b.authorized = append(b.authorized, change)
			}
		}
	}
	if err := b.save(ctx); err != nil {
		return err
	}
	for _, c := range calls {
		if !c.left {
			c.now = b.changes[c.before.ID].Attempt
		}
	}
	return nil
}

// patiently runs a transaction again while the storage is gone.
func (s *Service) patiently(ctx context.Context, write func(ctx context.Context, b *batch) error) error {
	until := s.now().Add(settlePatience)
	err := s.inBatch(ctx, write)
	for try := 1; try < settleTries && errors.Is(err, ErrUnavailable) && s.now().Before(until); try++ {
		timer := time.NewTimer(settlePause)
		<-timer.C
		err = s.inBatch(ctx, write)
	}
	return err
}

// release gives the lease back and sets the next check.
func (s *Service) release(b *batch, before Attempt, c *Change, n News) {
	a := &c.Attempt
	a.LeaseUntil = nil
	switch {
	case a.State.Final():
		return
	case n.Refused:
		if a.Intent.Number == before.Intent.Number {
			endIntent(a)
			if i := before.Intent; i.Kind == IntentCapture && !n.Answered && !i.endedBy(n.News) {
				b.notCarriedOut(c, string(i.Kind), strconv.Itoa(i.Number))
			}
		}
	default:
		s.expire(b, c, n)
	}
	if !n.Unasked && (n.Cause.Kind != CauseCall || a.Fence > 1) {
		a.Checks++
	}
	at := b.now().Add(s.delay(a.Checks))
	if a.wantedBefore(before.LeaseUntil) || a.Intent.Kind == IntentCancel && before.Intent.Kind != IntentCancel {
		at = b.now()
	}
	a.NextCheckAt = &at
	switch overdue := s.overdue(*a, n, b.now()); {
	case overdue && (n.News == fsm.NewsSoftFailed && a.Intent.Number > 0 || n.Refused && before.Intent.Kind == IntentCancel):
		b.uncancelled(c)
	case overdue && s.unresolvable(before, *a, n, b.now()):
		b.open(c, NeedsReview, "Nobody can tell what became of this payment: ask the provider's support, then resolve it as paid or not paid.")
	}
}

// unresolvable reports whether there is no hope any more that an attempt moves on
// by itself: nobody knows whether the provider got it, the wish to cancel it does
// not get through, or nobody could say anything of it for longer than any life.
func (s *Service) unresolvable(before, a Attempt, n News, now time.Time) bool {
	lives, silent := s.opts.Accounts[a.Account].Lives, n.News == "" || n.News == fsm.NewsUnknown
	return a.State == fsm.OutcomeUnknown || before.Intent.Kind != IntentNone && before.Intent.Kind == a.Intent.Kind ||
		silent && lives.outlived(a, fsm.NewsProcessing, now) && (a.State != fsm.Authorized || lives.outlived(a, fsm.NewsAuthorized, now))
}

// wantedBefore reports whether somebody wants the attempt looked at before the end
// of the lease, which is when it would be without that. The database has
// microseconds.
func (a Attempt) wantedBefore(lease *time.Time) bool {
	return lease != nil && a.NextCheckAt != nil && a.NextCheckAt.Before(lease.Truncate(time.Microsecond))
}

// schedule is how long after an answer the provider is asked the next time, in
// multiples of RecheckAfter: 10 s, 30 s, 1 m, 2 m, 5 m, 15 m, 1 h, 6 h, 24 h by
// default, then daily.
var schedule = [...]int{1, 3, 6, 12, 30, 90, 360, 2160, 8640} //nolint:gochecknoglobals // a table

// overdue reports whether an attempt is past the end of its schedule. Questions
// that were held back are no checks: then the time counts.
func (s *Service) overdue(a Attempt, n News, now time.Time) bool {
	since := a.CreatedAt
	if a.Intent.At.After(since) { // see setIntent
		since = a.Intent.At
	}
	return s.ended(a.Checks, n.Unasked, now.Sub(since))
}

// ended reports whether a schedule is over, after so many checks, or, while none can
// be made, so long a time.
func (s *Service) ended(checks int, unasked bool, after time.Duration) bool {
	whole := s.opts.RecheckAfter * time.Duration(schedule[len(schedule)-1])
	for _, multiple := range schedule {
		whole += s.opts.RecheckAfter * time.Duration(multiple)
	}
	return checks > len(schedule) || unasked && after > whole
}

func (s *Service) delay(checks int) time.Duration {
	return time.Duration(schedule[min(checks, len(schedule)-1)]) * s.opts.RecheckAfter
}
