package square

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/square"
)

// payout is a Payout (https://developer.squareup.com/reference/square/objects/Payout). Its amount is negative where Square debited the
// bank account.
type payout struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"created_at"`
	Amount    *balance  `json:"amount_money"`
	Arrival   string    `json:"arrival_date"`
	Location  string    `json:"location_id"`
}

// balance is a Money of the balance, which may be negative. Square's description names its currency "currency", and Square's examples of
// payouts "currency_code".
type balance struct {
	Amount   *int64 `json:"amount"`
	Currency string `json:"currency"`
	Code     string `json:"currency_code"`
}

func (b *balance) read() (*payment.Money, error) {
	if b == nil || b.Amount == nil {
		return nil, errNameless
	}
	sum, err := digits.Money(max(*b.Amount, -*b.Amount), cmp.Or(b.Currency, b.Code))
	if err == nil && *b.Amount < 0 {
		sum.Minor = -sum.Minor
	}
	return sum, err
}

// stands are the statuses of a payout (https://developer.squareup.com/reference/square/enums/PayoutStatus).
var stands = map[string]payment.PayoutStatus{ //nolint:gochecknoglobals // a table
	"SENT": payment.PayoutInTransit, "PAID": payment.PayoutPaid, "FAILED": payment.PayoutFailed,
}

// Payouts implements gateway.Payouts (https://developer.squareup.com/reference/square/payouts-api/list-payouts).
func (c *Client) Payouts(ctx context.Context, in gateway.Span, take func(payment.PayoutReport) error) error {
	unread := &kit.Unread{}
	return unread.After(c.payouts(ctx, in.Seconds(), func(item json.RawMessage) error {
		return kit.Pass(unread, item, payout.report, take)
	}))
}

// payouts passes the payouts that were created in the span. A token without the permission PAYOUTS_READ has none.
func (c *Client) payouts(ctx context.Context, in gateway.Span, one func(json.RawMessage) error) error {
	query := created(in)
	if c.Location != "" {
		query.Set("location_id", c.Location)
	}
	if err := c.list(ctx, "/v2/payouts", query, one); !errors.Is(err, errScope) {
		return err
	}
	return nil
}

func (p payout) report() ([]payment.PayoutReport, error) {
	r := payment.PayoutReport{ProviderID: p.ID, Status: stands[p.Status]}
	var err error
	if r.Money, err = p.Amount.read(); err == nil && (p.ID == "" || r.Status == "") {
		err = errNameless
	}
	if err == nil && p.Arrival != "" {
		r.ArrivesOn, err = time.Parse(time.DateOnly, p.Arrival)
	}
	if err != nil {
		return nil, fmt.Errorf("payout %s: %w", p.ID, err)
	}
	return []payment.PayoutReport{r}, nil
}

// simple is the type of the payout of an instant transfer. It has no entries, and "will show up as one of the payout entries in a future
// BATCH payout" (https://developer.squareup.com/reference/square/enums/PayoutType).
const simple = "SIMPLE"

// batchedLater is our limit for the time between an instant transfer and the payout with its entry. Square documents none.
const batchedLater = 31 * 24 * time.Hour

// paidOut passes the entries of the payouts that were created in the span
// (https://developer.squareup.com/reference/square/payouts-api/list-payout-entries). An entry of an instant transfer is money that has been
// paid out already: it counts in its payout, and the transfer's own payout takes it from the balance.
func (c *Client) paidOut(
	ctx context.Context, in gateway.Span, disputes map[string]dispute, unread *kit.Unread, take func(gateway.Entry) error,
) error {
	var all, instant []payout
	err := c.payouts(ctx, gateway.Span{From: in.From.Add(-batchedLater), To: in.To}, func(item json.RawMessage) error {
		return kit.Pass(unread, item, payout.dated, func(p payout) error {
			all = append(all, p)
			return nil
		})
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b payout) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, p := range all {
		switch {
		case p.Type == simple:
			instant = append(instant, p)
			continue
		case !in.Has(p.CreatedAt):
			continue
		}
		read := func(e payoutEntry) ([]gateway.Entry, error) {
			entries, err := e.entries(p.ID, disputes)
			if err == nil && e.mayBeInstant() {
				instant = p.less(instant, entries)
			}
			return entries, err
		}
		err := c.list(ctx, "/v2/payouts/"+url.PathEscape(p.ID)+"/payout-entries", url.Values{}, func(item json.RawMessage) error {
			return kit.Pass(unread, item, read, take)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p payout) dated() ([]payout, error) {
	if p.ID == "" || p.CreatedAt.IsZero() {
		return nil, errNameless
	}
	return []payout{p}, nil
}

// less marks the entry that repeats an instant transfer of the payout's location, and returns the transfers without that transfer. The entry
// does not name the transfer, and is recognized by its net.
func (p payout) less(instant []payout, entries []gateway.Entry) []payout {
	for i := range entries {
		at := slices.IndexFunc(instant, func(of payout) bool {
			paid, err := of.Amount.read()
			return err == nil && of.Location == p.Location && paid.Currency == entries[i].Net.Currency && paid.Minor == -entries[i].Net.Minor
		})
		if at >= 0 {
			entries[i].Own = payment.EntryReturn
			instant = slices.Delete(instant, at, at+1)
		}
	}
	return instant
}

// payoutEntry is a PayoutEntry (https://developer.squareup.com/reference/square/objects/PayoutEntry).
type payoutEntry struct {
	ID          string    `json:"id"`
	Type        string    `json:"type"`
	EffectiveAt time.Time `json:"effective_at"`
	Gross       *balance  `json:"gross_amount_money"`
	Fee         *balance  `json:"fee_amount_money"`
	Net         *balance  `json:"net_amount_money"`
	Charge      subject   `json:"type_charge_details"`
	Refund      subject   `json:"type_refund_details"`
	Dispute     subject   `json:"type_dispute_details"`
	Opened      subject   `json:"type_open_dispute_details"`
}

// subject names the payment of a payout's entry.
type subject struct {
	PaymentID string `json:"payment_id"`
	RefundID  string `json:"refund_id"`
	DisputeID string `json:"dispute_id"`
}

// own maps the types of a payout's entries about the account (https://developer.squareup.com/reference/square/enums/ActivityType). An
// entry of any other type is an adjustment.
var own = map[string]payment.EntryKind{ //nolint:gochecknoglobals // a table
	"FEE": payment.EntryFee, "TAX_ON_FEE": payment.EntryFee, "FREE_PROCESSING": payment.EntryFee, "DEPOSIT_FEE": payment.EntryFee,
	"DEPOSIT_FEE_REVERSED": payment.EntryFee, "SUBSCRIPTION_FEE": payment.EntryFee, "SUBSCRIPTION_FEE_REFUND": payment.EntryFee,
	"SUBSCRIPTION_FEE_PAID_REFUND": payment.EntryFee, "PAID_SERVICE_FEE": payment.EntryFee, "PAID_SERVICE_FEE_REFUND": payment.EntryFee,
	"LOCAL_OFFERS_FEE": payment.EntryFee, "GIFT_CARD_LOAD_FEE": payment.EntryFee, "GIFT_CARD_LOAD_FEE_REFUND": payment.EntryFee,
	"UNDO_GIFT_CARD_LOAD_FEE_REFUND": payment.EntryFee,
	"RESERVE_HOLD":                   payment.EntryReserve, "RESERVE_RELEASE": payment.EntryReserve,
	"HOLD_ADJUSTMENT": payment.EntryReserve, "RELEASE_ADJUSTMENT": payment.EntryReserve,
	"MONEY_TRANSFER": payment.EntryTransfer, "MONEY_TRANSFER_REVERSAL": payment.EntryTransfer, "AUTOMATIC_SAVINGS": payment.EntryTransfer,
	"AUTOMATIC_SAVINGS_REVERSED": payment.EntryTransfer, "BALANCE_FOLDERS_TRANSFER": payment.EntryTransfer,
	"BALANCE_FOLDERS_TRANSFER_REVERSED": payment.EntryTransfer, "GIFT_CARD_POOL_TRANSFER": payment.EntryTransfer,
	"GIFT_CARD_POOL_TRANSFER_REVERSED": payment.EntryTransfer, "SQUARE_PAYROLL_TRANSFER": payment.EntryTransfer,
	"SQUARE_PAYROLL_TRANSFER_REVERSED": payment.EntryTransfer,
	"RETURNED_PAYOUT":                  payment.EntryReturn,
}

// counted are the types of entries whose money is counted elsewhere: fees in the entry of their payment.
var counted = map[string]bool{ //nolint:gochecknoglobals // a table
	"PROCESSING_FEE": true, "PROCESSING_FEE_REFUND": true, "UNDO_PROCESSING_FEE_REFUND": true,
	"THIRD_PARTY_FEE": true, "THIRD_PARTY_FEE_REFUND": true,
}

// entries returns the entry with its payout.
func (p payoutEntry) entries(paid string, disputes map[string]dispute) ([]gateway.Entry, error) {
	if counted[p.Type] {
		return nil, nil
	}
	gross, err := p.Gross.read()
	net, failed := p.Net.read()
	if err = errors.Join(err, failed); err == nil && (p.ID == "" || p.Type == "" || p.EffectiveAt.IsZero()) {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("entry %s of payout %s: %w", p.ID, paid, err)
	}
	e := gateway.Entry{ID: p.ID, Own: cmp.Or(own[p.Type], payment.EntryAdjustment), Net: net, Payout: paid}
	if id, of, moved := p.movement(gross.Minor > 0, disputes); id != "" && of != "" && gross.Minor != 0 {
		moved.Money = payment.Money{Minor: max(gross.Minor, -gross.Minor), Currency: gross.Currency}
		e.ID, e.Own, e.Payment, e.Movement = id, "", of, moved
		if e.Fee, err = p.Fee.read(); err != nil {
			e.Fee = nil
		}
	}
	e.Movement.At = p.EffectiveAt.UTC()
	return []gateway.Entry{e}, nil
}

// mayBeInstant reports whether the entry may be that of an instant transfer, whose type Square does not document: a transfer of money, or an
// adjustment about no payment.
func (p payoutEntry) mayBeInstant() bool {
	return p.Type == "MONEY_TRANSFER" || own[p.Type] == "" && cmp.Or(p.Charge, p.Refund, p.Dispute, p.Opened) == subject{}
}

// movement returns the movement of a payment, with the ids of its entry and of its payment. They are those of the lists of payments,
// refunds and disputes. It returns no ids for an entry of another type, or with the opposite sign, and for money of a dispute that does not
// agree with the dispute's state. Square documents no course of these entries: a credit may also end the hold of a dispute that was lost.
func (p payoutEntry) movement(credit bool, disputes map[string]dispute) (id, of string, m payment.MovementReport) {
	switch {
	case p.Type == "CHARGE" && credit:
		return p.Charge.PaymentID, p.Charge.PaymentID, payment.MovementReport{Kind: payment.MovementCapture}
	case p.Type == "REFUND" && !credit:
		return p.Refund.RefundID, p.Refund.PaymentID, payment.MovementReport{Kind: payment.MovementRefund, ID: p.Refund.RefundID}
	case p.Type != "DISPUTE" && p.Type != "OPEN_DISPUTE":
		return "", "", m
	}
	disputed := cmp.Or(p.Dispute, p.Opened)
	d := disputes[disputed.DisputeID]
	kind, named := hooks.DisputeKind(d.State), cmp.Or(d.ID, d.OldID)
	switch {
	case disputed.DisputeID == "" || named == "" || !kind.IsMovement():
		return "", "", m
	case !credit:
		return named, disputed.PaymentID, payment.MovementReport{Kind: payment.MovementChargeback, Dispute: named}
	case kind == webhooks.KindChargebackReversed:
		return named + "/won", disputed.PaymentID, payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: named, Whole: true}
	}
	return "", "", m
}
