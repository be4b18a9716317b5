package stripe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stripe/stripe-go/v86"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

const (
	transactionsPath = "/v1/balance_transactions"
	// debitedLater is the longest time until a bank debit succeeds: 14 days for SEPA (https://docs.stripe.com/payments/sepa-debit), and a
	// day. Its balance transaction is dated by the charge.
	debitedLater = 15 * 24 * time.Hour
)

// Entries implements gateway.Books. It reads the balance transactions that were created in the span
// (https://docs.stripe.com/api/balance_transactions/list), and then the transactions of automatic payouts that were
// created in the span. A balance transaction does not name its payout, and Stripe does not list the transactions of a
// manual payout (https://docs.stripe.com/payouts/reconciliation). So entries of manual payouts have no payout. A pending
// debit is not a capture. It is passed after it has succeeded, by a later read of the same span or with its payout.
func (c *Client) Entries(ctx context.Context, in gateway.Span, take func(gateway.Entry) error) error {
	unread := &kit.Unread{}
	all := &stripe.BalanceTransactionListParams{CreatedRange: created(in)}
	if err := c.transactions(ctx, all, unread, take); err != nil {
		return err
	}
	paid := &stripe.PayoutListParams{CreatedRange: created(in)}
	err := c.list(ctx, "/v1/payouts", paid, &paid.ListParams, func(item json.RawMessage) error {
		var ids []string
		keep := func(id string) error { ids = append(ids, id); return nil }
		if err := kit.Pass(unread, item, automatic, keep); err != nil || len(ids) == 0 {
			return err
		}
		return c.transactions(ctx, &stripe.BalanceTransactionListParams{Payout: &ids[0]}, unread, take)
	})
	return unread.After(err)
}

// transactions passes the balance transactions of payments.
func (c *Client) transactions(ctx context.Context, params *stripe.BalanceTransactionListParams, unread *kit.Unread, take func(gateway.Entry) error) error {
	params.AddExpand("data.source")
	return c.list(ctx, transactionsPath, params, &params.ListParams, func(item json.RawMessage) error {
		return kit.Pass(unread, item, func(b stripe.BalanceTransaction) ([]gateway.Entry, error) {
			found, err := entriesOf(b)
			if err != nil {
				return nil, fmt.Errorf("balance transaction %s: %w", b.ID, err)
			}
			for i := range found {
				if params.Payout != nil {
					found[i].Payout = *params.Payout
				}
			}
			return found, nil
		}, take)
	})
}

// Payouts implements gateway.Payouts (https://docs.stripe.com/api/payouts/list).
func (c *Client) Payouts(ctx context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	unread := &kit.Unread{}
	paid := &stripe.PayoutListParams{CreatedRange: created(in)}
	err := c.list(ctx, "/v1/payouts", paid, &paid.ListParams, func(item json.RawMessage) error {
		return kit.Pass(unread, item, payoutOf, take)
	})
	return unread.After(err)
}

// payoutOf reads a payout (https://docs.stripe.com/api/payouts/object). Its arrival date is midnight in UTC of the day. Its amount is
// negative where Stripe debited the bank account.
func payoutOf(p stripe.Payout) ([]payment.PayoutReport, error) {
	status := payment.PayoutStatus(p.Status)
	if p.ID == "" || !slices.Contains(payment.PayoutStatuses(), status) {
		return nil, errNameless
	}
	sum, err := signed(p.Amount, p.Currency)
	if err != nil {
		return nil, fmt.Errorf("payout %s: %w", p.ID, err)
	}
	r := payment.PayoutReport{ProviderID: p.ID, Money: sum, Status: status}
	if p.ArrivalDate > 0 {
		r.ArrivesOn = time.Unix(p.ArrivalDate, 0).UTC().Truncate(24 * time.Hour)
	}
	return []payment.PayoutReport{r}, nil
}

// automatic returns the payout's id. It returns no id for a manual payout, because Stripe does not list its
// transactions.
func automatic(p stripe.Payout) ([]string, error) {
	switch {
	case p.ID == "":
		return nil, errNameless
	case !p.Automatic:
		return nil, nil
	}
	return []string{p.ID}, nil
}

var errSourceless = errors.New("it has no source of its type")

// entriesOf returns the entry of a balance transaction, according to its type. It returns no entry of a payout, and of an unfamiliar
// type (https://docs.stripe.com/reports/balance-transaction-types). The amount is the source's
// amount, because the transaction's own amount is in the balance's currency.
func entriesOf(b stripe.BalanceTransaction) ([]gateway.Entry, error) {
	if b.ID == "" || b.Created <= 0 {
		return nil, errNameless
	}
	source := b.Source
	if source == nil {
		source = &stripe.BalanceTransactionSource{}
	}
	e := gateway.Entry{ID: b.ID}
	var err error
	switch b.Type { //nolint:exhaustive // the other types move no payment's money
	case stripe.BalanceTransactionTypeCharge, stripe.BalanceTransactionTypePayment:
		err = charged(&e, source.Charge, b)
	case stripe.BalanceTransactionTypeRefund, stripe.BalanceTransactionTypePaymentRefund, stripe.BalanceTransactionTypeRefundFailure:
		err = refunded(&e, source.Refund, b.Amount)
	case stripe.BalanceTransactionTypeAdjustment:
		err = disputed(&e, source.Dispute, b)
		e.Own = ownKind(b)
	default:
		e.Own = ownKind(b)
	}
	if err != nil || e.Movement.Kind == "" && e.Own == "" {
		return nil, err
	}
	e.Movement.At = time.Unix(b.Created, 0).UTC()
	if e.Fee, err = signed(b.Fee, b.Currency); err == nil {
		e.Net, err = signed(b.Net, b.Currency)
	}
	return []gateway.Entry{e}, err
}

// ownKind is the kind of a transaction of the account, which is about no payment; empty for any other, and for payouts, which are listed
// beside the entries.
func ownKind(b stripe.BalanceTransaction) payment.EntryKind {
	switch b.Type { //nolint:exhaustive // the other types are of payments, or unfamiliar
	case stripe.BalanceTransactionTypeStripeFee, stripe.BalanceTransactionTypeStripeFxFee, stripe.BalanceTransactionTypeTaxFee:
		return payment.EntryFee
	case stripe.BalanceTransactionTypeReserveTransaction, stripe.BalanceTransactionTypeReservedFunds, stripe.BalanceTransactionTypeReserveHold,
		stripe.BalanceTransactionTypeReserveRelease, stripe.BalanceTransactionTypePaymentNetworkReserveHold,
		stripe.BalanceTransactionTypePaymentNetworkReserveRelease, stripe.BalanceTransactionTypePayoutMinimumBalanceHold,
		stripe.BalanceTransactionTypePayoutMinimumBalanceRelease:
		return payment.EntryReserve
	case stripe.BalanceTransactionTypeTransfer, stripe.BalanceTransactionTypeTransferCancel, stripe.BalanceTransactionTypeTransferFailure,
		stripe.BalanceTransactionTypeTransferRefund, stripe.BalanceTransactionTypeConnectCollectionTransfer:
		return payment.EntryTransfer
	case stripe.BalanceTransactionTypePayoutFailure, stripe.BalanceTransactionTypePayoutCancel:
		return payment.EntryReturn
	case stripe.BalanceTransactionTypeAdjustment:
		if b.Source == nil || b.Source.Dispute == nil {
			return payment.EntryAdjustment
		}
	case stripe.BalanceTransactionTypeTopup, stripe.BalanceTransactionTypeTopupReversal, stripe.BalanceTransactionTypeApplicationFee,
		stripe.BalanceTransactionTypeApplicationFeeRefund:
		return payment.EntryAdjustment
	}
	return ""
}

// charged fills in the capture of a charge. The amount is the charge's total captured amount, like the payment intent's
// amount_received. The entry has the transaction's own amount, which is less if the charge was captured in parts. A pending or failed charge
// has no capture.
func charged(e *gateway.Entry, of *stripe.Charge, b stripe.BalanceTransaction) error {
	switch {
	case of == nil || of.ID == "":
		return errSourceless
	case of.Status != stripe.ChargeStatusSucceeded || of.AmountCaptured == 0:
		return nil
	}
	named(e, of.PaymentIntent, of, of.Metadata)
	e.Live = &of.Livemode
	err := moved(e, payment.MovementCapture, "", of.AmountCaptured, of.Currency)
	if err == nil && b.Currency == of.Currency && b.Amount < of.AmountCaptured {
		e.Part, err = money(b.Amount, b.Currency)
	}
	return err
}

// refunded fills in a refund. If the balance amount is positive, the refund failed and its money came back: a refund
// reversal.
func refunded(e *gateway.Entry, of *stripe.Refund, balance int64) error {
	if of == nil || of.ID == "" {
		return errSourceless
	}
	named(e, of.PaymentIntent, of.Charge, of.Metadata)
	kind := payment.MovementRefund
	if balance > 0 {
		kind = payment.MovementRefundReversal
	}
	return moved(e, kind, of.ID, of.Amount, of.Currency)
}

// disputed fills in a dispute's withdrawal or reinstatement, under the transaction's id. It does nothing for an
// adjustment without a dispute.
func disputed(e *gateway.Entry, of *stripe.Dispute, b stripe.BalanceTransaction) error {
	if of == nil || b.Amount == 0 {
		return nil
	}
	sum, err := money(of.Amount, of.Currency)
	if err == nil && of.ID == "" {
		err = errSourceless
	}
	if err != nil {
		return err
	}
	e.Live = &of.Livemode
	of.BalanceTransactions = []*stripe.BalanceTransaction{&b}
	for _, told := range payment.EntriesOf(entriesOfDispute(of, *sum)) {
		named(e, of.PaymentIntent, of.Charge, of.Metadata)
		e.Movement = told
	}
	return nil
}

func moved(e *gateway.Entry, kind payment.MovementKind, id string, units int64, currency stripe.Currency) error {
	sum, err := money(units, currency)
	if err == nil {
		e.Movement = payment.MovementReport{Kind: kind, ID: id, Money: *sum}
	}
	return err
}

// named adds the names of the payment as webhooks do: the intent's id, or the charge's id if there is no intent. A
// charge has its intent's metadata (https://docs.stripe.com/api/charges/object#charge_object-metadata).
func named(e *gateway.Entry, intent *stripe.PaymentIntent, of *stripe.Charge, metadata map[string]string) {
	if intent != nil {
		e.Payment = intent.ID
	}
	if id := metadata["payment_attempt_id"]; id != "" {
		e.References = append(e.References, id)
	}
	if of != nil && of.ID != "" {
		e.Payment = cmp.Or(e.Payment, of.ID)
		e.References = append(e.References, of.ID)
	}
	e.Order = payment.OrderID(metadata["order_id"])
}

// signed returns an amount that may be negative. A negative amount is taken from the balance.
func signed(units int64, currency stripe.Currency) (*payment.Money, error) {
	sum, err := money(max(units, -units), currency)
	if err == nil && units < 0 {
		sum.Minor = -sum.Minor
	}
	return sum, err
}
