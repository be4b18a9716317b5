package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/client/api"
	"github.com/paylatch/paylatch/client/checkout"
)

const (
	// actTime bounds a transaction.
	actTime = 10 * time.Second
	// stopTime is what is left to requests at the end.
	stopTime = 15 * time.Second
)

// newHandler returns the handler of deliveries, at /events, and of the checkout page's requests, below /checkout/. An event is acknowledged once it
// is on disk with its effect, or was before.
func newHandler(db *pgxpool.Pool, c *client.Client, secrets []string) (http.Handler, error) {
	events, err := checkout.NewReceiver(checkout.Receiver{Secrets: secrets, Act: func(ctx context.Context, e client.Event) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return act(ctx, tx, e) })
	}})
	if err != nil {
		return nil, fmt.Errorf("SHOP_SECRETS: %w", err)
	}
	pages, err := checkout.New(checkout.Shop{Client: c, User: signedIn, Order: func(ctx context.Context, user, id string) (api.CreateOrder, error) {
		return terms(ctx, db, user, id)
	}})
	if err != nil {
		return nil, fmt.Errorf("the checkout: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /events", events)
	mux.Handle("/checkout/", http.StripPrefix("/checkout", pages))
	return mux, nil
}

// signedIn returns the customer by a header of the proxy that signs customers in. The proxy must remove such a header of a browser's; without
// a proxy use your session here.
func signedIn(r *http.Request) (string, error) { return r.Header.Get("X-Forwarded-User"), nil }

// terms returns what an order of a customer costs.
func terms(ctx context.Context, db *pgxpool.Pool, user, id string) (api.CreateOrder, error) {
	o := api.CreateOrder{Currency: "EUR"}
	err := db.QueryRow(ctx, `SELECT s.price FROM orders o JOIN stock s USING (sku) WHERE o.order_id = $1 AND o.customer = $2`, id, user).Scan(&o.Amount)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return o, checkout.ErrNoOrder
	case err != nil:
		return o, fmt.Errorf("read order %s: %w", id, err)
	}
	return o, nil
}

// serve serves until ctx ends, and then finishes the requests under way.
func serve(ctx context.Context, address string, h http.Handler) error {
	server := &http.Server{Addr: address, Handler: h, ReadTimeout: actTime, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	slog.Info("deliveries are taken", "address", address)
	select {
	case err := <-failed:
		return fmt.Errorf("listen at %s: %w", address, err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
