package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/enginetest"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/ledger/reconcile"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/internal/provider/adyen"
)

// shops are the accounts of the simulated month: the currency of the payments and of the balance, and whether the provider lists payouts.
// The books of adyen-eu are a report, which Adyen's adapter reads.
var shops = []struct {
	account           string
	currency, balance payment.Currency
	lists             bool
}{
	{"stripe-eu", "EUR", "EUR", true},
	{"gocardless-uk", "GBP", "GBP", true},
	{"square-jp", "JPY", "JPY", false},
	{"checkout-bh", "BHD", "BHD", false},
	{"paypal-us", "USD", "EUR", true},
	{reported, "EUR", "EUR", false},
}

// reported is the account with a report for books.
const reported = "adyen-eu"

// till is a provider with books, of one account.
type till struct {
	gateway.Provider

	account           string
	currency, balance payment.Currency
	lists             bool

	mu      sync.Mutex
	stands  map[string]gateway.Outcome
	lines   bytes.Buffer
	entries []gateway.Entry
	payouts []payment.PayoutReport
}

func (p *till) Capabilities() payment.Capabilities {
	return payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true, Refunds: payment.RefundsParts}
}

func (p *till) Lookup(_ context.Context, id string) (gateway.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stands[id], nil
}

func (p *till) Entries(_ context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	for _, e := range p.entries {
		if in.Has(e.Movement.At) {
			if err := take(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *till) Payouts(_ context.Context, _ gateway.Span, take func(payment.PayoutReport) error) error {
	for _, r := range p.payouts {
		if err := take(r); err != nil {
			return err
		}
	}
	return nil
}

// simulation is a month of payments at all shops.
type simulation struct {
	month  journal.Month
	random *rand.Rand
	tills  []*till
	// planted are the differences between the payments and the books that must be found: by the provider's id of the payment, what stays
	// on the receivable, or on equity:unexplained.
	planted map[string]payment.Money
	// captured, refunded and chargedBack are by account.
	captured, refunded, chargedBack map[string]int64
}

// plant is one of the kinds of differences.
type plant int

const (
	none       plant = iota
	missing          // the books have no entry of a capture
	less             // the entry is of a cent less than the capture
	overpriced       // the net is a cent less than the amount and the stated fee
	twice            // the books have the capture twice
	dearer           // the refund cost a cent more than it returned
	unrefunded       // the books have no entry of a refund
	disputed         // the books have a chargeback twice
	foreign          // the payment is not recorded here
	plants           // how many there are
)

// planted is how many differences a month has. Every thirteenth payment has one, so that they are at all accounts.
const planted, plantEvery = 20, 13

// simulate plays payments. Each account has its payouts by the week; the last days are in none.
func simulate(month journal.Month, payments int) *simulation {
	s := &simulation{
		month: month, random: rand.New(rand.NewPCG(26, 10)), planted: map[string]payment.Money{},
		captured: map[string]int64{}, refunded: map[string]int64{}, chargedBack: map[string]int64{},
	}
	for _, shop := range shops {
		s.tills = append(s.tills, &till{account: shop.account, currency: shop.currency, balance: shop.balance, lists: shop.lists, stands: map[string]gateway.Outcome{}})
	}
	for n := range payments {
		p := none
		if n%plantEvery == 0 && n/plantEvery < planted {
			p = plant(n/plantEvery%int(plants-1)) + 1
		}
		s.pay(s.tills[n%len(s.tills)], n, p)
	}
	for _, p := range s.tills {
		s.own(p)
		s.payOut(p)
	}
	return s
}

// moment is a time of the month, of its first days.
func (s *simulation) moment(days int) time.Time {
	return s.month.From().Add(time.Duration(s.random.IntN(days*24*60)) * time.Minute)
}

// entry adds an entry to the books: what it adds to the balance is the amount, converted where that has another currency, less the fee.
func (p *till) entry(id, of string, kind payment.MovementKind, movement string, minor, signed, fee int64, at time.Time) {
	if p.balance != p.currency {
		signed, fee = signed*9/10, fee*9/10
	}
	p.entries = append(p.entries, gateway.Entry{
		ID: id, Payment: of, Fee: &payment.Money{Minor: fee, Currency: p.balance}, Net: &payment.Money{Minor: signed - fee, Currency: p.balance},
		Movement: payment.MovementReport{Kind: kind, ID: movement, Money: payment.Money{Minor: minor, Currency: p.currency}, At: at},
	})
}

// pay plays a payment: captured whole or in part, and perhaps refunded, or charged back, and won.
func (s *simulation) pay(p *till, n int, plant plant) {
	if plant != none && p.balance != p.currency {
		p = s.tills[0] // its differences would be in two currencies
	}
	id, at := fmt.Sprintf("pay-%s-%06d", p.account, n), s.moment(20)
	price := 500 + s.random.Int64N(20_000)
	captured := price
	if s.random.IntN(8) == 0 {
		captured = price - s.random.Int64N(price/2)
	}
	differs := func(minor int64) { s.planted[id] = payment.Money{Minor: minor, Currency: p.currency} }
	if plant == foreign {
		p.entry("e-"+id, id, payment.MovementCapture, "", captured, captured, 0, at)
		differs(-captured)
		return
	}
	made := map[string]any{
		"order_id": "O-" + id, "user_id": "u" + strconv.Itoa(n%100), "provider_payment_id": id, "status": "succeeded", "amount": price, "currency": p.currency,
		"amount_captured": captured, "created_at": at.Add(-time.Minute), "finalized_at": at,
	}
	if plant == unrefunded {
		made["amount_refunded"] = 100
		differs(-100)
		s.refunded[p.account] += 100
	}
	line, _ := json.Marshal(made) //nolint:errchkjson // texts and numbers
	p.lines.Write(append(line, '\n'))
	p.stands[id] = gateway.Outcome{Event: fsm.EventSucceeded, ProviderPaymentID: id, Money: &payment.Money{Minor: captured, Currency: p.currency}}
	s.captured[p.account] += captured
	fee := captured*14/1000 + 25
	switch plant {
	case missing:
		differs(captured)
	case less:
		p.entry("e-"+id, id, payment.MovementCapture, "", captured-1, captured-1, fee, at)
		differs(1)
	case overpriced:
		p.entry("e-"+id, id, payment.MovementCapture, "", captured, captured-1, fee, at)
		differs(1)
	case twice:
		p.entry("e-"+id, id, payment.MovementCapture, "", captured, captured, fee, at)
		p.entry("e2-"+id, id, payment.MovementCapture, "", captured, captured, fee, at)
		differs(-captured)
	case none, dearer, unrefunded, disputed, foreign, plants:
		p.entry("e-"+id, id, payment.MovementCapture, "", captured, captured, fee, at)
	}
	later := at.Add(time.Duration(1+s.random.IntN(100)) * time.Hour)
	switch draw := s.random.IntN(100); {
	case plant == unrefunded:
	case plant != disputed && draw < 12 || plant == dearer:
		refund := 1 + s.random.Int64N(captured)
		cost := refund
		if plant == dearer {
			cost++
			differs(1)
		}
		p.entry("r-"+id, id, payment.MovementRefund, "re-"+id, refund, -cost, 0, later)
		if s.refunded[p.account] += refund; draw == 0 && plant == none { // and failed
			p.entry("rr-"+id, id, payment.MovementRefundReversal, "re-"+id, refund, refund, 0, later.Add(time.Hour))
			s.refunded[p.account] -= refund
		}
	case plant == disputed || draw < 15:
		p.entry("d-"+id, id, payment.MovementChargeback, "cb-"+id, captured, -captured, 1500, later)
		if plant == disputed {
			p.entry("d2-"+id, id, payment.MovementChargeback, "cb-"+id, captured, -captured, 1500, later)
			differs(captured)
		}
		if s.chargedBack[p.account] += captured; draw == 14 && plant == none { // and won
			p.entry("dw-"+id, id, payment.MovementChargebackReversal, "cb-"+id, captured, captured, 0, later.Add(time.Hour))
			s.chargedBack[p.account] -= captured
		}
	}
}

// own adds the account's own entries: fees, a reserve that is released in part, and transfers to sellers.
func (s *simulation) own(p *till) {
	for n, one := range []struct {
		kind payment.EntryKind
		net  int64
	}{
		{payment.EntryFee, -990}, {payment.EntryReserve, -20_000}, {payment.EntryReserve, 15_000}, {payment.EntryTransfer, -3333}, {payment.EntryTransfer, -4444},
	} {
		p.entries = append(p.entries, gateway.Entry{
			ID: fmt.Sprintf("own-%s-%d", p.account, n), Own: one.kind, Net: &payment.Money{Minor: one.net, Currency: p.balance},
			Movement: payment.MovementReport{At: s.moment(20)},
		})
	}
}

// unpaid is the amount of a listed payout without an entry.
const unpaid = 4711

// payOut pays the entries of each of three weeks out, and lists the payouts where the provider does. One more payout has no entries.
func (s *simulation) payOut(p *till) {
	sums := map[int]int64{}
	for i, e := range p.entries {
		week := int(e.Movement.At.Sub(s.month.From()) / (7 * 24 * time.Hour))
		if week < 3 {
			p.entries[i].Payout = fmt.Sprintf("po-%s-%d", p.account, week)
			sums[week] += e.Net.Minor
		}
	}
	for week, sum := range sums {
		p.payouts = append(p.payouts, payment.PayoutReport{
			ProviderID: fmt.Sprintf("po-%s-%d", p.account, week), Money: &payment.Money{Minor: sum, Currency: p.balance}, Status: payment.PayoutPaid,
			ArrivesOn: s.month.From().AddDate(0, 0, 7*week+9),
		})
	}
	p.payouts = append(p.payouts, payment.PayoutReport{
		ProviderID: "po-" + p.account + "-without", Money: &payment.Money{Minor: unpaid, Currency: p.balance}, Status: payment.PayoutPaid, ArrivesOn: s.month.From().AddDate(0, 0, 12),
	})
}

// simulatedPayments is how many payments the month has.
func simulatedPayments(t *testing.T) int {
	t.Helper()
	if os.Getenv("PAYLATCH_LARGE") != "" {
		return 20_000
	}
	t.Log("600 payments; 20,000 with PAYLATCH_LARGE=1")
	return 600
}

var errRefused = errors.New("a line was refused")

// play imports the payments and compares them with the books, on a real database.
func (s *simulation) play(t *testing.T) *enginetest.Env {
	t.Helper()
	accounts := map[string]gateway.Account{}
	for _, p := range s.tills {
		var books gateway.Books = p
		if !p.lists {
			books = struct{ gateway.Books }{p} // without its payouts
		}
		accounts[p.account] = gateway.Account{Provider: p, Books: books}
		if p.account == reported {
			accounts[p.account] = gateway.Account{Provider: p, Statement: adyen.Statement}
		}
	}
	rules := changeset.Rules{Accounts: current.Of(accounts), Schedule: payment.Schedule{First: time.Minute, Lease: 30 * time.Second}}
	e := enginetest.New(t, engine.Options{Rules: rules, DefaultAccount: s.tills[0].account})
	books := reconcile.New(reconcile.Options{Store: e.Store, Payments: e.Runner, Rules: rules, Now: time.Now})
	for _, p := range s.tills {
		_, err := imports.Run(t.Context(), &p.lines, imports.Options{
			Store: e.Store, Rules: rules, Account: p.account, Now: time.Now, Progress: func(imports.Count) {},
			Refused: func(r *imports.RefusalError) { t.Errorf("%v: %v", errRefused, r) },
		})
		require.NoError(t, err)
		q := reconcile.Request{
			Account: p.account, Span: gateway.Span{From: s.month.From(), To: s.month.To()}, By: "cli:test",
			Progress: func(reconcile.Count) {}, Found: func(payment.Discrepancy) {},
		}
		if p.account == reported {
			q.File = strings.NewReader(p.settlementDetails())
		}
		_, err = books.Run(t.Context(), q)
		require.NoError(t, err, p.account)
	}
	return e
}

// TestASimulatedMonth: six accounts take payments, with partial captures, refunds, chargebacks, fees, reserves and transfers. The payments
// are imported; refunds and chargebacks are recorded by the comparison with the books. The journal balances, hledger accepts it, every payout
// is explained to the minor unit, and each planted difference is named by its payment, and no other.
func TestASimulatedMonth(t *testing.T) {
	t.Parallel()
	s := simulate(journal.MonthOf(time.Now()).Previous(), simulatedPayments(t))
	require.Len(t, s.planted, planted)
	store := s.play(t).Store.Journal()

	differs, accounts, days := map[string]sums{}, sums{}, map[time.Time]sums{}
	require.NoError(t, journal.Journal{Store: store, Month: s.month}.Each(t.Context(), func(one journal.Transaction) error {
		if differs[one.Payment] == nil {
			differs[one.Payment] = sums{}
		}
		if days[one.Date] == nil {
			days[one.Date] = sums{}
		}
		for _, p := range one.Postings {
			accounts.add(p.Account, p.Money)
			days[one.Date].add("", p.Money)
			if p.Account == journal.Receivable(one.Account) || p.Account == journal.Unexplained {
				differs[one.Payment].add("", p.Money)
			}
		}
		return nil
	}))
	for day, of := range days {
		require.Empty(t, of.under(""), day)
	}
	named := map[string]payment.Money{}
	for id, of := range differs {
		for c, minor := range of.under("") {
			named[id] = payment.Money{Minor: minor, Currency: c}
		}
	}
	require.Equal(t, s.planted, named)

	closed, err := journal.Closing{Stores: []journal.Store{store}}.Close(t.Context(), s.month)
	require.NoError(t, err)
	listed := 0
	for _, shop := range shops {
		if shop.lists {
			listed++
		}
	}
	require.Len(t, closed.Payouts, 3*len(shops)+listed)
	for _, p := range closed.Payouts {
		n, _, _ := p.Entries()
		if p.ProviderID == "po-"+p.Account+"-without" {
			require.Zero(t, n)
			require.EqualValues(t, unpaid, p.Rest(), "the payout that no entry explains is named")
			continue
		}
		require.Positive(t, n, p.ProviderID)
		require.Zero(t, p.Rest(), p.ProviderID)
	}
	s.readByHLedger(t, store)
	for i, shop := range shops {
		of := sumsOf(closed, shop.account)
		payments, balance := of[shop.currency], of[shop.balance]
		require.Equal(t, s.captured[shop.account], payments.Captured, shop.account)
		require.Equal(t, s.refunded[shop.account], payments.Refunded, shop.account)
		require.Equal(t, s.chargedBack[shop.account], payments.ChargedBack, shop.account)
		require.EqualValues(t, 5000, balance.Reserved, shop.account)
		require.EqualValues(t, 7777, balance.Transferred, shop.account)
		left := balance.Open()
		if shop.lists {
			left -= unpaid
		}
		require.Equal(t, left, accounts.under(journal.Balance(s.tills[i].account))[shop.balance], shop.account)
	}
}

// readByHLedger requires that hledger accepts the month's journal by its strict checks.
func (s *simulation) readByHLedger(t *testing.T, store journal.Store) {
	t.Helper()
	t.Run("hledger", func(t *testing.T) {
		t.Parallel()
		hledger := hledgerOf(t)
		var text bytes.Buffer
		w, err := journal.NewWriter(&text, journal.HLedger)
		require.NoError(t, err)
		require.NoError(t, journal.Journal{Store: store, Month: s.month}.Each(t.Context(), w.Write))
		require.NoError(t, w.Close())
		hledger(text.String(), "check", "--strict", "ordereddates")
	})
}

func sumsOf(c journal.Close, account string) map[payment.Currency]journal.Sum {
	all := map[payment.Currency]journal.Sum{}
	for _, s := range c.Sums {
		if s.Account == account {
			all[s.Currency] = s
		}
	}
	return all
}
