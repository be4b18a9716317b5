package square_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/square"
)

func payout(id, status string, second int, minor int64) object {
	return object{
		"id": id, "status": status, "location_id": "L1", "created_at": at(second), "updated_at": at(second), "type": "BATCH", "amount_money": eur(minor),
		"arrival_date": "2026-03-16", "version": 1,
	}
}

func paidEntry(id, kind string, second int, gross, fee int64, details object) object {
	e := object{
		"id": id, "payout_id": "po", "effective_at": at(second), "type": kind,
		"gross_amount_money": eur(gross), "fee_amount_money": eur(fee), "net_amount_money": eur(gross - fee),
	}
	maps.Copy(e, details)
	return e
}

// paidOut is an entry in the payout po_1.
func paidOut(e gateway.Entry, fee, net int64) gateway.Entry {
	e.Payout, e.Fee, e.Net = "po_1", new(euro(fee)), new(euro(net))
	return e
}

func ownEntry(id, of string, kind payment.EntryKind, net int64, second int) gateway.Entry {
	return gateway.Entry{
		ID: id, Own: kind, Payout: of, Net: new(euro(net)), Movement: payment.MovementReport{At: began.Add(time.Duration(second) * time.Second)},
	}
}

// payouts lists the payouts of an hour, and the error after them.
func payouts(t *testing.T, c *square.Client) (all []payment.PayoutReport, err error) {
	t.Helper()
	err = c.Payouts(t.Context(), gateway.Span{From: began, To: began.Add(time.Hour)}, func(r payment.PayoutReport) error {
		all = append(all, r)
		return nil
	})
	return all, err
}

// Payouts of the span are listed as they are now, page by page. A payout that can't be read hides no other.
func TestPayouts(t *testing.T) {
	t.Parallel()
	code := payout("po_5", "PAID", 5, 0)
	code["amount_money"] = object{"amount": 700, "currency_code": "USD"}
	undated := payout("po_6", "SENT", 6, 1)
	undated["arrival_date"] = nil
	late := payout("po_7", "PAID", 7, 1)
	late["arrival_date"] = "soon"
	unpriced := payout("po_8", "PAID", 8, 1)
	unpriced["amount_money"] = nil
	c, seen := serve(t, keeping(t, &books{payouts: []object{
		payout("po_0", "PAID", -1, 1), payout("po_1", "SENT", 1, 6259), payout("po_2", "PAID", 2, 2000), payout("po_3", "FAILED", 3, 2000),
		payout("po_4", "PAID", 4, -103), code, undated, late, unpriced, payout("po_9", "LOST", 9, 1),
	}}))
	c.Location = "L1"
	got, err := payouts(t, c)
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "3 items")
	listed := func(id string, status payment.PayoutStatus, minor int64, currency payment.Currency) payment.PayoutReport {
		return payment.PayoutReport{
			ProviderID: id, Status: status, Money: &payment.Money{Minor: minor, Currency: currency}, ArrivesOn: time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC),
		}
	}
	last := listed("po_6", payment.PayoutInTransit, 1, "EUR")
	last.ArrivesOn = time.Time{}
	require.Equal(t, []payment.PayoutReport{
		listed("po_1", payment.PayoutInTransit, 6259, "EUR"), listed("po_2", payment.PayoutPaid, 2000, "EUR"), listed("po_3", payment.PayoutFailed, 2000, "EUR"),
		listed("po_4", payment.PayoutPaid, -103, "EUR"), listed("po_5", payment.PayoutPaid, 700, "USD"), last,
	}, got)
	require.Len(t, seen, 5, "the pages")
	for range 5 {
		require.Contains(t, (<-seen).line, "location_id=L1")
	}
}

// Each entry of a payout is passed with it: payments, refunds and disputes by their own ids, and all others as entries of the account. Money
// that came back for a dispute that was not won moves nothing. Money
// that is counted elsewhere is left out, and so are the entries of a SIMPLE payout, which has none.
func TestAPayoutHasItsEntries(t *testing.T) {
	t.Parallel()
	dispute := object{"payment_id": "p0", "dispute_id": "d0"}
	simple := payout("po_2", "PAID", 2, 700)
	simple["type"] = "SIMPLE"
	lost := contested("d1", "p1", "LOST", -86400)
	lost["dispute_id"] = "old_d1"
	disputes := []object{contested("d0", "p0", "WON", -86400), lost, contested("d2", "p2", "INQUIRY_CLOSED", -86400)}
	c, seen := serve(t, keeping(t, &books{disputes: disputes, payouts: []object{payout("po_1", "PAID", 1, 6259), simple}, paidOut: map[string][]object{"po_1": {
		paidEntry("poe_1", "OPEN_DISPUTE", 1, -700, 0, object{"type_open_dispute_details": dispute}),
		paidEntry("poe_2", "DISPUTE", 1, 700, 0, object{"type_dispute_details": dispute}),
		paidEntry("poe_3", "CHARGE", 1, -5, 0, object{"type_charge_details": object{"payment_id": "p0"}}),
		paidEntry("poe_4", "REFUND", 1, -5, 0, object{"type_refund_details": object{"payment_id": "p0"}}),
		paidEntry("poe_0", "DISPUTE", 1, 0, 0, object{"type_dispute_details": dispute}),
		paidEntry("poe_a", "OPEN_DISPUTE", 1, -700, 0, object{"type_open_dispute_details": object{"payment_id": "p1", "dispute_id": "old_d1"}}),
		paidEntry("poe_b", "OPEN_DISPUTE", 1, 700, 0, object{"type_open_dispute_details": object{"payment_id": "p1", "dispute_id": "d1"}}),
		paidEntry("poe_c", "OPEN_DISPUTE", 1, -700, 0, object{"type_open_dispute_details": object{"payment_id": "p2", "dispute_id": "d2"}}),
		paidEntry("poe_d", "DISPUTE", 1, -700, 0, nil),
		paidEntry("poe_5", "MONEY_TRANSFER", 1, -5, 0, nil), paidEntry("poe_6", "MOON_LANDING", 1, 5, 0, nil),
		paidEntry("poe_7", "PROCESSING_FEE", 1, -5, 0, nil), paidEntry("poe_8", "THIRD_PARTY_FEE", 1, -5, 0, nil), paidEntry("poe_9", "RETURNED_PAYOUT", 1, 5, 0, nil),
	}}}))
	got, err := read(t, c)
	require.NoError(t, err)
	require.Equal(t, []gateway.Entry{
		paidOut(contestedEntry("d0", "p0", payment.MovementChargeback, "d0", 1), 0, -700),
		paidOut(contestedEntry("d0/won", "p0", payment.MovementChargebackReversal, "d0", 1), 0, 700),
		ownEntry("poe_3", "po_1", payment.EntryAdjustment, -5, 1), ownEntry("poe_4", "po_1", payment.EntryAdjustment, -5, 1),
		ownEntry("poe_0", "po_1", payment.EntryAdjustment, 0, 1),
		paidOut(contestedEntry("d1", "p1", payment.MovementChargeback, "d1", 1), 0, -700),
		ownEntry("poe_b", "po_1", payment.EntryAdjustment, 700, 1), ownEntry("poe_c", "po_1", payment.EntryAdjustment, -700, 1),
		ownEntry("poe_d", "po_1", payment.EntryAdjustment, -700, 1),
		ownEntry("poe_5", "po_1", payment.EntryTransfer, -5, 1), ownEntry("poe_6", "po_1", payment.EntryAdjustment, 5, 1),
		ownEntry("poe_9", "po_1", payment.EntryReturn, 5, 1),
	}, got)
	for len(seen) > 0 {
		require.NotContains(t, (<-seen).line, "po_2/")
	}
}

// A later payout has an entry of an instant transfer, of any type. It is marked once for each transfer of its location and amount. The
// transfer is of an earlier day.
func TestAnInstantTransferInALaterPayout(t *testing.T) {
	t.Parallel()
	instant := func(id string, second int, minor int64) object {
		p := payout(id, "PAID", second, minor)
		p["type"], p["location_id"] = "SIMPLE", "L1"
		return p
	}
	elsewhere := instant("po_d", -80, 400)
	elsewhere["location_id"] = "L2"
	const day = 86400
	for _, kind := range []string{"MONEY_TRANSFER", "ADJUSTMENT", "OTHER", "MOON_LANDING"} {
		c, _ := serve(t, keeping(t, &books{
			payouts: []object{
				instant("po_a", -20*day, 100), instant("po_b", -60, 200), instant("po_c", -50, 100), elsewhere, instant("po_e", 20, 600), payout("po_1", "PAID", 10, 400),
			},
			paidOut: map[string][]object{"po_1": {
				paidEntry("poe_1", kind, 10, -100, 0, nil), paidEntry("poe_2", kind, 10, -100, 0, nil), paidEntry("poe_3", kind, 10, -100, 0, nil),
				paidEntry("poe_4", kind, 10, -400, 0, nil), paidEntry("poe_5", kind, 10, 200, 0, nil), paidEntry("poe_6", kind, 10, -600, 0, nil),
				paidEntry("poe_7", "SUBSCRIPTION_FEE", 10, -200, 0, nil),
			}},
		}))
		got, err := read(t, c)
		require.NoError(t, err)
		marked := map[string]bool{}
		for _, e := range got {
			marked[e.ID] = e.Own == payment.EntryReturn
		}
		require.Equal(t, map[string]bool{"poe_1": true, "poe_2": true, "poe_3": false, "poe_4": false, "poe_5": false, "poe_6": false, "poe_7": false}, marked, kind)
	}
}

// An entry without an amount, or without its time, hides no other entry.
func TestAPayoutsEntryThatCantBeRead(t *testing.T) {
	t.Parallel()
	bare := paidEntry("poe_1", "CHARGE", 1, 5, 0, object{"net_amount_money": nil})
	undated := paidEntry("poe_2", "FEE", 1, 5, 0, object{"effective_at": nil})
	c, _ := serve(t, keeping(t, &books{payouts: []object{payout("po_1", "PAID", 1, 6259)}, paidOut: map[string][]object{"po_1": {
		bare, undated, paidEntry("poe_3", "FEE", 1, -5, 0, nil),
	}}}))
	got, err := read(t, c)
	require.ErrorIs(t, err, gateway.ErrUnreadable)
	require.ErrorContains(t, err, "2 items, the first: entry poe_1 of payout po_1")
	require.Equal(t, []gateway.Entry{ownEntry("poe_3", "po_1", payment.EntryFee, -5, 1)}, got)
}

// A token without the permission for payouts reads the other books. Any other refusal is an error.
func TestATokenWithoutPayouts(t *testing.T) {
	t.Parallel()
	b := day()
	for code, fails := range map[string]bool{"INSUFFICIENT_SCOPES": false, "FORBIDDEN": true} {
		fake := keeping(t, b)
		c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v2/payouts") {
				refuse(403, "AUTHENTICATION_ERROR", code).write(w)
				return
			}
			fake.ServeHTTP(w, r)
		}))
		got, err := read(t, c)
		require.Equal(t, fails, err != nil, code)
		require.Len(t, got, 8)
		none, err := payouts(t, c)
		require.Equal(t, fails, err != nil, code)
		require.Empty(t, none)
	}
}
