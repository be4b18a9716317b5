package journal_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/journal"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/paddle"
	"github.com/paylatch/paylatch/internal/provider/square"
)

// listing answers each path with a list. Any other path has an empty list.
func listing(t *testing.T, lists map[string]string, empty string) (string, *http.Client) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Square-Version", "2025-08-20")
		if text, known := lists[r.URL.Path]; known {
			_, _ = w.Write([]byte(text))
			return
		}
		_, _ = w.Write([]byte(empty))
	}))
	t.Cleanup(s.Close)
	return s.URL, s.Client()
}

// kept is the ledger that has all that the books of an adapter have, with a recorded movement for each entry of a payment.
func kept(t *testing.T, account string, books gateway.Books) *book {
	t.Helper()
	b, sums := &book{}, map[string]*journal.PayoutSum{}
	in := gateway.Span{From: october.From(), To: october.Next().From()}
	require.NoError(t, books.Entries(t.Context(), in, func(e gateway.Entry) error {
		var net int64
		if e.Own != "" {
			b.entries = append(b.entries, payment.AccountEntry{Account: account, EntryID: e.ID, Kind: string(e.Own), Net: e.Net, PayoutID: e.Payout, At: e.Movement.At})
			net = e.Net.Minor
		} else {
			id := payment.AttemptID(uuid.NewSHA1(uuid.Nil, []byte(e.ID)))
			b.settlements = append(b.settlements, payment.Settlement{
				Account: account, EntryID: e.ID, AttemptID: id, Kind: e.Movement.Kind, Payment: e.Payment, Money: e.Money(), Fee: e.Fee, Net: e.Net, PayoutID: e.Payout, At: e.Movement.At,
			})
			b.movements = append(b.movements, journal.Movement{
				AttemptID: id, Account: account, Moved: e.Movement.At, Movement: payment.Movement{Number: 1, Kind: e.Movement.Kind, Money: e.Money()},
			})
			if e.Net != nil {
				net = e.Net.Minor
			}
		}
		if sums[e.Payout] == nil {
			sums[e.Payout] = &journal.PayoutSum{Currency: "EUR"}
		}
		sums[e.Payout].Entries, sums[e.Payout].Settled = sums[e.Payout].Entries+1, sums[e.Payout].Settled+net
		return nil
	}))
	lists, tells := books.(gateway.Payouts)
	if !tells {
		return b
	}
	require.NoError(t, lists.Payouts(t.Context(), in, func(r payment.PayoutReport) error {
		r.Account = account
		p := journal.Payout{Day: r.ArrivesOn, Payout: payment.Payout{PayoutReport: r}}
		if of := sums[r.ProviderID]; of != nil {
			p.Sums = []journal.PayoutSum{*of}
		}
		b.payouts = append(b.payouts, p)
		return nil
	}))
	return b
}

// accounts are the sums of October by the journal's accounts, in cents.
func (b *book) accounts(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	require.NoError(t, journal.Journal{Store: b, Month: october}.Each(t.Context(), func(one journal.Transaction) error {
		for _, p := range one.Postings {
			if all[p.Account] += p.Money.Minor; all[p.Account] == 0 {
				delete(all, p.Account)
			}
		}
		return nil
	}))
	return all
}

// An instant transfer of Square is taken from the balance once, though a later payout has an entry of it.
func TestAnInstantTransferIsPostedOnce(t *testing.T) {
	t.Parallel()
	payout := func(id, kind, day, amount string) string {
		return `{"id":"` + id + `","status":"PAID","location_id":"L1","created_at":"2026-10-` + day + `T01:00:00Z","type":"` + kind +
			`","amount_money":{"amount":` + amount + `,"currency":"EUR"},"arrival_date":"2026-10-` + day + `"}`
	}
	entry := func(id, kind, gross, fee, net, more string) string {
		money := func(amount string) string { return `{"amount":` + amount + `,"currency":"EUR"}` }
		return `{"id":"` + id + `","type":"` + kind + `","effective_at":"2026-10-06T01:00:00Z","gross_amount_money":` + money(gross) +
			`,"fee_amount_money":` + money(fee) + `,"net_amount_money":` + money(net) + more + `}`
	}
	for _, kind := range []string{"MONEY_TRANSFER", "ADJUSTMENT"} {
		base, client := listing(t, map[string]string{
			"/v2/payouts": `{"payouts":[` + payout("po_2", "BATCH", "06", "400") + `,` + payout("po_1", "SIMPLE", "05", "100") + `]}`,
			"/v2/payouts/po_2/payout-entries": `{"payout_entries":[` + entry("poe_1", "CHARGE", "515", "15", "500", `,"type_charge_details":{"payment_id":"p1"}`) + `,` +
				entry("poe_2", kind, "-100", "0", "-100", "") + `]}`,
		}, `{}`)
		b := kept(t, "square", square.New(base, "key", client))
		require.Len(t, b.payouts, 2)
		require.Equal(t, map[string]int64{"assets:bank:payouts": 500, "expenses:fees:square": 15, "income:sales": -515}, b.accounts(t), kind)
	}
}

// A sale at Paddle and its full refund leave nothing, and a sale alone leaves its earnings on the balance: the tax is Paddle's.
func TestASaleAndItsRefundAtPaddle(t *testing.T) {
	t.Parallel()
	const totals = `{"subtotal":"92","tax":"8","total":"100","grand_total":"100","fee":"5","earnings":"87","currency_code":"EUR"}`
	sale := `{"data":[{"id":"txn_1","status":"completed","currency_code":"EUR","created_at":"2026-10-03T01:00:00Z","updated_at":"2026-10-03T02:00:00Z",` +
		`"details":{"totals":` + totals + `,"payout_totals":` + totals + `}}],"meta":{"pagination":{"has_more":false}}}`
	refund := `{"data":[{"id":"adj_1","action":"refund","status":"approved","transaction_id":"txn_1","currency_code":"EUR","created_at":"2026-10-04T01:00:00Z",` +
		`"updated_at":"2026-10-04T02:00:00Z","totals":` + totals + `,"payout_totals":` + totals + `}],"meta":{"pagination":{"has_more":false}}}`
	const empty = `{"data":[],"meta":{"pagination":{"has_more":false}}}`
	base, client := listing(t, map[string]string{"/transactions": sale, "/adjustments": refund}, empty)
	require.Equal(t, map[string]int64{"income:sales": -100, "income:refunds": 100}, kept(t, "paddle", paddle.New(base, "key", client)).accounts(t))
	base, client = listing(t, map[string]string{"/transactions": sale}, empty)
	require.Equal(t, map[string]int64{"income:sales": -100, "expenses:fees:paddle": 13, "assets:provider:paddle:balance": 87},
		kept(t, "paddle", paddle.New(base, "key", client)).accounts(t))
}
