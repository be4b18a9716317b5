package api

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/semaphore"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/platform/throttle"
	"github.com/paylatch/paylatch/webhooks"
)

// A Receiver receives providers' webhooks: verify, parse, hand to the intake, acknowledge. Unsigned deliveries have
// limits of their own.

// WebhookIntake is the intake of deliveries.
type WebhookIntake interface {
	Intake(ctx context.Context, received []payment.ReceivedEvent) ([]fsm.Verdict, error)
	// Known and Early are for unsigned deliveries.
	Known(ctx context.Context, received []payment.ReceivedEvent) (bool, error)
	Early(sender string, received []payment.ReceivedEvent) error
	Question(ctx context.Context, account string, e webhooks.Event) (webhooks.Answer, error)
}

// WebhookAccount configures the webhooks of one account.
type WebhookAccount struct {
	Verifier webhooks.Verifier
	// PublicURL is the address that the provider has; empty means the address in the request.
	PublicURL string
	// Senders are the addresses that may deliver. The verifier checks each delivery as well.
	Senders webhooks.Senders
	// Fingerprint goes to Options.Rejected with each delivery that Verifier has not proven.
	Fingerprint []byte
	// Paused accounts accept no deliveries for now; their providers should deliver again later.
	Paused bool
}

// ReceiverOptions configure a Receiver. All but TrustedProxies and Rejected are required.
type ReceiverOptions struct {
	Payments WebhookIntake
	Accounts *current.Map[WebhookAccount]
	// Rejected gets each delivery with an invalid signature, with the requested URL and with the account's
	// Fingerprint. It must not block; may be nil.
	Rejected       func(account string, fingerprint []byte, d webhooks.Delivery)
	TrustedProxies []netip.Prefix
	Bodies         *Bodies
	// MaxBytes is how many bytes of a delivery are read.
	MaxBytes int64
	Now      func() time.Time
}

// Receiver receives webhooks.
type Receiver struct {
	ReceiverOptions
	// unsigned limits stored deliveries by account and network; lookups, all unsigned ones by network.
	unsigned, lookups *throttle.KeyedLimiter
	lanes             lanes
	// large admits bodies larger than smallBody, by their bytes. queue bounds the bodies that wait for large.
	large, queue *semaphore.Weighted
}

// NewReceiver returns a receiver.
func NewReceiver(o ReceiverOptions) *Receiver {
	return &Receiver{
		ReceiverOptions: o, unsigned: throttle.New(unsignedEach, unsignedAtOnce), lookups: throttle.New(lookupsEach, lookupsAtOnce),
		large: semaphore.NewWeighted(largeBodies), queue: semaphore.NewWeighted(queuedBodies),
	}
}

// A body may take twenty times its bytes when it is parsed, and some providers' signatures are inside the body. So larger bodies of all
// senders wait for each other before they are parsed, and are refused once too many wait; smaller bodies pass.
const (
	smallBody    = 32 << 10
	largeBodies  = 512 << 10
	queuedBodies = 4 << 20
)

// admit waits until a body may be parsed, and returns the function that ends that.
func (rc *Receiver) admit(ctx context.Context, body []byte) (leave func(), err error) {
	n := min(int64(len(body)), largeBodies)
	if n <= smallBody {
		return func() {}, nil
	}
	if !rc.queue.TryAcquire(n) {
		return nil, payment.ErrOverloaded
	}
	defer rc.queue.Release(n)
	if err := rc.large.Acquire(ctx, n); err != nil {
		return nil, payment.ErrOverloaded
	}
	return func() { rc.large.Release(n) }, nil
}

// receiveTime is how long a delivery may take.
const receiveTime = 10 * time.Second

// Receive handles a provider's webhook. It goes on when the sender hangs up: the provider would only send the same again.
func (rc *Receiver) Receive(c echo.Context) error {
	name := PathParam(c, "account")
	account, ok := rc.Accounts.Find(name)
	if !ok || account.Verifier == nil {
		return render.Refuse("unknown-account", "")
	}
	record := AccessRecordOf(c.Request().Context())
	record.Account = name
	if account.Paused {
		return render.Refuse("webhooks-paused", "")
	}
	if err := account.Senders.Check(Sender(c)); err != nil {
		return err
	}
	d, err := rc.delivery(c, account)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), receiveTime)
	defer cancel()
	leave, err := rc.admit(ctx, d.Body)
	if err != nil {
		return err
	}
	defer leave()
	if challenger, ok := account.Verifier.(webhooks.Challenger); ok {
		switch ack, is := challenger.Challenge(d); {
		case is && ack.Status >= http.StatusBadRequest:
			return webhooks.ErrPayload
		case is:
			return acknowledge(c, ack, "")
		}
	}
	events, err := account.Verifier.Verify(ctx, d)
	if err != nil {
		rc.rejected(c, name, account.Fingerprint, d, err)
		return err
	}
	if answerer, ok := account.Verifier.(webhooks.Answerer); ok && len(events) == 1 && events[0].Kind == webhooks.KindQuestion {
		answer, err := rc.Payments.Question(ctx, name, events[0])
		if err != nil {
			return err
		}
		return acknowledge(c, answerer.Answer(d, answer), "")
	}
	list := payment.DeliveredEvents(name, account.Verifier, d, events)
	switch {
	case anyUnsigned(list):
		record.Verdicts, err = rc.takeUnsigned(ctx, d.RemoteAddr, list)
	case anyUnreadable(list):
		record.Verdicts, err = rc.takeUnreadable(ctx, d.RemoteAddr, list)
	default:
		record.Verdicts, err = rc.Payments.Intake(ctx, list)
	}
	if err != nil {
		return err
	}
	return acknowledge(c, account.Verifier.Ack(d, events), VerdictsText(record.Verdicts))
}

// delivery reads the delivery from the request. A GET delivery has its event in the query: its body is neither signed nor
// read.
func (rc *Receiver) delivery(c echo.Context, account WebhookAccount) (webhooks.Delivery, error) {
	r, topic := c.Request(), PathParam(c, "topic")
	var body []byte
	if r.Method != http.MethodGet {
		var err error
		if body, err = rc.Bodies.Read(c, rc.MaxBytes); err != nil {
			return webhooks.Delivery{}, err
		}
	}
	return webhooks.Delivery{
		Method: r.Method, URL: payment.WebhookAddress(account.PublicURL, topic, rc.requested(r)), Topic: topic, Header: r.Header, Body: body,
		RemoteAddr: Sender(c), ReceivedAt: rc.Now(),
	}, nil
}

// rejected reports a delivery with an invalid signature. It leaves out a delivery with a missing or malformed signature, since no secret of
// the account could have made it.
func (rc *Receiver) rejected(c echo.Context, account string, fingerprint []byte, d webhooks.Delivery, why error) {
	if rc.Rejected == nil || !errors.Is(why, webhooks.ErrSignatureInvalid) {
		return
	}
	d.URL = rc.requested(c.Request())
	rc.Rejected(account, fingerprint, d)
}

// requested is the address that a request names.
func (rc *Receiver) requested(r *http.Request) string {
	return rc.scheme(r) + "://" + r.Host + addressOf(r).RequestURI()
}

func (rc *Receiver) scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	trusted := err == nil && slices.ContainsFunc(rc.TrustedProxies, func(p netip.Prefix) bool {
		return p.Contains(peer.Addr().Unmap())
	})
	if trusted && r.Header.Get(echo.HeaderXForwardedProto) == "https" {
		return "https"
	}
	return "http"
}

func acknowledge(c echo.Context, ack webhooks.Ack, result string) error {
	h := c.Response().Header()
	if result != "" {
		h.Set("Webhook-Result", result)
	}
	if ack.ContentType != "" {
		h.Set(echo.HeaderContentType, ack.ContentType)
	}
	c.Response().WriteHeader(ack.Status)
	_, _ = c.Response().Write(ack.Body)
	return nil
}
