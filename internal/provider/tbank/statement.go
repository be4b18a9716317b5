package tbank

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// These are the columns of a registry. Columns with the names of API members have the API's values
// (https://www.tbank.ru/kassa/dev/payments/).
const (
	columnPayment    = "PaymentId"
	columnOrder      = "OrderId"
	columnStatus     = "Status"
	columnAmount     = "Amount"
	columnRefund     = "ExternalRequestId"
	columnCurrency   = "Currency"
	columnDate       = "Date"
	columnCommission = "Commission"
	columnRegistry   = "Registry"
)

var (
	errNoPayment = errors.New("no PaymentId")
	errNoAmount  = errors.New("no Amount")
	errNoRefund  = errors.New("a refund without ExternalRequestId: the bank names it by that alone")
)

// Statement implements gateway.Statement. It reads a registry of operations. The bank sends its own registry by mail and
// offers it in its account, but does not document the format. So Statement reads a table, and an export must be
// converted to it. The required columns are PaymentId, Status (the payment's status after the operation) and Amount (of
// the operation, in major units). The optional columns are OrderId, Currency (default: RUB), Date (RFC 3339), Commission
// (in the same currency) and Registry (the registry, or the payment order, that pays the money out). A refund also needs
// ExternalRequestId.
//
// Operations with other statuses are omitted, because they captured and refunded no money.
func Statement(file io.Reader, take func(gateway.Entry) error) error {
	return kit.ReadTable(file, []string{columnPayment, columnStatus, columnAmount}, line, take)
}

// line reads an operation. It returns nil for an operation without an entry.
func line(r kit.TableRow) (*gateway.Entry, error) {
	told, err := movement(r)
	if told == nil || err != nil {
		return nil, err
	}
	e := gateway.Entry{ID: cmp.Or(told.ID, r.Text(columnPayment)), Payment: r.Text(columnPayment), Payout: r.Text(columnRegistry), Movement: *told}
	if e.Payment == "" {
		return nil, errNoPayment
	}
	if ours := r.Text(columnOrder); ours != "" {
		e.References = []string{ours}
	}
	if e.Fee, err = r.Amount(columnCommission, string(told.Money.Currency)); err != nil || e.Fee == nil {
		return &e, err
	}
	net := payment.Money{Minor: told.Money.Minor - e.Fee.Minor, Currency: told.Money.Currency}
	if told.Kind == payment.MovementRefund {
		net.Minor = -told.Money.Minor - e.Fee.Minor
	}
	e.Net = &net
	return &e, nil
}

// movement returns the money movement of an operation, named as in lookups and webhooks. A capture is a total of its
// payment. A refund has the id that we assigned.
func movement(r kit.TableRow) (*payment.MovementReport, error) {
	told := payment.MovementReport{Kind: payment.MovementCapture}
	switch r.Text(columnStatus) {
	case "CONFIRMED":
	case "REFUNDED", "PARTIAL_REFUNDED":
		told.Kind, told.ID = payment.MovementRefund, r.Text(columnRefund)
		if told.ID == "" {
			return nil, errNoRefund
		}
	default:
		return nil, nil //nolint:nilnil // an omitted operation
	}
	money, err := r.Amount(columnAmount, cmp.Or(r.Text(columnCurrency), "RUB"))
	switch {
	case err != nil:
		return nil, err
	case money == nil || money.Minor == 0:
		return nil, errNoAmount
	}
	told.Money = *money
	if date := r.Text(columnDate); date != "" {
		told.At, err = time.Parse(time.RFC3339, date)
	}
	told.At = told.At.UTC()
	return &told, err //nolint:wrapcheck // the error quotes the invalid time
}
