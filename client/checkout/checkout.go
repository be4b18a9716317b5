package checkout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
)

const (
	// maxBody is the largest request of a page, in bytes.
	maxBody = 96 << 10
	// commandTime bounds a command: the page repeats it by itself.
	commandTime = 25 * time.Second
	// pollTime bounds the read of a status: paylatch waits for a minute at most.
	pollTime = 75 * time.Second
)

// ErrNoOrder is returned by a shop's function for an order that there is not, or that is another customer's: the page gets 404.
var ErrNoOrder = errors.New("checkout: no such order of this customer")

// errIncomplete is returned for a shop without one of its functions.
var errIncomplete = errors.New("checkout: Client, User and Order must be set")

// Shop is the shop's part of its checkout.
type Shop struct {
	// Client calls paylatch, with a token of role service.
	Client *client.Client
	// User returns the id of the signed-in customer by the shop's own session; empty if nobody is signed in.
	User func(r *http.Request) (string, error)
	// Order returns the terms of an order by the shop's own records, with its price, or ErrNoOrder unless the order is this
	// customer's. Nothing that a page sends is in it. It is called when a page creates the order, and must return the same
	// each time. Its OrderID is set by the caller.
	Order func(ctx context.Context, user, orderID string) (api.CreateOrder, error)
	// Pay adds to a page's pay request what the backend decides: the account, the capture, the address to return to. It must
	// add the same to each copy of a request: no times and no random values. May be nil.
	Pay func(ctx context.Context, user, orderID string, pay *api.Pay) error
	// Origins are the origins of pages that may send commands, if they are others than the shop's own, such as
	// https://www.shop.example.
	Origins []string
	// Log gets the errors of the shop's functions, and of requests without a response; nil means slog.Default().
	Log *slog.Logger

	protection *http.CrossOriginProtection
}

// New returns the routes:
//
//   - POST /{order_id} creates the order at paylatch, with the shop's price, and returns it;
//   - POST /{order_id}/pay is the browser client's payUrl;
//   - GET /{order_id}/status is its statusUrl;
//   - POST /{order_id}/complete is its completeUrl, the second step and the return from a provider's page.
//
// Mount them by [http.StripPrefix].
func New(s Shop) (http.Handler, error) {
	if s.Client == nil || s.User == nil || s.Order == nil {
		return nil, errIncomplete
	}
	s.Log = cmp.Or(s.Log, slog.Default())
	s.protection = http.NewCrossOriginProtection()
	for _, origin := range s.Origins {
		if err := s.protection.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("checkout: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("POST /{order_id}", s.guarded(s.create))
	mux.Handle("POST /{order_id}/pay", s.guarded(s.pay))
	mux.Handle("GET /{order_id}/status", s.guarded(s.status))
	mux.Handle("POST /{order_id}/complete", s.guarded(s.complete))
	return mux, nil
}

// guarded runs a route for the signed-in customer and writes the error that it returns.
func (s *Shop) guarded(route func(w http.ResponseWriter, r *http.Request, user string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := s.admitted(w, r, route); err != nil {
			refuse(w, r, s.Log, err)
		}
	})
}

func (s *Shop) admitted(w http.ResponseWriter, r *http.Request, route func(w http.ResponseWriter, r *http.Request, user string) error) error {
	if err := s.protection.Check(r); err != nil {
		return refused(http.StatusForbidden, "forbidden", "The request comes from a page of another site.")
	}
	user, err := s.User(r)
	if err != nil {
		return err
	}
	if user == "" {
		return refused(http.StatusUnauthorized, "unauthenticated", "Sign in at the shop.")
	}
	return route(w, r, user)
}

// create creates an order. Its key is a prefix and the order's id, so a repeated request creates no second order. With the prefix, an id of
// one character is long enough for a key.
func (s *Shop) create(w http.ResponseWriter, r *http.Request, user string) error {
	id := r.PathValue("order_id")
	order, err := s.Order(r.Context(), user, id)
	if err != nil {
		return err
	}
	order.OrderID = &id
	return s.forward(w, r, commandTime, func(ctx context.Context) (*http.Response, error) {
		return s.Client.API.CreateOrder(ctx, &api.CreateOrderParams{IdempotencyKey: "create-order-" + id, OnBehalfOf: &user}, order)
	})
}

func (s *Shop) pay(w http.ResponseWriter, r *http.Request, user string) error {
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	body, err := objectOf(r)
	if err != nil {
		return err
	}
	if members := others(body, ""); len(members) > 0 {
		return refused(http.StatusUnprocessableEntity, "validation-failed", "A page may not set these members. Leave them out.", members...)
	}
	var pay api.Pay
	if err := convert(body, &pay); err != nil {
		return err
	}
	id := r.PathValue("order_id")
	if s.Pay != nil {
		if err := s.Pay(r.Context(), user, id, &pay); err != nil {
			return err
		}
	}
	return s.forward(w, r, commandTime, func(ctx context.Context) (*http.Response, error) {
		return s.Client.API.Pay(ctx, id, &api.PayParams{IdempotencyKey: key, OnBehalfOf: &user}, pay)
	})
}

func (s *Shop) status(w http.ResponseWriter, r *http.Request, user string) error {
	attempt, err := attemptOf(r)
	if err != nil {
		return err
	}
	params := &api.ReadAttemptParams{OnBehalfOf: &user, IfNoneMatch: header(r, "If-None-Match"), Prefer: header(r, "Prefer")}
	return s.forward(w, r, pollTime, func(ctx context.Context) (*http.Response, error) {
		return s.Client.API.ReadAttempt(ctx, attempt, params)
	})
}

func (s *Shop) complete(w http.ResponseWriter, r *http.Request, user string) error {
	attempt, err := attemptOf(r)
	if err != nil {
		return err
	}
	key, err := keyOf(r)
	if err != nil {
		return err
	}
	body, err := objectOf(r)
	if err != nil {
		return err
	}
	details := body["details"]
	if delete(body, "details"); len(body) > 0 {
		return refused(http.StatusUnprocessableEntity, "validation-failed", "Send details alone.", names(body)...)
	}
	text, err := json.Marshal(details)
	if err != nil {
		return fmt.Errorf("checkout: write the details: %w", err)
	}
	return s.forward(w, r, commandTime, func(ctx context.Context) (*http.Response, error) {
		return s.Client.API.Complete(ctx, attempt, &api.CompleteParams{IdempotencyKey: key, OnBehalfOf: &user}, api.Complete{Details: text})
	})
}

// forward gives the page paylatch's own response. Without one, or with the shop's token refused, the page sends the request again by itself, with
// its key.
func (s *Shop) forward(w http.ResponseWriter, r *http.Request, limit time.Duration, send func(context.Context) (*http.Response, error)) error {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	response, err := send(ctx)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		_ = response.Body.Close()
		err = errToken
	}
	if err != nil {
		if r.Context().Err() == nil {
			s.Log.WarnContext(ctx, "paylatch has not responded", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		return errNoResponse
	}
	defer func() { _ = response.Body.Close() }()
	for _, name := range []string{
		"Content-Type", "Etag", "Retry-After", "Idempotency-Key", "Idempotency-Result", "Idempotency-Replayed", "Preference-Applied", "X-Request-Id",
	} {
		if v := response.Header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
	return nil
}
