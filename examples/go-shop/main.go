// Command go-shop keeps a shop's stock by the events of paylatch. A piece leaves the stock when an order is paid, and
// returns when the whole price was refunded. Its README.md has what to copy of it, and why.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/inbox"
)

const (
	// keptFor is longer than paylatch keeps events: none is delivered again whose marker is gone.
	keptFor    = 60 * 24 * time.Hour
	purgeEvery = 24 * time.Hour
)

// errMode is returned for a SHOP_MODE that there is not.
var errMode = errors.New("SHOP_MODE must be endpoint or feed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		slog.Error("the shop has ended", "error", err)
		os.Exit(1)
	}
}

// run takes events in until ctx ends. A database that is away is no error: events come again.
func run(ctx context.Context) error {
	db, err := pgxpool.New(ctx, os.Getenv("SHOP_DATABASE_URL"))
	if err != nil {
		return fmt.Errorf("SHOP_DATABASE_URL: %w", err)
	}
	defer db.Close()
	var purging sync.WaitGroup
	defer purging.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	purging.Go(func() { purge(ctx, db) })

	c, err := client.New(cmp.Or(os.Getenv("PAYLATCH_URL"), "http://127.0.0.1:8080"), os.Getenv("PAYLATCH_TOKEN"), client.Options{})
	if err != nil {
		return err
	}
	switch mode := cmp.Or(os.Getenv("SHOP_MODE"), "endpoint"); mode {
	case "endpoint":
		// A blank parts two secrets while one is replaced.
		h, err := newHandler(db, c, strings.Fields(os.Getenv("SHOP_SECRETS")))
		if err != nil {
			return err
		}
		return serve(ctx, cmp.Or(os.Getenv("SHOP_LISTEN"), "127.0.0.1:3000"), h)
	case "feed":
		return (&reader{db, c}).run(ctx)
	default:
		return fmt.Errorf("%w: it is %q", errMode, mode)
	}
}

// purge removes old markers of the inbox, once a day.
func purge(ctx context.Context, db *pgxpool.Pool) {
	for {
		if _, err := inbox.Purge(ctx, db, keptFor); err != nil && ctx.Err() == nil {
			slog.Warn("old markers stay for another day", "error", err)
		}
		pause(ctx, purgeEvery)
		if ctx.Err() != nil {
			return
		}
	}
}

// pause returns early when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
