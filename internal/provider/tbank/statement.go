package tbank

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/table"
)

// The columns of a registry, those of the API's names as the API has them
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

// Statement implements gateway.Statement by a registry of operations. The format of the bank's own,
// which it sends by mail and has in its account, is not documented: what is read is a table with the
// columns PaymentId, Status (that of the payment after the operation) and Amount (of the operation, in
// major units), into which an export is to be brought. It may have OrderId, Currency (else RUB), Date
// (RFC 3339), Commission (in the same currency), Registry (the registry, or the order of payment, by which the
// money is handed over) and, which a refund needs, ExternalRequestId.
//
// Operations of other statuses are left out: nothing was captured or refunded by them.
func Statement(file io.Reader, take func(gateway.Entry) error) error {
	return table.Read(file, []string{columnPayment, columnStatus, columnAmount}, line, take)
}

// line reads an operation; it returns nil for one of which nothing is recorded.
func line(r table.Row) (*gateway.Entry, error) {
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

// movement is what an operation moved, as lookups and webhooks name it: a capture is a total of its
// payment, a refund has the id that was given to it.
func movement(r table.Row) (*payment.Told, error) {
	told := payment.Told{Kind: payment.MovementCapture}
	switch r.Text(columnStatus) {
	case "CONFIRMED":
	case "REFUNDED", "PARTIAL_REFUNDED":
		told.Kind, told.ID = payment.MovementRefund, r.Text(columnRefund)
		if told.ID == "" {
			return nil, errNoRefund
		}
	default:
		return nil, nil //nolint:nilnil // it is left out
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
	return &told, err //nolint:wrapcheck // the text that is no time is in it
}
