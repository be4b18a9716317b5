package stripe_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/internal/provider/stripe"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/stripe"
)

// began is the beginning of the fixture's day.
var began = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func at(second int) int { return int(began.Unix()) + second }

// euros returns money of the books, which may be negative.
func euros(minor int64) *payment.Money { return &payment.Money{Minor: minor, Currency: "EUR"} }

func captured(id, intent string, amount int) object {
	return sourced("charge", id, intent, amount, object{"amount_captured": amount, "captured": true, "status": "succeeded"})
}

// ownEntry returns the entry of a transaction of the account.
func ownEntry(id string, kind payment.EntryKind, net int64, second int) gateway.Entry {
	return gateway.Entry{ID: id, Own: kind, Movement: payment.MovementReport{At: began.Add(time.Duration(second) * time.Second)}, Fee: euros(0), Net: euros(net)}
}

// sold returns the books of a day: each type that concerns a payment, and other types.
func sold() *books {
	open := object{"object": "payout", "id": "po_1"}
	return &books{transactions: []object{
		transaction("txn_1", "charge", at(0), 1999, 88, captured("ch_1", "pi_1", 1999)),
		transaction("txn_2", "stripe_fee", at(1), -100, 0, object{"object": "charge", "id": "ch_x"}),
		transaction("txn_3", "refund", at(2), -500, 0, sourced("refund", "re_1", "pi_1", 500, object{"status": "succeeded"})),
		transaction("txn_4", "payment", at(3), 700, 30, captured("py_2", "pi_2", 700)),
		transaction("txn_5", "payment", at(4), 700, 30, sourced("charge", "py_3", "pi_3", 700, object{"amount_captured": 700, "captured": true, "status": "pending"})),
		transaction("txn_6", "refund_failure", at(5), 500, 0, sourced("refund", "re_1", "pi_1", 500, object{"status": "failed"})),
		transaction("txn_7", "adjustment", at(6), -1999, 1500, sourced("dispute", "dp_1", "pi_1", 1999, nil)),
		transaction("txn_8", "adjustment", at(7), 1999, -1500, sourced("dispute", "dp_1", "pi_1", 1999, nil)),
		transaction("txn_9", "payout", at(8), -5000, 0, open),
	}}
}

func entry(id, intent string, kind payment.MovementKind, movement string, amount, fee, net int64, second int) gateway.Entry {
	ref := "ch_" + strings.TrimPrefix(intent, "pi_")
	var live *bool
	if !strings.HasPrefix(movement, "re_") { // a refund does not state the mode
		live = new(true)
	}
	return gateway.Entry{
		Live: live,
		ID:   id, Payment: intent, References: []string{"att-" + intent, ref}, Order: payment.OrderID("order-" + intent),
		Movement: payment.MovementReport{Kind: kind, ID: movement, Money: *euros(amount), At: began.Add(time.Duration(second) * time.Second)},
		Fee:      euros(fee), Net: euros(net),
	}
}

// disputedEntry returns the entry of a transaction of the dispute dp_1.
func disputedEntry(id string, kind payment.MovementKind, amount, fee, net int64, second int) gateway.Entry {
	e := entry(id, "pi_1", kind, id, amount, fee, net, second)
	e.Movement.Dispute = "dp_1"
	return e
}

func soldEntries() []gateway.Entry {
	second := entry("txn_4", "pi_2", payment.MovementCapture, "", 700, 30, 670, 3)
	second.References[1] = "py_2"
	return []gateway.Entry{
		entry("txn_1", "pi_1", payment.MovementCapture, "", 1999, 88, 1911, 0),
		ownEntry("txn_2", payment.EntryFee, -100, 1),
		entry("txn_3", "pi_1", payment.MovementRefund, "re_1", 500, 0, -500, 2),
		second,
		entry("txn_6", "pi_1", payment.MovementRefundReversal, "re_1", 500, 0, 500, 5),
		disputedEntry("txn_7", payment.MovementChargeback, 1999, 1500, -3499, 6),
		disputedEntry("txn_8", payment.MovementChargebackReversal, 1999, -1500, 3499, 7),
	}
}

func keeping(t *testing.T, b *books) *fake {
	t.Helper()
	f, ok := newFake(t).(*fake)
	require.True(t, ok)
	f.keepBooks(b)
	return f
}

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books { return stripe.New(base, secret, c) },
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider {
			return stripe.New(base, secret, c)
		},
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			f := keeping(t, sold())
			for id, amount := range map[string]int64{"pi_1": 1999, "pi_2": 700} {
				f.intents[id] = &intent{id: id, status: "succeeded", currency: "eur", amount: amount, received: amount, charge: "ch_1"}
			}
			f.refunds = []*refund{{id: "re_1", intent: "pi_1", currency: "eur", status: "succeeded", amount: 500}}
			f.intents["pi_1"].disputes = []object{disputed("won", sold().transactions[6:8]...)}
			return providertest.Booked{Fake: f, Span: gateway.Span{From: began, To: began.Add(time.Hour)}, Entries: soldEntries(), Webhooks: hooked(t,
				event("evt_1", "payment_intent.succeeded", at(0), object{"object": "payment_intent", "id": "pi_1", "amount_received": 1999, "currency": "eur"}),
				event("evt_2", "refund.updated", at(2), sourced("refund", "re_1", "pi_1", 500, object{"status": "succeeded"})),
				event("evt_3", "charge.dispute.funds_withdrawn", at(6), sourced("dispute", "dp_1", "pi_1", 1999, object{
					"status": "needs_response", "balance_transactions": sold().transactions[6:7],
				})),
				event("evt_4", "charge.dispute.funds_reinstated", at(7), sourced("dispute", "dp_1", "pi_1", 1999, object{"status": "won", "balance_transactions": sold().transactions[6:8]})),
			)}
		},
	})
}

func event(id, kind string, created int, of object) object {
	return object{"object": "event", "id": id, "type": kind, "created": created, "api_version": "2025-03-31.basil", "data": object{"object": of}}
}

// hooked returns the events of these webhooks.
func hooked(t *testing.T, all ...object) (events []webhooks.Event) {
	t.Helper()
	for _, one := range all {
		body, err := json.Marshal(one)
		require.NoError(t, err)
		events = append(events, verifier(t).Read(webhooks.Delivery{Body: body})...)
	}
	return events
}

func verifier(t *testing.T) *hooks.Verifier {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{"whsec_1"}})
	require.NoError(t, err)
	return v
}

func TestEventLog(t *testing.T) {
	t.Parallel()
	providertest.EventLog(t, providertest.EventLogSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.EventLog { return stripe.New(base, secret, c) },
		Reader: verifier(t),
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			b := &books{}
			l := providertest.Listed{Fake: keeping(t, b), Span: gateway.Span{From: began, To: began.Add(time.Hour)}}
			for i, id := range []string{"evt_1", "evt_2", "evt_3", "evt_4", "evt_5"} {
				e := event(id, "payment_intent.processing", at(i), object{"object": "payment_intent", "id": "pi_1", "amount": 5, "currency": "eur"})
				body, err := json.Marshal(e)
				require.NoError(t, err)
				b.events = append(b.events, e)
				l.Events = append(l.Events, gateway.ListedEvent{Body: body, At: began.Add(time.Duration(i) * time.Second)})
			}
			return l
		},
	})
}

// read returns the entries of an hour, and the error after them.
func read(t *testing.T, b *books) (all []gateway.Entry, err error) {
	t.Helper()
	c, _ := serve(t, keeping(t, b))
	err = c.Entries(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(e gateway.Entry) error {
		all = append(all, e)
		return nil
	})
	return all, err
}

// The account's own transactions are entries, too, so that a payout is explained. A payout, a payment's failed debit and an unfamiliar
// type are none.
func TestTheAccountsOwnEntries(t *testing.T) {
	t.Parallel()
	kinds := map[string]payment.EntryKind{
		"stripe_fee": payment.EntryFee, "stripe_fx_fee": payment.EntryFee, "tax_fee": payment.EntryFee, "reserve_transaction": payment.EntryReserve,
		"reserved_funds": payment.EntryReserve, "reserve_hold": payment.EntryReserve, "reserve_release": payment.EntryReserve,
		"payment_network_reserve_hold": payment.EntryReserve, "payout_minimum_balance_release": payment.EntryReserve, "transfer": payment.EntryTransfer,
		"transfer_refund": payment.EntryTransfer, "adjustment": payment.EntryAdjustment, "topup": payment.EntryAdjustment, "application_fee": payment.EntryAdjustment,
		"payout_failure": payment.EntryReturn, "payout_cancel": payment.EntryReturn, "payout": "", "payment_failure_refund": "", "issuing_transaction": "", "moon_landing": "",
	}
	b, want := &books{}, []gateway.Entry{}
	for i, kind := range slices.Sorted(maps.Keys(kinds)) {
		b.transactions = append(b.transactions, transaction("txn_"+kind, kind, at(i), -25, 0, object{"object": "transfer", "id": "tr_1"}))
		if kinds[kind] != "" {
			want = append(want, ownEntry("txn_"+kind, kinds[kind], -25, i))
		}
	}
	got, err := read(t, b)
	require.NoError(t, err)
	require.ElementsMatch(t, want, got)
}

// A bank debit is pending for days. Where payouts are manual, only a later read of the same span has it.
func TestADebitThatSucceedsLater(t *testing.T) {
	t.Parallel()
	charge := captured("ch_1", "pi_1", 700)
	charge["status"] = "pending"
	b := &books{transactions: []object{transaction("txn_1", "payment", at(0), 700, 30, charge)}}
	got, err := read(t, b)
	require.NoError(t, err)
	require.Empty(t, got)
	charge["status"] = "succeeded"
	got, err = read(t, b)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.GreaterOrEqual(t, stripe.Adapter().Overlap, 15*24*time.Hour, "the daily run reads the span again for so long")
}

// An automatic payout lists its transactions, including those of earlier days. A debit that was pending is among them.
func TestAPayoutHasItsEntries(t *testing.T) {
	t.Parallel()
	before := transaction("txn_0", "payment", at(-86400), 700, 30, captured("ch_1", "pi_1", 700))
	later := transaction("txn_2", "payment", at(-86399), 900, 30, captured("ch_1", "pi_1", 900))
	b := &books{
		transactions: []object{transaction("txn_1", "charge", at(0), 1999, 88, captured("ch_1", "pi_1", 1999))},
		payouts: []object{
			{"object": "payout", "id": "po_1", "created": at(5), "automatic": true},
			{"object": "payout", "id": "po_2", "created": at(6), "automatic": false},
			{"object": "payout", "id": "po_3", "created": at(7), "automatic": true},
		},
		paidOut: map[string][]object{"po_1": {before}, "po_2": {before}, "po_3": {later}},
	}
	got, err := read(t, b)
	require.NoError(t, err)
	payouts := map[string]string{}
	for _, e := range got {
		payouts[e.ID] = e.Payout
	}
	require.Equal(t, map[string]string{"txn_1": "", "txn_0": "po_1", "txn_2": "po_3"}, payouts)
}

// Payouts are listed as they are now, manual and negative ones, too.
func TestPayouts(t *testing.T) {
	t.Parallel()
	made := func(id, status, currency string, second, amount int) object {
		return object{"object": "payout", "id": id, "created": at(second), "status": status, "amount": amount, "currency": currency, "arrival_date": at(2 * 86400)}
	}
	b := &books{payouts: []object{
		made("po_1", "paid", "eur", 1, 1911), made("po_2", "in_transit", "isk", 2, 50000), made("po_3", "failed", "kwd", 3, 1990),
		made("po_4", "pending", "eur", 4, -700), made("po_5", "canceled", "jpy", 5, 500), made("po_6", "lost", "eur", 6, 5), made("po_7", "paid", "isk", 7, 1),
	}}
	c, _ := serve(t, keeping(t, b))
	var got []payment.PayoutReport
	err := c.Payouts(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(p payment.PayoutReport) error {
		got = append(got, p)
		return nil
	})
	require.ErrorIs(t, err, gateway.ErrUnreadable, "a status that Stripe does not document, and an amount that the currency does not have")
	day := began.AddDate(0, 0, 2)
	listed := func(id string, status payment.PayoutStatus, minor int64, currency payment.Currency) payment.PayoutReport {
		return payment.PayoutReport{ProviderID: id, Status: status, Money: &payment.Money{Minor: minor, Currency: currency}, ArrivesOn: day}
	}
	require.Equal(t, []payment.PayoutReport{
		listed("po_5", payment.PayoutCanceled, 500, "JPY"), listed("po_4", payment.PayoutPending, -700, "EUR"), listed("po_3", payment.PayoutFailed, 1990, "KWD"),
		listed("po_2", payment.PayoutInTransit, 500, "ISK"), listed("po_1", payment.PayoutPaid, 1911, "EUR"),
	}, got)
}

// Amounts are in Stripe's units. The fee is in the balance's currency.
func TestBookedMoneyHasStripesDigits(t *testing.T) {
	t.Parallel()
	yen := transaction("txn_1", "charge", at(0), 1230, 40, with(captured("ch_1", "pi_1", 500), "currency", "jpy"))
	krona := transaction("txn_2", "charge", at(1), 1230, 40, with(captured("ch_2", "pi_2", 50000), "currency", "isk"))
	dinar := transaction("txn_3", "charge", at(2), 1230, 40, with(captured("ch_3", "pi_3", 1990), "currency", "kwd"))
	got, err := read(t, &books{transactions: []object{yen, krona, dinar}})
	require.NoError(t, err)
	require.Len(t, got, 3)
	for i, want := range []payment.Money{{Minor: 1990, Currency: "KWD"}, {Minor: 500, Currency: "ISK"}, {Minor: 500, Currency: "JPY"}} {
		require.Equal(t, want, got[i].Movement.Money)
		require.Equal(t, euros(40), got[i].Fee)
		require.Equal(t, euros(1190), got[i].Net)
	}
}

// Each capture of a charge that is captured in parts has a transaction of its own, with its own amount. The charge has the total.
func TestAPartOfAChargeHasItsOwnAmount(t *testing.T) {
	t.Parallel()
	whole := captured("ch_1", "pi_1", 1999)
	got, err := read(t, &books{transactions: []object{transaction("txn_1", "charge", at(0), 1500, 60, whole), transaction("txn_2", "charge", at(1), 499, 28, whole)}})
	require.NoError(t, err)
	require.Len(t, got, 2)
	for i, minor := range []int64{499, 1500} {
		require.Equal(t, *euros(minor), got[i].Money(), got[i].ID)
		require.Equal(t, *euros(1999), got[i].Movement.Money)
	}
}

// An unreadable transaction hides no other transaction, and is an error.
func TestAnUnreadableTransactionHidesNoOther(t *testing.T) {
	t.Parallel()
	b := sold()
	b.transactions[0]["source"] = object{"object": "mandate", "id": "mandate_1"}
	b.transactions[2]["source"] = sourced("refund", "re_1", "pi_1", 500, object{"currency": "isk", "amount": 1})
	got, err := read(t, b)
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "txn_3")
	require.Len(t, got, len(soldEntries())-2)
}

// A charge without an intent is the payment itself, as in its webhooks.
func TestAChargeWithoutAnIntent(t *testing.T) {
	t.Parallel()
	alone := captured("ch_1", "", 1999)
	alone["payment_intent"], alone["metadata"] = nil, object{}
	got, err := read(t, &books{transactions: []object{transaction("txn_1", "charge", at(0), 1999, 88, alone)}})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "ch_1", got[0].Payment)
	named := hooked(t, event("evt_1", "charge.succeeded", at(0), alone))
	require.Equal(t, named[0].ProviderPaymentID, got[0].Payment)
	require.Equal(t, named[0].References, got[0].References)
}

func TestListsFitStripesDescription(t *testing.T) {
	t.Parallel()
	c := startMock(t)
	span := gateway.Span{From: began, To: began.Add(time.Hour)}
	passed := 0
	err := c.Entries(t.Context(), span, func(gateway.Entry) error { passed++; return nil })
	require.True(t, err == nil || errors.Is(err, gateway.ErrUnreadable), "%v", err)
	require.NoError(t, c.Events(t.Context(), span, func(e gateway.ListedEvent) error {
		passed++
		require.NotEmpty(t, e.Body)
		return nil
	}))
	require.NotZero(t, passed)
	paid := 0
	require.NoError(t, c.Payouts(t.Context(), span, func(payment.PayoutReport) error { paid++; return nil }))
	require.NotZero(t, paid)
}

// A span is requested in whole seconds, and each transaction is expanded as far as the adapter needs.
func TestASpanIsAskedForInSeconds(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, keeping(t, &books{}))
	span := gateway.Span{From: began.Add(time.Nanosecond), To: began.Add(time.Second + time.Nanosecond)}
	require.NoError(t, c.Entries(t.Context(), span, func(gateway.Entry) error { return nil }))
	asked, err := url.Parse(strings.TrimPrefix((<-seen).line, "GET "))
	require.NoError(t, err)
	require.Equal(t, "/v1/balance_transactions", asked.Path)
	require.Equal(t, url.Values{
		"created[gte]": {"1773446400"}, "created[lt]": {"1773446402"}, "limit": {"100"}, "expand[0]": {"data.source"},
	}, asked.Query())
}
