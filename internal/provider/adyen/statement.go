package adyen

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
	hooks "github.com/paylatch/paylatch/webhooks/adyen"
)

// These are the columns of the report that Statement reads.
const (
	columnPSP          = "Psp Reference"
	columnMerchant     = "Merchant Account"
	columnReference    = "Merchant Reference"
	columnDate         = "Creation Date"
	columnZone         = "TimeZone"
	columnType         = "Type"
	columnModification = "Modification Reference"
	columnGross        = "Gross Currency"
	columnGrossDebit   = "Gross Debit (GC)"
	columnGrossCredit  = "Gross Credit (GC)" //nolint:gosec // no credential
	columnNet          = "Net Currency"
	columnNetDebit     = "Net Debit (NC)"
	columnNetCredit    = "Net Credit (NC)" //nolint:gosec // no credential
	columnBatch        = "Batch Number"
)

// columnsNeeded returns the columns that identify the report. A file without them is another report.
func columnsNeeded() []string {
	return []string{
		columnPSP, columnType, columnModification, columnGross, columnGrossDebit, columnGrossCredit, columnNet, columnNetDebit, columnNetCredit,
	}
}

// fees returns the columns of Adyen's fees: a commission, or its parts if Adyen passes interchange on.
func fees() []string {
	return []string{"Commission (NC)", "Markup (NC)", "Scheme Fees (NC)", "Interchange (NC)"}
}

// booked describes the lines of one type: the kind of the movement, the event code that webhooks use for it, and whether
// it adds to the balance.
type booked struct {
	kind   payment.MovementKind
	code   string
	credit bool
}

// types maps the types of lines about a payment
// (https://docs.adyen.com/developers/reporting/settlement-detail-report/settlement-detail-report-structure).
// SettledReversed, a failed capture, is quoted from memory.
var types = map[string]booked{ //nolint:gochecknoglobals // a table
	"Settled":            {payment.MovementCapture, "CAPTURE", true},
	"SettledReversed":    {payment.MovementCaptureReversal, "CAPTURE_FAILED", false},
	"Refunded":           {payment.MovementRefund, "REFUND", false},
	"RefundedReversed":   {payment.MovementRefundReversal, "REFUNDED_REVERSED", true},
	"Chargeback":         {payment.MovementChargeback, "CHARGEBACK", false},
	"SecondChargeback":   {payment.MovementChargeback, "SECOND_CHARGEBACK", false},
	"ChargebackReversed": {payment.MovementChargebackReversal, "CHARGEBACK_REVERSED", true},
}

// payout is the type of the line of a batch's transfer to the bank.
const payout = "MerchantPayout"

// own maps the types of lines about the account (from memory). A line of any other type is an adjustment.
var own = map[string]payment.EntryKind{ //nolint:gochecknoglobals // a table
	"Fee": payment.EntryFee, "InvoiceDeduction": payment.EntryFee, "MiscCosts": payment.EntryFee, "PaymentCost": payment.EntryFee,
	"DepositCorrection": payment.EntryReserve, "ReserveAdjustment": payment.EntryReserve,
	"Balancetransfer": payment.EntryTransfer, "BalanceTransfer": payment.EntryTransfer,
}

var (
	errNoAmount = errors.New("neither a debit nor a credit, or both")
	errNoName   = errors.New("no Psp Reference, or no Modification Reference")
	errOpposite = errors.New("a debit in the place of a credit, or a credit in that of a debit")
)

// Statement implements gateway.Statement. It reads the settlement details report
// (https://docs.adyen.com/reporting/settlement-reconciliation/transaction-level/settlement-details-report), which lists
// the payments in a payout batch with their fees. As in webhooks, a movement is named by its Modification Reference. A
// capture is the total of its payment, or one of several. Lines of other types are entries of the account. A payout has the batch's
// number and its amount; the report states neither its status nor its arrival. A batch with payouts in several currencies, or of several
// merchant accounts, passes none of them, because its number does not name one payout.
//
// If all lines can be read, the net amounts of a batch and its payout (MerchantPayout) must add up to 0.
func Statement(file io.Reader, take func(gateway.Entry) error) error {
	sums, seen, paid := batches{}, map[string]int{}, map[batch]int64{}
	err := kit.ReadTable(file, columnsNeeded(), func(r kit.TableRow) (*gateway.Entry, error) {
		if err := sums.add(r); err != nil {
			return nil, err
		}
		if _, known := types[r.Text(columnType)]; !known {
			return ofAccount(r, seen, paid)
		}
		return line(r)
	}, take)
	if err == nil || errors.Is(err, gateway.ErrUnreadable) {
		if failed := payouts(paid, take); failed != nil {
			return failed
		}
	}
	if err != nil {
		return err
	}
	return sums.check()
}

// payouts passes the payouts whose batch number names no other payout.
func payouts(paid map[batch]int64, take func(gateway.Entry) error) error {
	of := map[string]int{}
	for b := range paid {
		of[b.number]++
	}
	for _, b := range slices.SortedFunc(maps.Keys(paid), func(a, b batch) int { return cmp.Compare(a.number, b.number) }) {
		if of[b.number] > 1 {
			continue
		}
		money := &payment.Money{Minor: paid[b], Currency: payment.Currency(b.currency)}
		if err := take(gateway.Entry{Paid: &payment.PayoutReport{ProviderID: b.number, Money: money}}); err != nil {
			return err
		}
	}
	return nil
}

// ofAccount reads a line of the report about the account. It returns nil for a line that does not change the balance. Lines of the same
// type and reference are numbered in seen, because Adyen gives them no ids. A payout is added to paid. A line without its batch is named by
// its time; no entry names a payout without its batch, which is omitted.
func ofAccount(r kit.TableRow, seen map[string]int, paid map[batch]int64) (*gateway.Entry, error) {
	kind, number := r.Text(columnType), r.Text(columnBatch)
	net, err := balance(r, columnNetCredit, columnNetDebit, r.Text(columnNet))
	switch {
	case errors.Is(err, errNoAmount):
		return nil, nil //nolint:nilnil // an omitted line
	case err != nil:
		return nil, err
	case kind == payout && number == "":
		return nil, nil //nolint:nilnil // no entry names the payout
	case kind == payout:
		paid[batch{r.Text(columnMerchant), number, string(net.Currency)}] -= net.Minor
		return nil, nil //nolint:nilnil // it comes after all lines
	}
	id := cmp.Or(number, r.Text(columnDate)) + "/" + kind + "/" + r.Text(columnModification)
	seen[id]++
	if n := seen[id]; n > 1 {
		id += "/" + strconv.Itoa(n)
	}
	return &gateway.Entry{
		ID: id, Own: cmp.Or(own[kind], payment.EntryAdjustment), Payout: number, Net: net, Movement: payment.MovementReport{At: created(r)},
	}, nil
}

// line reads a line of the report about a payment.
func line(r kit.TableRow) (*gateway.Entry, error) {
	of := types[r.Text(columnType)]
	psp, modification := r.Text(columnPSP), r.Text(columnModification)
	if psp == "" || modification == "" {
		return nil, errNoName
	}
	gross, err := balance(r, columnGrossCredit, columnGrossDebit, r.Text(columnGross))
	if err != nil {
		return nil, err
	}
	net, err := balance(r, columnNetCredit, columnNetDebit, r.Text(columnNet))
	switch {
	case err != nil && !errors.Is(err, errNoAmount):
		return nil, err
	case err != nil:
		net = &payment.Money{Currency: payment.Currency(r.Text(columnNet))} // the fee equals the whole amount
	}
	if of.credit != (gross.Minor > 0) {
		return nil, errOpposite
	}
	e := gateway.Entry{
		ID: modification + "/" + r.Text(columnType), Payment: psp, Payee: r.Text(columnMerchant), Payout: r.Text(columnBatch), Net: net, Fee: fee(r),
		Movement: payment.MovementReport{Kind: of.kind, Money: payment.Money{Minor: max(gross.Minor, -gross.Minor), Currency: gross.Currency}, At: created(r)},
	}
	e.Movement.ID, e.Movement.Part = hooks.MovementID(modification, of.code), of.kind == payment.MovementCapture
	if of.kind == payment.MovementChargeback || of.kind == payment.MovementChargebackReversal {
		e.Movement.Dispute = modification
	}
	if ours := r.Text(columnReference); ours != "" {
		e.References = []string{ours}
	}
	return &e, nil
}

// balance returns a credit as a positive amount, or a debit as a negative amount. A field with 0 counts as empty.
func balance(r kit.TableRow, credit, debit, currency string) (*payment.Money, error) {
	added, err := r.Amount(credit, currency)
	if err != nil {
		return nil, err
	}
	taken, err := r.Amount(debit, currency)
	if err != nil {
		return nil, err
	}
	switch {
	case zero(added) == zero(taken):
		return nil, errNoAmount
	case zero(taken):
		return added, nil
	}
	return &payment.Money{Minor: -taken.Minor, Currency: taken.Currency}, nil
}

func zero(m *payment.Money) bool { return m == nil || m.Minor == 0 }

// fee adds up Adyen's fees. It returns nil if they are missing or are not whole minor units.
func fee(r kit.TableRow) *payment.Money {
	var sum *payment.Money
	for _, column := range fees() {
		part, err := r.Amount(column, r.Text(columnNet))
		switch {
		case err != nil:
			return nil
		case part == nil:
		case sum == nil:
			sum = part
		default:
			sum.Minor += part.Minor
		}
	}
	return sum
}

// created returns the date of a line. It returns the zero time for a missing date or for a time zone without a fixed
// offset.
func created(r kit.TableRow) time.Time {
	zone := r.Text(columnZone)
	offset, known := offsets[zone]
	at, err := time.ParseInLocation(time.DateTime, r.Text(columnDate), time.FixedZone(zone, offset*60*60))
	if err != nil || !known {
		return time.Time{}
	}
	return at.UTC()
}

// offsets maps the unambiguous short names of time zones to their offsets in hours.
var offsets = map[string]int{ //nolint:gochecknoglobals // a table
	"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "SGT": 8, "HKT": 8, "JST": 9,
	"AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "BRT": -3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}

// batch is a payout batch of a merchant account, in the currency of the payout.
type batch struct{ merchant, number, currency string }

// sum is the sum of a batch's lines.
type sum struct {
	net  int64
	paid bool
}

// maxBatches limits the number of a file's batches that are added up.
const maxBatches = 1000

// batches maps the batches of a file to their sums.
type batches map[batch]*sum

func (b batches) add(r kit.TableRow) error {
	of := batch{r.Text(columnMerchant), r.Text(columnBatch), r.Text(columnNet)}
	s := b[of]
	if s == nil {
		if len(b) == maxBatches {
			return nil
		}
		s = &sum{}
		b[of] = s
	}
	s.paid = s.paid || r.Text(columnType) == payout
	net, err := balance(r, columnNetCredit, columnNetDebit, of.currency)
	switch {
	case errors.Is(err, errNoAmount):
		return nil
	case err != nil:
		return err
	}
	s.net += net.Minor
	return nil
}

// check returns gateway.ErrTotals for each batch that was paid out and does not add up to 0.
func (b batches) check() (err error) {
	for of, s := range b {
		if s.paid && s.net != 0 {
			err = errors.Join(err, fmt.Errorf("%w: batch %s of %s differs by %d %s", gateway.ErrTotals, of.number, of.merchant, s.net, of.currency))
		}
	}
	return err
}
