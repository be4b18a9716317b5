package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/auth"
)

func TestDetails(t *testing.T) {
	t.Parallel()
	t.Run("reach_the_provider", detailsReachTheProvider)
	t.Run("of_the_order", detailsOfTheOrder)
	t.Run("of_the_order_say_whose_a_stored_method_is", detailsOfTheOrderSayWhose)
	t.Run("of_the_order_with_a_receipt", detailsOfTheOrderWithAReceipt)
	t.Run("of_the_order_when_resumed", detailsOfTheOrderWhenResumed)
	t.Run("refused", detailsRefused)
	t.Run("only_by_a_service", detailsOnlyByAService)
	t.Run("in_no_table_in_clear", detailsInNoTable)
	t.Run("receipts", detailsReceipts)
	t.Run("purged", detailsPurged)
	t.Run("same_order_other_lines", detailsSameOrderOtherLines)
}

// carrying keeps the details that the provider received.
type carrying struct {
	gateway.Provider

	charges  []gateway.Charge
	captures []gateway.Capture
	refunds  []gateway.RefundCall
	charge   func() error
}

func (p *carrying) on(of gateway.Provider) gateway.Provider {
	p.Provider = of
	return p
}

func (p *carrying) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	p.charges = append(p.charges, c)
	if p.charge != nil {
		if err := p.charge(); err != nil {
			return gateway.Outcome{}, err
		}
	}
	return p.Provider.Charge(ctx, c)
}

func (p *carrying) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	p.captures = append(p.captures, c)
	return p.Provider.Capture(ctx, c)
}

func (p *carrying) Refund(ctx context.Context, c gateway.RefundCall) (gateway.RefundOutcome, error) {
	p.refunds = append(p.refunds, c)
	return p.Provider.Refund(ctx, c)
}

// carried is all that a pay may carry; mark is in each text.
func carried(mark string) gateway.Details {
	return gateway.Details{
		Token: "tok_success", MethodType: "card", Save: true, ReturnURL: "https://shop.example/" + mark, StatementDescriptor: "SHOP A-1",
		Customer: gateway.Customer{
			Reference: "u1", Email: mark + "@shop.example", Name: "Jane " + mark, Phone: "+4930901820", IP: "203.0.113.7", Locale: "de-DE",
			Billing: &gateway.Address{Line1: mark + " Street 1", City: "Berlin", Country: "DE"},
		},
		Browser: &gateway.Browser{UserAgent: mark + "/5.0", TimeZoneOffset: -60},
		Lines: []gateway.Line{
			{
				Description: mark + " ticket", Quantity: "2", UnitAmount: 750, Amount: 1500, TaxRate: "0.19", TaxAmount: 239,
				Receipt: &gateway.LineReceipt{VATCode: 1, PaymentSubject: "service"},
			},
			{Description: "Shipping", Quantity: "1", UnitAmount: 499, Amount: 499, TaxAmount: 80, Type: gateway.LineShipping, Receipt: &gateway.LineReceipt{VATCode: 1}},
		},
		ProviderData: map[string]json.RawMessage{},
	}
}

func (r *env) payWith(t *testing.T, who authz.Actor, order payment.OrderID, d gateway.Details, capture payment.CaptureMode) (commands.Reply, error) {
	t.Helper()
	return r.Pay(t.Context(), who, request("pay "+string(order), "first-key", "details"), commands.Pay{OrderID: order, Details: d, Capture: capture})
}

func detailsReachTheProvider(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	r.order(t, "A-1")
	d := carried("m1")
	paid, err := r.payWith(t, shop, "A-1", d, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	d.ProviderData = nil
	require.Equal(t, d, p.charges[0].Details)
	require.NotNil(t, r.attempt(t, paid.ID).Saved, "the method is stored")
}

func (r *env) orderWith(t *testing.T, id payment.OrderID, lines []gateway.Line, c gateway.Customer) {
	t.Helper()
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-"+string(id), string(id)), commands.CreateOrder{
		OrderID: id, Money: payment.Money{Minor: price, Currency: "EUR"}, Lines: lines, Customer: c,
	})
	require.NoError(t, err)
}

// The pay's own details have priority over the order's.
func detailsOfTheOrder(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	of, own := carried("order"), carried("own")
	for order, c := range map[payment.OrderID]struct {
		pay      gateway.Details
		customer gateway.Customer
		lines    []gateway.Line
	}{
		"A-1": {gateway.Details{Token: "tok_success"}, of.Customer, of.Lines},
		"A-2": {gateway.Details{Token: "tok_success", Lines: own.Lines}, of.Customer, own.Lines},
		"A-3": {gateway.Details{Token: "tok_success", Customer: own.Customer}, own.Customer, of.Lines},
		"A-4": {own, own.Customer, own.Lines},
	} {
		r.orderWith(t, order, of.Lines, of.Customer)
		p.charges = nil
		_, err := r.payWith(t, shop, order, c.pay, payment.CaptureAutomatic)
		require.NoError(t, err, order)
		require.Len(t, p.charges, 1)
		require.Equal(t, c.customer, p.charges[0].Customer, order)
		require.Equal(t, c.lines, p.charges[0].Lines, order)
	}
}

// The owner in the lookup of a stored method is the customer of the charge.
func detailsOfTheOrderSayWhose(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	r.orderWith(t, "A-1", nil, gateway.Customer{Reference: "c-9"})
	saved, err := r.payWith(t, shop, "A-1", gateway.Details{Token: "tok_save"}, payment.CaptureAutomatic)
	require.NoError(t, err)
	stored := gateway.Details{Token: r.attempt(t, saved.ID).Saved.Token, Stored: true}
	r.orderWith(t, "A-2", nil, gateway.Customer{Reference: "c-9"})
	paid, err := r.payWith(t, shop, "A-2", stored, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(paid.Attempt))
	r.orderWith(t, "A-3", nil, gateway.Customer{Reference: "c-8"})
	r.order(t, "A-4")
	for _, order := range []payment.OrderID{"A-3", "A-4"} {
		_, err = r.payWith(t, shop, order, stored, payment.CaptureAutomatic)
		require.ErrorIs(t, err, payment.ErrMethodNotYours, order)
	}
	require.Len(t, p.charges, 2)
}

// A customer's lines, which can't have one, don't take the receipt out of the order's.
func detailsOfTheOrderWithAReceipt(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	of := carried("order")
	plain := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: price, Amount: price}}
	own := gateway.Details{Token: "tok_success", Lines: plain, Customer: gateway.Customer{Reference: "u1", Email: "u1@shop.example"}}
	r.orderWith(t, "A-1", of.Lines, gateway.Customer{})
	_, err := r.payWith(t, customer, "A-1", own, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Equal(t, of.Lines, p.charges[0].Lines)
	r.orderWith(t, "A-2", plain, of.Customer)
	own.Lines = []gateway.Line{{Description: "Seat", Quantity: "1", UnitAmount: price, Amount: price}}
	_, err = r.payWith(t, customer, "A-2", own, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Equal(t, own.Lines, p.charges[1].Lines)
}

// A retry that takes a lost charge over sends it again as it was first sent, also where nothing is kept of it.
func detailsOfTheOrderWhenResumed(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		p := &carrying{}
		r := newEnv(t, setup{silent: true, provider: p.on})
		of := carried("order")
		r.orderWith(t, "A-1", of.Lines, of.Customer)
		p.charge = func() error { return errNoAnswer }
		_, err := r.payWith(t, shop, "A-1", gateway.Details{Token: "tok_success"}, payment.CaptureAutomatic)
		require.NoError(t, err)
		p.charge = nil
		if !kept {
			r.exec(t, "TRUNCATE sealed_requests")
		}
		r.exec(t, "UPDATE operations SET lease_until = now() - interval '1 second'")
		again, err := r.payWith(t, shop, "A-1", gateway.Details{Token: "tok_success"}, payment.CaptureAutomatic)
		require.NoError(t, err)
		require.Equal(t, succeeded, standingOf(again.Attempt))
		require.Len(t, p.charges, 2)
		require.Equal(t, p.charges[0].Details, p.charges[1].Details)
		require.Equal(t, of.Lines, p.charges[1].Lines)
	}
}

func detailsRefused(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	for field, change := range map[string]func(*gateway.Details){
		"lines":                    func(d *gateway.Details) { d.Lines[0].Amount++ },
		"initiator":                func(d *gateway.Details) { d.Unattended = true },
		"save_payment_method":      func(d *gateway.Details) { d.Stored = true },
		"provider_data.amount":     func(d *gateway.Details) { d.ProviderData = map[string]json.RawMessage{"amount": json.RawMessage("1")} },
		"customer.billing_address": func(d *gateway.Details) { d.Token, d.Customer.Billing = "tok_billing", nil },
	} {
		d := carried("m1")
		change(&d)
		_, err := r.payWith(t, shop, "A-1", d, payment.CaptureAutomatic)
		var invalid *payment.ValidationError
		require.ErrorAs(t, err, &invalid, field)
		require.Equal(t, field, invalid.Fields[0].Field)
	}
	require.Empty(t, rows[string](t, r, "SELECT attempt_id::text FROM payment_attempts"))
	_, _, err := r.CreateOrder(t.Context(), shop, request("orders", "order-A-2", ""), commands.CreateOrder{
		OrderID: "A-2", Money: payment.Money{Minor: 5, Currency: "EUR"}, Lines: carried("m").Lines,
	})
	var invalid *payment.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "lines", invalid.Fields[0].Field)
}

// Only the merchant's backend may set the content of a receipt, charge without the customer, name another customer or
// set fields of the provider's request.
func detailsOnlyByAService(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "A-1")
	for name, change := range map[string]func(*gateway.Details){
		"receipt":       func(d *gateway.Details) {},
		"provider_data": func(d *gateway.Details) { d.Lines, d.ProviderData = nil, map[string]json.RawMessage{"x": nil} },
		"customer":      func(d *gateway.Details) { d.Lines, d.Customer.Reference = nil, "u2" },
		"initiator":     func(d *gateway.Details) { d.Lines, d.Unattended = nil, true },
	} {
		d := carried("m1")
		change(&d)
		_, err := r.payWith(t, customer, "A-1", d, payment.CaptureAutomatic)
		require.ErrorIs(t, err, payment.ErrForbidden, name)
	}
	own := carried("m1")
	for i := range own.Lines {
		own.Lines[i].Receipt = nil
	}
	paid, err := r.payWith(t, customer, "A-1", own, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(paid.Attempt))
}

// The database never has a pay's details in clear: neither while its outcome is open, nor afterwards, nor in the log of
// writes. The same is true for an order and for a second step.
func detailsInNoTable(t *testing.T) {
	t.Parallel()
	mark := "clear" + strings.ReplaceAll(uuid.NewString(), "-", "")
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		sealer, err := auth.NewSealer([]auth.Key{{ID: "k1", Secret: []byte("0123456789abcdef0123456789abcdef")}})
		require.NoError(t, err)
		o.Seal, o.Open = sealer.SealText, sealer.OpenText
	}})
	since := rows[string](t, r, "SELECT pg_current_wal_insert_lsn()::text")[0]
	open := carried(mark)
	open.Token = "tok_hang_charged"
	d := carried(mark)
	r.orderWith(t, "A-1", d.Lines, d.Customer)
	r.orderWith(t, "A-2", d.Lines, d.Customer)
	_, err := r.payWith(t, shop, "A-1", d, payment.CaptureAutomatic)
	require.NoError(t, err)
	require.Empty(t, r.dump(t, mark))
	id, _ := r.challenged(t, "A-3", true)
	_, err = r.complete(t.Context(), id, "complete-1", details(t, map[string]string{"sandbox_result": mark}))
	require.Error(t, err)
	require.Empty(t, r.dump(t, mark))
	require.Empty(t, r.backup(t, mark, since, false))
	require.NotEmpty(t, r.dump(t, "A-2"), "the search finds what is there")
}

// The content of a fiscal receipt is available for the capture and for each refund, in part.
func detailsReceipts(t *testing.T) {
	t.Parallel()
	p := &carrying{}
	r := newEnv(t, setup{silent: true, provider: p.on})
	d := carried("m1")
	r.orderWith(t, "A-1", d.Lines, d.Customer)
	held, err := r.payWith(t, shop, "A-1", gateway.Details{Token: "tok_success"}, payment.CaptureManual)
	require.NoError(t, err)
	_, err = r.Confirm(t.Context(), shop, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: held.ID})
	require.NoError(t, err)
	require.Equal(t, d.Lines, p.captures[0].Receipt.Lines)
	require.Equal(t, d.Customer.Email, p.captures[0].Receipt.Customer.Email)
	require.Nil(t, p.captures[0].Receipt.Customer.Billing)
	part := int64(1000)
	_, err = r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: held.ID, Amount: &part})
	require.NoError(t, err)
	var sum int64
	for _, l := range p.refunds[0].Receipt.Lines {
		require.Equal(t, "1", l.Quantity)
		require.Equal(t, l.Amount, l.UnitAmount)
		sum += l.Amount
	}
	require.Equal(t, part, sum)
	without := r.paid(t, "A-2", "tok_success")
	_, err = r.Refund(t.Context(), shop, request("refund 2", "refund-key", ""), commands.CreateRefund{AttemptID: without.ID})
	require.NoError(t, err)
	require.Nil(t, p.refunds[1].Receipt)
}

func detailsPurged(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	purger, ok := r.store.(interface {
		PurgeDetails(ctx context.Context, keep time.Duration, limit int) (int, error)
	})
	require.True(t, ok)
	purge := func(want int) {
		n, err := purger.PurgeDetails(t.Context(), 400*24*time.Hour, 100)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	left := func() []string {
		return rows[string](t, r, `SELECT order_id || CASE attempt_id WHEN '00000000-0000-0000-0000-000000000000' THEN '' ELSE ' receipt' END
			FROM sealed_details ORDER BY 1`)
	}
	d := carried("m1")
	for _, order := range []payment.OrderID{"open", "paid", "cancelled", "failed", "refunded", "old"} {
		r.orderWith(t, order, d.Lines, d.Customer)
	}
	pay := func(order payment.OrderID, token string) payment.AttemptID {
		paid, err := r.payWith(t, shop, order, gateway.Details{Token: token}, payment.CaptureAutomatic)
		require.NoError(t, err)
		return paid.ID
	}
	pay("paid", "tok_success")
	pay("failed", "tok_decline")
	_, err := r.Refund(t.Context(), shop, request("refund", "refund-key", ""), commands.CreateRefund{AttemptID: pay("refunded", "tok_success")})
	require.NoError(t, err)
	_, _, err = r.CancelOrder(t.Context(), shop, request("cancel", "cancel-key", ""), "cancelled")
	require.NoError(t, err)
	purge(0)
	r.exec(t, "UPDATE sealed_details SET check_at = now(), created_at = created_at - interval '1 hour'")
	r.exec(t, "UPDATE sealed_details SET created_at = now() - interval '401 days' WHERE order_id = 'old'")
	purge(9)
	require.Equal(t, []string{"failed", "open", "paid receipt"}, left())
	purge(0)
	require.Equal(t, []string{"true"}, rows[string](t, r, "SELECT bool_and(check_at BETWEEN now() + interval '59 minutes' AND now() + interval '61 minutes')::text FROM sealed_details"))
}

func detailsSameOrderOtherLines(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	d := carried("m1")
	create := func(key, content string, lines []gateway.Line) error {
		_, _, err := r.CreateOrder(t.Context(), shop, request("orders", key, content), commands.CreateOrder{
			OrderID: "A-1", Money: payment.Money{Minor: price, Currency: "EUR"}, Lines: lines,
		})
		return err
	}
	require.NoError(t, create("order-key-1", "same", d.Lines))
	require.NoError(t, create("order-key-1", "same", d.Lines))
	require.NoError(t, create("order-key-2", "same", d.Lines), "the same under another key")
	require.ErrorIs(t, create("order-key-3", "other", carried("m2").Lines), payment.ErrOrderExists)
	require.ErrorIs(t, create("order-key-1", "other", d.Lines), idempotency.ErrKeyReused)
}
