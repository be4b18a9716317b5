package outbox

import (
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// settlement is an entry of a provider's books. Its members are named as in the API.
type settlement struct {
	SettlementID      string  `json:"settlement_id"`
	Account           string  `json:"account"`
	PaymentAttemptID  string  `json:"payment_attempt_id"`
	OrderID           string  `json:"order_id"`
	ProviderPaymentID *string `json:"provider_payment_id"`
	Kind              string  `json:"kind"`
	Amount            int64   `json:"amount"`
	Fee               *int64  `json:"fee"`
	Net               *int64  `json:"net"`
	Currency          string  `json:"currency"`
	BalanceCurrency   *string `json:"balance_currency"`
	PayoutID          *string `json:"payout_id"`
	BookedAt          stamp   `json:"booked_at"`
}

// Settlement publishes that an entry of a provider's books was recorded, which happens once.
func Settlement(s payment.Settlement) Message {
	out := settlement{
		SettlementID: s.ID().String(), Account: s.Account, PaymentAttemptID: s.AttemptID.String(), OrderID: string(s.OrderID),
		ProviderPaymentID: orNull(s.Payment), Kind: string(s.Kind), Amount: s.Money.Minor, Currency: string(s.Money.Currency),
		BalanceCurrency: orNull(string(s.BalanceCurrency())), BookedAt: stamp(s.BookedAt()),
	}
	if s.Fee != nil {
		out.Fee = &s.Fee.Minor
	}
	if s.Net != nil {
		out.Net = &s.Net.Minor
	}
	if s.Payout != (payment.PayoutID{}) {
		out.PayoutID = new(s.Payout.String())
	}
	m := newMessage(SettlementRecorded, s.ID().String(), 1, s.RecordedAt, out)
	m.OrderID = s.OrderID
	return m
}

// payout is a payout that was paid or has failed.
type payout struct {
	PayoutID         string  `json:"payout_id"`
	Account          string  `json:"account"`
	ProviderPayoutID string  `json:"provider_payout_id"`
	Amount           *int64  `json:"amount"`
	Currency         *string `json:"currency"`
	Status           string  `json:"status"`
	ArrivesOn        *string `json:"arrives_on"`
	Entries          int64   `json:"entries"`
	Unexplained      *int64  `json:"unexplained"`
	Version          int     `json:"version"`
	UpdatedAt        stamp   `json:"updated_at"`
}

// Payout publishes that a payout is paid, or that it has failed, which happens once each. It returns false for any other status.
func Payout(p payment.Payout) (m Message, published bool) {
	kind := map[payment.PayoutStatus]string{payment.PayoutPaid: PayoutPaid, payment.PayoutFailed: PayoutFailed}[p.Status]
	if kind == "" {
		return Message{}, false
	}
	out := payout{
		PayoutID: p.ID.String(), Account: p.Account, ProviderPayoutID: p.ProviderID, Status: string(p.Status), Entries: p.Entries,
		Unexplained: p.Unexplained(), Version: p.Version, UpdatedAt: stamp(p.UpdatedAt),
	}
	if p.Money != nil {
		out.Amount, out.Currency = &p.Money.Minor, orNull(string(p.Money.Currency))
	}
	if !p.ArrivesOn.IsZero() {
		out.ArrivesOn = new(p.ArrivesOn.Format(time.DateOnly))
	}
	return newMessage(kind, p.ID.String(), p.Version, p.UpdatedAt, out), true
}
