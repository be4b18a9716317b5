package api

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/paylatch/paylatch/internal/api/access"
	"github.com/paylatch/paylatch/internal/api/problem"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// webhookTime is how long a delivery may take, its sender's patience aside.
const webhookTime = 10 * time.Second

// webhookPath is where providers deliver to.
const webhookPath = "/webhooks/"

func (s *server) routeWebhooks(e *echo.Echo) {
	for _, op := range s.doc.Tagged("webhooks") {
		e.Add(op.Method, echoPath(op.Path), s.receive)
	}
}

// receive takes a provider's webhook. That the sender hangs up does not stop what
// was begun: it would only send the same again.
func (s *server) receive(c echo.Context) error {
	name := pathParam(c, "account")
	account, ok := s.Accounts[name]
	if !ok || account.Verifier == nil {
		return problem.Refuse("unknown-account", "")
	}
	x := exchangeIn(c)
	x.Account = name
	if err := account.Senders.Check(senderOf(c)); err != nil {
		return err
	}
	d, err := s.delivery(c, account)
	if err != nil {
		return err
	}
	if tried, ok := account.Verifier.(webhooks.Challenger); ok {
		switch ack, is := tried.Challenge(d); {
		case is && ack.Status >= http.StatusBadRequest:
			return webhooks.ErrPayload
		case is:
			return acknowledge(c, ack, "")
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), webhookTime)
	defer cancel()
	events, err := account.Verifier.Verify(ctx, d)
	if err != nil {
		return err
	}
	if asker, ok := account.Verifier.(webhooks.Answerer); ok && len(events) == 1 && events[0].Kind == webhooks.KindQuestion {
		answer, err := s.Payments.Question(ctx, name, events[0])
		if err != nil {
			return err
		}
		return acknowledge(c, asker.Answer(d, answer), "")
	}
	list := received(name, account.Verifier, d, events)
	if anyUnsigned(list) {
		x.Verdicts, err = s.takeUnsigned(ctx, d.RemoteAddr, list)
	} else {
		x.Verdicts, err = s.Payments.Intake(ctx, list)
	}
	if err != nil {
		return err
	}
	return acknowledge(c, account.Verifier.Ack(d, events), access.Verdicts(x.Verdicts))
}

// delivery is what was sent. Where the scheme is GET the news is in the query: a body
// beside it is neither signed nor read.
func (s *server) delivery(c echo.Context, account Account) (webhooks.Delivery, error) {
	r, topic := c.Request(), pathParam(c, "topic")
	var body []byte
	if r.Method != http.MethodGet {
		var err error
		if body, err = s.readBody(c); err != nil {
			return webhooks.Delivery{}, err
		}
	}
	return webhooks.Delivery{
		Method: r.Method, URL: s.addressOf(r, account, topic), Topic: topic, Header: r.Header, Body: body,
		RemoteAddr: senderOf(c), ReceivedAt: s.Now(),
	}, nil
}

// addressOf is the endpoint's address as the provider knows it, which some of
// them sign.
func (s *server) addressOf(r *http.Request, account Account, topic string) string {
	if account.PublicURL == "" {
		return s.scheme(r) + "://" + r.Host + r.URL.RequestURI()
	}
	address := account.PublicURL
	if topic != "" {
		address += "/" + url.PathEscape(topic)
	}
	if r.URL.RawQuery != "" {
		address += "?" + r.URL.RawQuery
	}
	return address
}

func (s *server) scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	trusted := err == nil && slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool {
		return p.Contains(peer.Addr().Unmap())
	})
	if trusted && r.Header.Get(echo.HeaderXForwardedProto) == "https" {
		return "https"
	}
	return "http"
}

// received keeps what was sent: the body, or the query of a scheme without one. A
// secret that is in it is not kept.
func received(account string, by webhooks.Verifier, d webhooks.Delivery, events []webhooks.Event) []payment.Received {
	raw := d.Body
	if redactor, ok := by.(webhooks.Redactor); ok {
		raw = redactor.Redacted(d)
	}
	if len(raw) == 0 {
		if u, err := url.Parse(d.URL); err == nil {
			raw = []byte(u.RawQuery)
		}
	}
	headers := keptHeaders(d.Header)
	list := make([]payment.Received, len(events))
	for i, e := range events {
		list[i] = payment.Received{Account: account, Event: e, Headers: headers, Body: raw, At: d.ReceivedAt}
	}
	return list
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

// pathParam is a segment of the path, decoded. echo hands it out as it came if
// the path was written unusually.
func pathParam(c echo.Context, name string) string {
	text := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return text
	}
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return ""
	}
	return decoded
}
