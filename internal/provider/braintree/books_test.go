package braintree_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/braintree"
)

const (
	authorized, submitted, settled, pending = "authorized", "submitted_for_settlement", "settled", "settlement_pending"

	voided, declinedLate, confirmed = "voided", "settlement_declined", "settlement_confirmed"
)

var day = time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)

func at(hour int) time.Time { return day.Add(time.Duration(hour)*time.Hour + 59*time.Second) }

// told returns a history of statuses, each at this number of hours after the beginning of the day.
func told(statuses []string, hours ...int) (all []happened) {
	for i, status := range statuses {
		all = append(all, happened{status, at(hours[i])})
	}
	return all
}

func bookedSale(id string, amount int64, order string, statuses []string, hours ...int) *transaction {
	return &transaction{id: id, kind: "sale", status: statuses[len(statuses)-1], amount: amount, order: order, history: told(statuses, hours...)}
}

func bookedRefund(id, of string, amount int64, statuses []string, hours ...int) *transaction {
	t := bookedSale(id, amount, "refund-"+id, statuses, hours...)
	t.kind, t.of = "credit", of
	return t
}

// disputed returns a dispute with its day of receipt and its history.
func disputed(id, kind, status string, received time.Time, rest string, history ...happened) string {
	var events strings.Builder
	for _, h := range history {
		events.WriteString(`<status-history><status>` + h.status + `</status><timestamp type="datetime">` + h.at.Format(time.RFC3339) +
			`</timestamp><effective-date type="date">` + h.at.Format(time.DateOnly) + `</effective-date></status-history>`)
	}
	return `<dispute><id>` + id + `</id><amount>12.99</amount><amount-disputed>12.99</amount-disputed>` + rest + `<currency-iso-code>EUR</currency-iso-code><kind>` + kind +
		`</kind><status>` + status + `</status><reason>fraud</reason><received-date type="date">` + received.Format(time.DateOnly) + `</received-date>` +
		`<status-history type="array">` + events.String() + `</status-history></dispute>`
}

func moved(id, of string, kind payment.MovementKind, movement string, minor int64, hour int, references ...string) gateway.Entry {
	return gateway.Entry{
		ID: id, Payment: of, Payee: "shop_eur", References: references, Movement: payment.MovementReport{Kind: kind, ID: movement, Money: euro(minor), At: at(hour)},
	}
}

// contested returns the entry of a dispute's chargeback or reversal.
func contested(id, of string, kind payment.MovementKind, dispute string, minor int64, hour int, references ...string) gateway.Entry {
	e := moved(id, of, kind, "", minor, hour, references...)
	e.Movement.Dispute = dispute
	return e
}

// booked returns a fake with all kinds of entries of a day, and with 60 further sales.
func booked(t *testing.T) (*fake, []gateway.Entry) {
	t.Helper()
	f := serving()
	f.slow = true
	for _, one := range []*transaction{
		bookedSale("sale01", 1999, "attempt-1", []string{authorized, submitted, settled}, 1, 2, 20),
		bookedSale("sale02", 500, "", []string{authorized, submitted}, 3, 3),
		bookedSale("sale03", 700, "attempt-3", []string{authorized}, 3),
		bookedSale("sale04", 800, "attempt-4", []string{submitted, pending, confirmed, settled}, -70, -70, 1, 4),
		bookedSale("sale05", 900, "attempt-5", []string{authorized, submitted, voided}, -3, -2, 5),
		bookedSale("sale06", 901, "attempt-6", []string{authorized, voided}, 5, 6),
		bookedSale("sale07", 902, "attempt-7", []string{submitted, "settling", declinedLate}, -50, -40, 7),
		bookedSale("sale08", 903, "attempt-8", []string{pending, declinedLate}, -50, 7),
		bookedSale("sale09", 1999, "attempt-9", []string{submitted, settled}, -500, -480),
		bookedSale("sale10", 1999, "attempt-10", []string{submitted, settled}, -900, -880),
		bookedSale("sale11", 2000, "", []string{submitted, settled}, -900, -880),
		bookedRefund("back01", "sale01", 400, []string{submitted, confirmed, settled}, 8, 9, 21),
		bookedRefund("back02", "sale01", 401, []string{submitted}, 8),
		bookedRefund("back03", "sale09", 402, []string{submitted, settled, declinedLate}, -60, -50, 10),
		bookedRefund("back04", "", 403, []string{submitted, settled}, 8, 9),
	} {
		f.transactions[one.id] = one
	}
	f.transactions["sale01"].refunds = []string{"back01", "back02"}
	f.transactions["sale09"].refunds = []string{"back03"}
	f.transactions["sale09"].disputes = disputed("dp1", "chargeback", "open", day, "", happened{"open", at(11)})
	f.transactions["sale10"].disputes = disputed("dp2", "chargeback", "won", day.AddDate(0, 0, -30), `<amount-won>10.00</amount-won>`, happened{"open", at(-700)}, happened{"won", at(12)})
	f.transactions["sale11"].disputes = disputed("dp3", "retrieval", "open", day, "", happened{"open", at(13)})
	f.transactions["sale02"].instrument, f.transactions["sale02"].fee = "paypal_account", "0.44"
	f.transactions["sale04"].local = "PAY-1AB"
	want := []gateway.Entry{
		moved("sale01", "sale01", payment.MovementCapture, "", 1999, 2, "attempt-1"),
		moved("sale02", "sale02", payment.MovementCapture, "", 500, 3),
		moved("sale04", "sale04", payment.MovementCapture, "", 800, 4, "attempt-4", "PAY-1AB"),
		moved("sale05/reversal", "sale05", payment.MovementCaptureReversal, "", 900, 5, "attempt-5"),
		moved("sale07/reversal", "sale07", payment.MovementCaptureReversal, "", 902, 7, "attempt-7"),
		moved("back01", "sale01", payment.MovementRefund, "back01", 400, 21),
		moved("back03/reversal", "sale09", payment.MovementRefundReversal, "back03", 402, 10),
		contested("dp1", "sale09", payment.MovementChargeback, "dp1", 1299, 11, "attempt-9"),
		contested("dp2/reversal", "sale10", payment.MovementChargebackReversal, "dp2", 1000, 12, "attempt-10"),
	}
	want[1].Fee = new(euro(44))
	want[3].Undoes, want[4].Undoes, want[6].Undoes = "sale05", "sale07", "back03" // their own entries are passed no longer
	for i := range 60 {
		id := fmt.Sprintf("many%02d", i)
		f.transactions[id] = bookedSale(id, int64(1000+i), "", []string{authorized, submitted}, 13, 14)
		want = append(want, moved(id, id, payment.MovementCapture, "", int64(1000+i), 14))
	}
	return f, want
}

// spoil makes the dates of a page's first transaction unreadable.
func spoil(page []byte) (item, spoilt []byte) {
	const end = `</transaction>`
	from, to := bytes.Index(page, []byte(`<transaction>`)), bytes.Index(page, []byte(end))
	if from < 0 || to < 0 {
		return nil, nil
	}
	item = bytes.Clone(page[from : to+len(end)])
	return item, bytes.ReplaceAll(item, []byte(`<timestamp type="datetime">`), []byte(`<timestamp type="datetime">?`))
}

func TestBooks(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{private}, Params: map[string]string{"public_key": public}})
	require.NoError(t, err)
	providertest.Books(t, providertest.BooksSuite{
		New: func(_ *testing.T, base string, c *http.Client) gateway.Books { return client(base, c) },
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			f, want := booked(t)
			disputeOf := func(id, dispute string) string {
				return strings.Replace(dispute, `</dispute>`, `<transaction><id>`+id+`</id></transaction></dispute>`, 1)
			}
			return providertest.Booked{Fake: f, Span: gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, Entries: want, Webhooks: []webhooks.Event{
				delivered(t, v, "transaction_settled", f.transactions["sale04"].xml()),
				delivered(t, v, "transaction_settled", f.transactions["back01"].xml()),
				delivered(t, v, "dispute_opened", disputeOf("sale09", f.transactions["sale09"].disputes)),
				delivered(t, v, "dispute_won", disputeOf("sale10", f.transactions["sale10"].disputes)),
			}}
		},
		Spoil:    spoil,
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client(base, c) },
	})
}

// entriesOf returns the ids of a fake's entries of the day.
func entriesOf(t *testing.T, c *braintree.Client) (ids []string, err error) {
	t.Helper()
	err = c.Entries(t.Context(), gateway.Span{From: day, To: day.AddDate(0, 0, 1)}, func(e gateway.Entry) error {
		ids = append(ids, e.ID)
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

// A merchant's other merchant accounts are other accounts.
func TestBooksAreThoseOfTheMerchantAccount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		account string
		want    []string
	}{
		{"", []string{"mine00", "third0"}},
		{"shop_eur", []string{"mine00"}},
		{"shop_usd", []string{"other0"}},
	} {
		f := serving()
		f.transactions["mine00"] = bookedSale("mine00", 1999, "", []string{submitted}, 2)
		f.transactions["other0"] = bookedSale("other0", 1999, "", []string{submitted}, 2)
		f.transactions["other0"].account, f.transactions["other0"].currency = "shop_usd", "USD"
		f.transactions["third0"] = bookedSale("third0", 1999, "", []string{submitted}, 2)
		f.transactions["third0"].account = "more_eur"
		c, _ := serve(t, f)
		c.MerchantAccount = tt.account
		ids, err := entriesOf(t, c)
		require.NoError(t, err)
		require.Equal(t, tt.want, ids, tt.account)
	}
}

// A transaction that a search finds and its page lacks is looked up and not omitted.
func TestBooksLookUpWhatAPageLacks(t *testing.T) {
	t.Parallel()
	f := serving()
	f.slow, f.gone = true, map[string]bool{"sale01": true}
	f.transactions["sale00"] = bookedSale("sale00", 1999, "", []string{submitted}, 2)
	f.transactions["sale01"] = bookedSale("sale01", 1999, "", []string{submitted}, 2)
	c, seen := serve(t, f)
	ids, err := entriesOf(t, c)
	require.NoError(t, err)
	require.Equal(t, []string{"sale00", "sale01"}, ids)
	require.Contains(t, lines(seen), "GET "+base+"/transactions/sale01")
}

// A search with the maximum number of results may be truncated, so its span is halved.
func TestBooksOfMoreThanASearchHas(t *testing.T) {
	t.Parallel()
	full := `<search-results><page-size type="integer">50</page-size><ids type="array">` + strings.Repeat("<item>sale00</item>", 50_000) + `</ids></search-results>`
	for name, tt := range map[string]struct {
		least time.Duration
		fails bool
	}{"in_half_a_day": {least: 13 * time.Hour}, "in_a_minute": {fails: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serving()
			for i := range 24 {
				id := fmt.Sprintf("sale%02d", i)
				f.transactions[id] = bookedSale(id, 1999, "", []string{submitted}, i)
			}
			c, _ := serve(t, capped(f, tt.least, full))
			ids, err := entriesOf(t, c)
			if tt.fails {
				require.ErrorContains(t, err, "more transactions in a minute")
				require.Empty(t, ids)
				return
			}
			require.NoError(t, err)
			require.Len(t, ids, 24)
		})
	}
}

// capped gives one answer to searches by the submission time if their span has at least this length.
func capped(f *fake, least time.Duration, full string) http.Handler {
	return intercepted(f, func(in searched) string {
		if s := in.Search.Submitted; s != nil && s.Max.Sub(s.Min) >= least {
			return full
		}
		return ""
	})
}

// An unreadable item that may belong to the span is an error, and hides no other item.
func TestBooksOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	odd := func(change func(*transaction)) *transaction {
		one := bookedSale("odd000", 1999, "", []string{submitted, settled}, 2, 20)
		change(one)
		return one
	}
	for name, tt := range map[string]struct {
		odd    *transaction
		unread bool
	}{
		"no_currency":     {odd(func(o *transaction) { o.currency = "?" }), true},
		"no_status":       {odd(func(o *transaction) { o.status = "" }), true},
		"dispute_no_date": {odd(func(o *transaction) { o.disputes = disputed("dp1", "chargeback", "open", day, "") }), true},
		"dispute_no_id": {odd(func(o *transaction) {
			o.disputes = disputed("", "chargeback", "open", day, "", happened{"open", at(1)})
		}), true},
		"of_another_day":   {odd(func(o *transaction) { o.currency, o.history = "?", told([]string{submitted, settled}, -5, 2) }), false},
		"another_dispute":  {odd(func(o *transaction) { o.disputes = disputed("dp1", "chargeback", "new", day, "") }), false},
		"a_status_unknown": {odd(func(o *transaction) { o.status = "marinating" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serving()
			f.slow = true
			f.transactions["odd000"], f.transactions["zgood0"] = tt.odd, bookedSale("zgood0", 1999, "", []string{submitted}, 3)
			c, _ := serve(t, f)
			c.Currency = ""
			ids, err := entriesOf(t, c)
			require.Contains(t, ids, "zgood0")
			require.Equal(t, tt.unread, errors.Is(err, gateway.ErrUnreadable), "%v", err)
			require.True(t, tt.unread || err == nil, "%v", err)
		})
	}
}

func TestBooksAreConfigured(t *testing.T) {
	t.Parallel()
	a := braintree.Adapter()
	b, err := a.Books(kit.Settings{Params: map[string]string{"merchant_account_id": "shop_eur", "currency": "EUR"}})
	require.NoError(t, err)
	c, ok := b.(*braintree.Client)
	require.True(t, ok)
	require.Equal(t, []any{"shop_eur", time.Hour}, []any{c.MerchantAccount, a.Lag})
}
