package journal

import (
	"strconv"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// Transaction is an event of a day. Its postings sum to zero in each currency.
type Transaction struct {
	Date time.Time
	// ID is the same at each call. Pending is set for a payout that is on its way. A failed payout and its return are over.
	ID      string
	Pending bool
	// Text is the kind of the transaction.
	Text string
	// Account is the configured account. Payment, Entry and Payout are the provider's ids.
	Account                string
	Order                  payment.OrderID
	Attempt                string
	Payment, Entry, Payout string
	Postings               []Posting
}

// Posting is a change of an account of the journal.
type Posting struct {
	Account string
	Money   payment.Money
}

// The accounts that are the same for all providers.
const (
	Bank        = "assets:bank:payouts"
	Sales       = "income:sales"
	Refunds     = "income:refunds"
	Chargebacks = "expenses:chargebacks"
	Unexplained = "equity:unexplained"
	Conversion  = "equity:conversion"
)

// Receivable is what a provider owes by the payments recorded here, less what its books have of them.
func Receivable(account string) string { return provider(account) + ":receivable" }

// Balance is an account's balance at its provider.
func Balance(account string) string { return provider(account) + ":balance" }

// Reserve is the money that a provider holds back.
func Reserve(account string) string { return provider(account) + ":reserve" }

// Fees returns the account of a provider's fees.
func Fees(account string) string { return "expenses:fees:" + name(account) }

// Transfers returns the account of money that was moved to other accounts at the provider, to sellers for instance.
func Transfers(account string) string { return "liabilities:transfers:" + name(account) }

func provider(account string) string { return "assets:provider:" + name(account) }

// post adds a posting; an amount of 0 changes nothing.
func (t *Transaction) post(account string, minor int64, c payment.Currency) {
	if minor != 0 {
		t.Postings = append(t.Postings, Posting{account, payment.Money{Minor: minor, Currency: c}})
	}
}

// move posts an amount to an account, and takes it from another one.
func (t *Transaction) move(to, from string, minor int64, c payment.Currency) {
	t.post(to, minor, c)
	t.post(from, -minor, c)
}

// sign is +1 for a kind that adds to the shop's money, -1 for a kind that takes from it, and 0 for a hold.
func sign(kind payment.MovementKind) int64 {
	switch kind {
	case payment.MovementCapture, payment.MovementRefundReversal, payment.MovementChargebackReversal:
		return 1
	case payment.MovementRefund, payment.MovementChargeback, payment.MovementCaptureReversal:
		return -1
	case payment.MovementAuthorization, payment.MovementRelease:
	}
	return 0
}

// against is the account of a movement's other side.
func against(kind payment.MovementKind) string {
	switch kind {
	case payment.MovementRefund, payment.MovementRefundReversal:
		return Refunds
	case payment.MovementChargeback, payment.MovementChargebackReversal:
		return Chargebacks
	case payment.MovementCapture, payment.MovementCaptureReversal, payment.MovementAuthorization, payment.MovementRelease:
	}
	return Sales
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

func inWords(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

func ofMovement(m Movement) Transaction {
	t := Transaction{
		Date: dayOf(m.Moved), ID: m.AttemptID.String() + "/" + strconv.Itoa(m.Number), Text: inWords(string(m.Kind)),
		Account: m.Account, Order: m.OrderID, Attempt: m.AttemptID.String(), Payment: m.PaymentID,
	}
	if m.Payment != "" {
		t.Payment = m.Payment
	}
	t.move(Receivable(m.Account), against(m.Kind), sign(m.Kind)*m.Money.Minor, m.Money.Currency)
	return t
}

// ofSettlement takes from the receivable what the entry added to the balance, and its fee. Where balance and payment have the same
// currency, that is what the entry states, so that an entry of another amount than the movement's leaves a rest on the receivable.
func ofSettlement(s payment.Settlement) Transaction {
	t := Transaction{
		Date: dayOf(s.BookedAt()), ID: s.ID().String(), Text: "settlement of " + inWords(string(s.Kind)),
		Account: s.Account, Order: s.OrderID, Attempt: s.AttemptID.String(), Payment: s.Payment, Entry: s.EntryID, Payout: s.PayoutID,
	}
	balance, receivable, fees := Balance(s.Account), Receivable(s.Account), Fees(s.Account)
	gross, c, b := sign(s.Kind)*s.Money.Minor, s.Money.Currency, s.BalanceCurrency()
	var fee int64
	if s.Fee != nil {
		fee = s.Fee.Minor
	}
	switch {
	case s.Net == nil:
		t.move(balance, receivable, gross, c)
		t.move(fees, balance, fee, b)
	case b == c:
		t.post(balance, s.Net.Minor, b)
		t.post(fees, fee, b)
		t.post(receivable, -s.Net.Minor-fee, b)
	default:
		t.move(Conversion, receivable, gross, c)
		t.post(balance, s.Net.Minor, b)
		t.post(fees, fee, b)
		t.post(Conversion, -s.Net.Minor-fee, b)
	}
	return t
}

func ofEntry(e payment.AccountEntry) Transaction {
	t := Transaction{
		Date: dayOf(e.BookedAt()), ID: e.ID().String(), Text: inWords(e.Kind), Account: e.Account, Payment: e.Payment, Entry: e.EntryID, Payout: e.PayoutID,
	}
	other := Unexplained
	switch payment.EntryKind(e.Kind) {
	case payment.EntryFee:
		other = Fees(e.Account)
	case payment.EntryReserve:
		other = Reserve(e.Account)
	case payment.EntryTransfer:
		other = Transfers(e.Account)
	case payment.EntryAdjustment, payment.EntryReturn:
	default:
		t.Text += " of an unknown payment"
	}
	if e.Net != nil {
		t.move(Balance(e.Account), other, e.Net.Minor, e.Net.Currency)
		return t
	}
	t.move(Balance(e.Account), other, sign(payment.MovementKind(e.Kind))*e.Money.Minor, e.Money.Currency)
	if e.Fee != nil {
		t.move(Fees(e.Account), Balance(e.Account), e.Fee.Minor, e.Fee.Currency)
	}
	return t
}

// ofPayout is the transfer to the bank. Its rest that no entry has is unexplained. A payout without any entry, such as a
// manual one, is taken from the balance as a whole.
func ofPayout(p Payout) Transaction {
	t := Transaction{
		Date: p.Day, ID: p.ID.String(), Text: "payout", Account: p.Account, Payout: p.ProviderID,
		Pending: p.Status == payment.PayoutPending || p.Status == payment.PayoutInTransit,
	}
	n, _, _ := p.Entries()
	for _, m := range p.Moneys() {
		var rest int64
		if n > 0 {
			rest = p.Rest()
		}
		t.post(Bank, m.Minor, m.Currency)
		t.post(Balance(p.Account), rest-m.Minor, m.Currency)
		t.post(Unexplained, -rest, m.Currency)
	}
	return t
}

// ofReturn is the money of a failed payout that came back.
func ofReturn(p Payout, day time.Time) Transaction {
	t := Transaction{Date: day, ID: p.ID.String() + "/returned", Text: "payout returned", Account: p.Account, Payout: p.ProviderID}
	for _, m := range p.Moneys() {
		t.move(Balance(p.Account), Bank, m.Minor, m.Currency)
	}
	return t
}
