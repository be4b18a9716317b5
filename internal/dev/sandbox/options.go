package sandbox

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// Options configure a Server. The zero value keeps its state in memory and
// sends no webhooks.
type Options struct {
	// StateFile is the journal; its directory is made if need be. Only one
	// process can have it open. Empty: the state ends with the process.
	StateFile string
	// WebhookURL gets every event. Empty: none are made.
	WebhookURL string
	// WebhookSecret (whsec_…) signs the webhooks; required with WebhookURL.
	WebhookSecret string
	// APIKey is required in calls as Authorization: Bearer. Empty: calls need no key. Pages and the drop-in need no key.
	APIKey string
	// PublicURL is the address of this server for a browser, for the links to hosted
	// pages. Empty: the address that the caller of the charge used.
	PublicURL string
	// Lose is the share of the events, 0 to 1, that are never delivered: the list of events has them. Which, follows
	// from Seed and the number of the event.
	Lose float64
	Seed uint64
	// Now is the clock of everything that is stored; nil: the system's.
	Now func() time.Time
	// Until waits for a time by that clock: for the later steps of charges, for deliveries and their back-off. It returns
	// early, with the error of ctx, when ctx ends. Nil: it waits for the time's distance from Now.
	Until func(ctx context.Context, at time.Time) error
	// Signed is the clock of the webhooks' signatures; receivers check their age. Nil: Now.
	Signed func() time.Time
	// Client sends the webhooks; nil: one that follows no redirects.
	Client *http.Client
	// Log receives the error of every delivery that failed and will be retried, and of
	// every write that failed. It is called from several goroutines; nil: errors are
	// dropped.
	Log func(error)
	// Delays replace the documented ones where they are not zero.
	Delays Delays
}

// Delays are the waits of the misbehaviours and of the deliveries.
type Delays struct {
	// Async is how long an asynchronous charge stays pending (200 ms).
	Async time.Duration
	// Late is how long after its failure a late success comes (1 s).
	Late time.Duration
	// Hang bounds a call that gets no response (60 s).
	Hang time.Duration
	// Webhook lets a response go out before the webhook that follows it (50 ms).
	Webhook time.Duration
	// WebhookFirst bounds how long a response waits for its webhook (2 s).
	WebhookFirst time.Duration
	// Timeout bounds one delivery (5 s).
	Timeout time.Duration
	// RetryMin is the wait after the first failed delivery (200 ms), which
	// doubles up to RetryMax (30 s).
	RetryMin, RetryMax time.Duration
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the clock that everything else is given
	}
	if o.Until == nil {
		o.Until = func(ctx context.Context, at time.Time) error { return sleep(ctx, at.Sub(o.Now())) }
	}
	if o.Signed == nil {
		o.Signed = o.Now
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	o.Delays = o.Delays.withDefaults()
	return o
}

func (d Delays) withDefaults() Delays {
	return Delays{
		Async:        cmp.Or(d.Async, 200*time.Millisecond),
		Late:         cmp.Or(d.Late, time.Second),
		Hang:         cmp.Or(d.Hang, time.Minute),
		Webhook:      cmp.Or(d.Webhook, 50*time.Millisecond),
		WebhookFirst: cmp.Or(d.WebhookFirst, 2*time.Second),
		Timeout:      cmp.Or(d.Timeout, 5*time.Second),
		RetryMin:     cmp.Or(d.RetryMin, 200*time.Millisecond),
		RetryMax:     cmp.Or(d.RetryMax, 30*time.Second),
	}
}

// sleep returns early, with its error, when ctx ends.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller needs no more than that
	}
}
