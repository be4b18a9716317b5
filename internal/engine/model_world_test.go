package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// world is two orders of one customer, the provider, and the data of the last read.
type world struct {
	*rapid.T

	ctx      context.Context
	p        *scripted
	services [2]*service
	store    store
	db       *pgxpool.Pool
	user     payment.UserID
	// account is the account of all pays: plain, or repaying.
	account string
	running sync.WaitGroup
	// races is set where concurrent actions really run at once. Without races the same draws always lead to the same
	// course, as shrinking needs.
	races bool
	// holds is set where all payments are captured by hand, and little else happens.
	holds bool

	// attempts are by name: A1 is the attempt of request 1 of order A.
	attempts map[string]known
	opened   []opened
	verdicts map[string]fsm.Verdict
	// heldCommands are the commands with a call that is held.
	heldCommands map[string]*press
	// usedUp are the pays with a refusal that was stored under their key.
	usedUp    map[string]bool
	cancelled map[payment.OrderID]bool
	refunds   []*asked
	// confirmed are the responses that were stored under the keys of confirms.
	confirmed map[string]error
	commands  int
	rounds    int
	// prices are the prices that each order has had.
	prices map[payment.OrderID][]int64
	// last is the latest attempt of the worlds before this one.
	last payment.AttemptID
}

// asked is a refund of the merchant.
type asked struct {
	id payment.RefundID
	of string
	// denied is set where a resolution called it not paid.
	denied bool
}

// opened is a discrepancy. Open is its id until it is resolved.
type opened struct {
	Kind, Attempt, Event, About, AboutID, Open string
}

// press is one press on "pay", or another command.
type press struct {
	name string
	// ended checks the result of a command that is not a pay.
	ended func(*press)
	paid  commands.Reply
	err   error
	done  bool
	// waited is set where its call was held.
	waited bool
	// alone is set until the time of its call's lease is over; leased is the operation that it has.
	alone  bool
	leased payment.OperationName
}

// model makes one world after the other, on one database.
type model struct {
	t        *testing.T
	p        *scripted
	services [2]*service
	store    store
	db       *pgxpool.Pool
	worlds   int
	last     payment.AttemptID
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{t: t, p: &scripted{}}
	m.p.reset()
	r := &env{dsn: testdb.New(t)}
	m.store, m.db = enginetest.Open(t, r.dsn)
	r.opts = options{
		Store: m.store, DefaultAccount: plain, Accounts: map[string]gateway.Account{plain: {Provider: m.p}, repaying: {Provider: m.p, LateMoney: gateway.LateMoneyRefunded}},
		Wait: 5 * time.Millisecond, Lease: lease, ProviderTimeout: lease / 2, RecheckAfter: 10 * time.Second, Now: m.p.now,
		Seal: func(token string, _ []byte) ([]byte, error) { return []byte(token), nil },
		Open: func(sealed, _ []byte) (string, error) { return string(sealed), nil },
	}
	m.services = [2]*service{r.another(t, nil), r.another(t, nil)}
	return m
}

// world is a new world with two orders.
func (m *model) world(rt *rapid.T) *world {
	m.worlds++
	m.p.reset()
	w := &world{
		T: rt, ctx: m.t.Context(), p: m.p, services: m.services, store: m.store, db: m.db, last: m.last,
		user: payment.UserID(fmt.Sprintf("w%d", m.worlds)), account: plain,
		attempts: map[string]known{}, heldCommands: map[string]*press{}, usedUp: map[string]bool{},
		cancelled: map[payment.OrderID]bool{}, prices: map[payment.OrderID][]int64{}, confirmed: map[string]error{},
	}
	rt.Cleanup(w.close)
	m.p.withheld = w.withheld
	_, err := m.db.Exec(w.ctx, "UPDATE provider_events SET next_try_at = NULL WHERE next_try_at IS NOT NULL") // of the worlds before
	w.must(err)
	for _, letter := range both {
		_, _, err := w.services[0].CreateOrder(w.ctx, w.actor(), w.fresh("orders"),
			commands.CreateOrder{OrderID: w.order(letter), Money: payment.Money{Minor: price, Currency: "EUR"}})
		w.must(err)
		w.prices[w.order(letter)] = []int64{price}
	}
	return w
}

// close lets everything end that is still held.
func (w *world) close() {
	for _, c := range w.p.held {
		c.answer <- staysOpen
	}
	w.running.Wait()
}

var both = []string{"A", "B"}

func (w *world) order(letter string) payment.OrderID {
	return payment.OrderID(string(w.user) + "-" + letter)
}

func (w *world) orders() []payment.OrderID { return []payment.OrderID{w.order("A"), w.order("B")} }

func (w *world) actor() authz.Actor {
	return authz.Actor{Subject: "shop", Roles: []payment.Role{payment.RoleService}, OnBehalfOf: w.user}
}

// request is a command of the customer.
func (w *world) request(endpoint, key string) idempotency.Request {
	r := request(endpoint, key, "")
	r.User = string(w.user)
	return r
}

// fresh is a command that was never given before.
func (w *world) fresh(endpoint string) idempotency.Request {
	w.commands++
	return w.request(endpoint, fmt.Sprintf("command-%d", w.commands))
}

// start runs commands, at once in a world of races, and returns when each has
// ended or is held.
func (w *world) start(commands ...func()) {
	running := 0
	for _, command := range commands {
		w.running.Go(func() {
			command()
			w.p.idle <- struct{}{}
		})
		if running++; !w.races {
			<-w.p.idle
			running--
		}
	}
	for range running {
		<-w.p.idle
	}
}

// press makes a pay that is not begun yet.
func (w *world) press(s *service, letter, request, what string, capture payment.CaptureMode) (*press, func()) {
	p := &press{name: letter + request}
	return p, func() {
		p.paid, p.err = s.Pay(w.ctx, w.actor(), w.request("pay "+letter, "request-"+request), commands.Pay{
			OrderID: w.order(letter), Account: w.account, Details: gateway.Details{Token: p.name + " " + what}, Capture: capture,
		})
		p.done = true
	}
}

// of lists the attempts of an order.
func (w *world) of(letter string) []known {
	var all []known
	for _, name := range w.names() {
		if strings.HasPrefix(name, letter) {
			all = append(all, w.attempts[name])
		}
	}
	return all
}

func (w *world) names() []string { return slices.Sorted(maps.Keys(w.attempts)) }

// The responses to a pay, in the words of the contract.
const (
	anAttempt   = "an attempt"
	alreadyPaid = "already paid"
	cancelled   = "cancelled"
	inProgress  = "in progress"
	replayed    = "the same refusal"
	stillAtIt   = "still at it"
)

func answered(err error) string {
	var busy *payment.InProgressError
	var replay *idempotency.ReplayError
	switch {
	case err == nil:
		return anAttempt
	case errors.Is(err, payment.ErrOrderPaid):
		return alreadyPaid
	case errors.Is(err, payment.ErrOrderCancelled):
		return cancelled
	case errors.As(err, &busy):
		return inProgress
	case errors.As(err, &replay):
		return replayed
	case errors.Is(err, idempotency.ErrInProgress):
		return stillAtIt
	}
	return err.Error()
}

// expects is how a pay must be answered.
func (w *world) expects(letter, request string) string {
	if _, again := w.attempts[letter+request]; again {
		return anAttempt
	}
	if w.usedUp[letter+request] {
		return replayed
	}
	pending, holds, doubted := false, false, false
	for _, a := range w.of(letter) {
		switch {
		case a.Succeeded():
			return alreadyPaid
		case !a.Failed():
			pending = true
		}
		holds, doubted = holds || a.HoldsMoney(), doubted || a.MayHold()
	}
	switch {
	case w.cancelled[w.order(letter)]:
		return cancelled
	case pending:
		return inProgress
	case holds:
		return alreadyPaid
	case doubted:
		return inProgress
	}
	return anAttempt
}

// mayExpect are the responses that a pay may have: one beside a page on which a try was declined has that closed first,
// and it depends on the provider whether it then is.
func (w *world) mayExpect(letter, request string) []string {
	want := []string{w.expects(letter, request)}
	for _, a := range w.of(letter) {
		if want[0] == inProgress && a.DeclinedOnPage() {
			return append(want, anAttempt, alreadyPaid)
		}
	}
	return want
}

// ended checks the response to a finished pay, and keeps a held pay.
func (w *world) ended(p *press, allowed ...string) {
	if !p.done {
		w.Logf("    %s waits", p.name)
		w.heldCommands[p.name], p.alone, p.waited = p, true, true
		return
	}
	got := answered(p.err)
	w.Logf("    %s: %s %s", p.name, got, ifAny(describe(p.paid.Attempt), p.err == nil))
	if p.ended != nil {
		p.ended(p)
		return
	}
	if !slices.Contains(allowed, got) {
		w.Fatalf("the pay of %s is answered with %q instead of %q", p.name, got, allowed)
	}
	w.usedUp[p.name] = w.usedUp[p.name] || got == alreadyPaid || got == cancelled
	if known, again := w.attempts[p.name]; again && p.err == nil && known.ID != p.paid.ID {
		w.Fatalf("the same request made another attempt of %s", p.name)
	}
}

func describe(a payment.Attempt) string {
	return strings.TrimSpace(fmt.Sprintf("%s (%s) %s", a.State.Status(), a.Stage(), ifAny("holding money", a.Held() > 0)))
}

func ifAny(text string, is bool) string {
	if is {
		return text
	}
	return ""
}

func (w *world) must(err error) {
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}
