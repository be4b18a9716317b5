package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/platform/terminal"
	"github.com/paylatch/paylatch/internal/provider/standard"
)

const (
	// price is the amount of a charge, in minor units.
	price = 1999
	// maxAnswer bounds a response, maxShown the printed part of it.
	maxAnswer, maxShown = 1 << 20, 300
	// lookAgain is how long a charge that is under way is left before it is looked up again.
	lookAgain = 250 * time.Millisecond
)

// session is one run at one provider.
type session struct {
	Options

	received *receiver
	// paid, declined and refunded are the objects whose webhooks are awaited.
	paid, declined *standard.Charge
	refunded       *standard.Refund
	offers         offers
}

// offers are the features that the provider offers, the features that it lacks, and checks that refused requests had no effect.
type offers struct {
	has, lacks []string
	undone     []undone
}

// undone checks that a request that was refused as not_supported changed nothing.
type undone struct {
	name string
	look func(context.Context) error
}

func newSession(o Options) *session {
	o.URL = strings.TrimRight(o.URL, "/")
	return &session{Options: o}
}

func (s *session) reference() string { return uuid.NewString() }

// call is a request. A Body that is a string is sent as it is, any other Body as JSON. Key is the idempotency key; no key is
// sent if it is empty.
type call struct {
	method, path, key string
	body              any
	// auth replaces the Authorization header; nil: the header has the API key.
	auth *string
}

// reply is a response.
type reply struct {
	Status int
	Body   []byte
}

// String returns the printed form of the response.
func (r reply) String() string {
	text := terminal.Visible(strings.ToValidUTF8(string(r.Body), "?"))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, text))
}

func (s *session) send(ctx context.Context, c call) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	text, verbatim := c.body.(string)
	if !verbatim && c.body != nil {
		raw, err := json.Marshal(c.body)
		if err != nil {
			return reply{}, fmt.Errorf("write the request: %w", err)
		}
		text = string(raw)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, s.URL+c.path, strings.NewReader(text))
	if err != nil {
		return reply{}, fmt.Errorf("make the request: %w", err)
	}
	s.sign(req, c)
	res, err := s.Client.Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("no answer: %w", errors.Unwrap(err))
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return reply{}, fmt.Errorf("half an answer: %w", err)
	}
	return reply{res.StatusCode, body}, nil
}

func (s *session) sign(req *http.Request, c call) {
	if c.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	switch {
	case c.auth != nil && *c.auth != "":
		req.Header.Set("Authorization", *c.auth)
	case c.auth == nil && s.APIKey != "":
		req.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
}

// plain takes the credential out of a text.
func (s *session) plain(text string) string {
	if s.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, s.APIKey, "(the API key)")
}

// object sends a request and reads the object of the response, with status 200 or 201.
func object[T any](ctx context.Context, s *session, c call) (one T, r reply, err error) {
	if r, err = s.send(ctx, c); err != nil {
		return one, r, err
	}
	if r.Status != http.StatusOK && r.Status != http.StatusCreated {
		if refused, err := standard.RefusalOf(r.Status, r.Body); err == nil && refused.Code == "not_supported" && r.Status == http.StatusUnprocessableEntity {
			return one, r, errUnsupported
		}
		return one, r, fmt.Errorf("%s", r)
	}
	if err := json.Unmarshal(r.Body, &one); err != nil {
		return one, r, fmt.Errorf("%s: %w", r, err)
	}
	return one, r, nil
}

// refused returns an error unless the provider refuses a request for good, in the form of the contract.
func (s *session) refused(ctx context.Context, c call, statuses ...int) (*standard.RefusalError, error) {
	r, err := s.send(ctx, c)
	if err != nil {
		return nil, err
	}
	refusal, err := standard.RefusalOf(r.Status, r.Body)
	if err != nil {
		return nil, fmt.Errorf("%s", r)
	}
	if !slices.Contains(statuses, r.Status) {
		return nil, fmt.Errorf("%s", r)
	}
	return refusal, nil
}

// begin is the request of a charge that takes its money at once.
func (s *session) begin(token string) standard.ChargeRequest {
	return standard.ChargeRequest{
		Reference: s.reference(), OrderID: "conformance", Amount: price, Currency: s.Currency, Token: token, Capture: "automatic",
		ReturnURL: "https://shop.example/back",
	}
}

// charge begins a charge. While the charge is under way it is looked up again, until the time for that is over.
func (s *session) charge(ctx context.Context, in standard.ChargeRequest, key string) (standard.Charge, error) {
	c, _, err := object[standard.Charge](ctx, s, post("/v1/charges", key, in))
	for end := s.Now().Add(s.Wait); err == nil && c.Status == standard.Pending && c.NextAction == nil && s.Now().Before(end); {
		if err = pause(ctx, lookAgain); err == nil {
			c, err = s.lookup(ctx, c.ID)
		}
	}
	return c, err
}

// pays is a charge that has succeeded.
func (s *session) pays(ctx context.Context) (standard.Charge, error) {
	c, err := s.charge(ctx, s.begin(s.Tokens.Success), s.reference())
	if err != nil {
		return c, err
	}
	return c, must(c.ID != "" && c.Status == standard.Succeeded, "a charge %q with the status %q", c.ID, c.Status)
}

func (s *session) lookup(ctx context.Context, id string) (standard.Charge, error) {
	c, _, err := object[standard.Charge](ctx, s, call{method: http.MethodGet, path: "/v1/charges/" + url.PathEscape(id)})
	return c, err
}

type list[T any] struct {
	Items []T `json:"items"`
}

// by lists the objects with a reference. A response without a list is an error.
func by[T any](ctx context.Context, s *session, path, reference string) ([]T, error) {
	l, r, err := object[list[T]](ctx, s, call{method: http.MethodGet, path: path + "?" + url.Values{"reference": {reference}}.Encode()})
	if err != nil {
		return nil, err
	}
	return l.Items, must(l.Items != nil, "no items: %s", r)
}

// once returns an error unless there is exactly one charge with a reference, with an id.
func (s *session) once(ctx context.Context, reference, id string) error {
	charges, err := by[standard.Charge](ctx, s, "/v1/charges", reference)
	if err != nil {
		return err
	}
	return must(len(charges) == 1 && charges[0].ID == id, "%d charges with the reference", len(charges))
}

// never returns an error if there is a charge with a reference.
func (s *session) never(ctx context.Context, reference string) error {
	charges, err := by[standard.Charge](ctx, s, "/v1/charges", reference)
	if err != nil {
		return err
	}
	return must(len(charges) == 0, "%d charges of a request that must make none", len(charges))
}

func post(path, key string, body any) call {
	return call{method: http.MethodPost, path: path, key: key, body: body}
}

// of is the address of a charge's command.
func of(c standard.Charge, verb string) string {
	return "/v1/charges/" + url.PathEscape(c.ID) + "/" + verb
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller has ended it
	}
}

// captured returns the captured amount of a charge: the whole amount if the response leaves it out.
func captured(c standard.Charge) int64 {
	if c.AmountCaptured == nil {
		return c.Amount
	}
	return *c.AmountCaptured
}
