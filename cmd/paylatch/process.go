package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/backoffice/finder"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/platform/server"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/cells"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/migrations"
)

// process holds the instances that one process serves: one instance for each cell, mostly a single one.
type process struct {
	cfg       *config.Config
	log       zerolog.Logger
	stores    map[payment.Cell]*postgres.Store
	instances map[payment.Cell]*instance
	// desks are the back offices of the cells. If there are several cells, handler serves all of them.
	desks   cells.Desks
	handler http.Handler
	// connections limits the connections of the API.
	connections *server.Limited
}

func newProcess(ctx context.Context, cfg *config.Config, dsn string, how serving, log zerolog.Logger, refusals *zerolog.Logger) (*process, error) {
	p := &process{cfg: cfg, log: log, stores: map[payment.Cell]*postgres.Store{}, instances: map[payment.Cell]*instance{}}
	for _, n := range cfg.Numbers() {
		of := cfg.In(n)
		if n == payment.OnlyCell {
			of.DatabaseURL = config.Secret(dsn)
		}
		if how.migrate {
			if err := bringUp(ctx, of, p.logOf(n)); err != nil {
				return nil, p.in(n, err)
			}
		}
		var err error
		if p.stores[n], err = openStore(ctx, of, string(of.DatabaseURL)); err != nil {
			return nil, p.in(n, err)
		}
	}
	if how.migrate {
		whole := *cfg
		whole.DatabaseURL = config.Secret(dsn)
		if err := changeMap(ctx, &whole, false); err != nil {
			return nil, err
		}
	}
	numbers := cfg.Numbers()
	for i := range numbers { // the first one last: it creates orders in all
		n := numbers[len(numbers)-1-i]
		in, err := newInstance(ctx, cfg.In(n), p, how, p.logOf(n), refusals)
		if err != nil {
			return nil, p.in(n, err)
		}
		p.instances[n] = in
	}
	if err := p.compareMaps(ctx); err != nil {
		return nil, err
	}
	for _, n := range numbers {
		if err := p.instances[n].prepare(ctx); err != nil {
			return nil, p.in(n, err)
		}
	}
	return p, nil
}

// bringUp applies the migrations that a database lacks.
func bringUp(ctx context.Context, cfg *config.Config, log zerolog.Logger) error {
	log.Info().Msg("applying migrations")
	direct := cfg.Database.Direct(string(cfg.DatabaseURL))
	if err := migrations.Up(ctx, direct); err != nil {
		return err
	}
	return grantAgain(ctx, direct, io.Discard)
}

func (p *process) first() *instance { return p.instances[payment.OnlyCell] }

// label is the name of a cell, or empty if there is only one cell.
func (p *process) label(n payment.Cell) string {
	if len(p.cfg.Cells) == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func (p *process) logOf(n payment.Cell) zerolog.Logger {
	if len(p.cfg.Cells) == 0 {
		return p.log
	}
	return p.log.With().Int("cell", int(n)).Logger()
}

func (p *process) in(n payment.Cell, err error) error {
	if len(p.cfg.Cells) == 0 {
		return err
	}
	return fmt.Errorf("cell %d: %w", n, err)
}

// finder, lists and payments return the stores of an instance, or of all cells if there are several.
func (p *process) finder(own *postgres.Store) finder.Store {
	if len(p.cfg.Cells) == 0 {
		return own.Finder()
	}
	var all finder.Union
	for _, n := range p.cfg.Numbers() {
		all = append(all, finder.Part{Name: "cell " + p.label(n), Store: p.stores[n].Finder()})
	}
	return all
}

func (p *process) lists(own *postgres.Store) lists.Store {
	if len(p.cfg.Cells) == 0 {
		return own.Lists()
	}
	all := lists.Union{Of: func(account string) lists.Store { return p.storeOf(account).Lists() }}
	for _, n := range p.cfg.Numbers() {
		all.Stores = append(all.Stores, p.stores[n].Lists())
	}
	return all
}

// months sums months up, as lists reads lists.
func (p *process) months(own *postgres.Store) journal.Closing {
	if len(p.cfg.Cells) == 0 {
		return journal.Closing{Stores: []journal.Store{own.Journal()}}
	}
	var all journal.Closing
	for _, n := range p.cfg.Numbers() {
		all.Stores = append(all.Stores, p.stores[n].Journal())
	}
	return all
}

func (p *process) payments(own *instance) api.Payments {
	if len(p.cfg.Cells) == 0 || own.cfg.Cell != payment.OnlyCell {
		return own.useCases
	}
	all := cells.Payments{Payments: own.useCases, To: route{p.cfg, p.instances}, Cells: map[payment.Cell]api.Payments{payment.OnlyCell: own.useCases}}
	for n, in := range p.instances {
		all.Cells[n] = in.useCases
	}
	return all
}

// handlers returns the handlers of the API and of operations. The second is nil if the API serves operations as well.
func (p *process) handlers() (served, operations http.Handler) {
	if len(p.cfg.Cells) == 0 {
		return p.first().handler, p.first().operations
	}
	o := cells.Options{To: route{p.cfg, p.instances}, All: p.handler, Plain: plainCookies(p.cfg, p.first().how.dev), Health: p.first().operations == nil || p.first().role == roleWorker}
	if p.first().role == roleWorker {
		o.All = p.first().handler
	}
	apart := cells.Options{To: o.To, All: p.first().operations, Health: true}
	var counted []*metrics.Metrics
	for _, n := range p.cfg.Numbers() {
		in := p.instances[n]
		counted = append(counted, in.metrics)
		o.Cells = append(o.Cells, cells.Cell{Number: n, API: in.handler})
		apart.Cells = append(apart.Cells, cells.Cell{Number: n, API: in.operations})
	}
	o.Metrics = metrics.HandlerOf(counted...)
	apart.Metrics = o.Metrics
	if p.first().operations == nil {
		return cells.New(o), nil
	}
	return cells.New(o), cells.New(apart)
}

// listenForOperations returns nil if the API serves them.
func (p *process) listenForOperations(ctx context.Context) (net.Listener, error) {
	if p.cfg.OperationsListen == "" {
		return nil, nil //nolint:nilnil // there is no address of their own
	}
	l, err := server.Listen(ctx, p.cfg.OperationsListen)
	if err != nil {
		return nil, fmt.Errorf("operations: %w (set another address with operations_listen in the configuration)", err)
	}
	return l, nil
}

// run serves until ctx ends. It then stops accepting, lets requests in progress end, and the instances after them.
func (p *process) run(ctx context.Context, listener, operations net.Listener) error {
	serve := func() error { return p.serveAll(ctx, listener, operations) }
	for _, in := range p.instances {
		within := serve
		serve = func() error { return in.run(ctx, within) }
	}
	err := serve()
	p.log.Info().Msg("stopped")
	return err
}

// serveAll serves the API until ctx ends, and operations, if they have an address of their own.
func (p *process) serveAll(ctx context.Context, listener, operations net.Listener) error {
	p.log.Info().Stringer("listen", listener.Addr()).Str("version", version).Str("role", p.first().role).Msg("serving")
	handler, operator := p.handlers()
	var apart sync.WaitGroup
	defer apart.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	if operations != nil {
		p.log.Info().Stringer("listen", operations.Addr()).Msg("serving operations")
		apart.Go(func() {
			few, s := server.Limit(operations, server.OperationsConnections, nil), api.NewHTTPServer("", operator, p.log)
			few.Watch(s)
			failed = server.Until(ctx, s, few, p.cfg.ShutdownTimeout)
			stop()
		})
	}
	s := newServer(p.cfg, handler, p.log)
	p.connections.Watch(s)
	err := server.Until(ctx, s, listener, p.cfg.ShutdownTimeout)
	stop()
	apart.Wait()
	return errors.Join(err, failed)
}
