package checkout

import (
	"cmp"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// These are the columns of the report that Statement reads.
const (
	columnAction    = "Action ID"
	columnPayment   = "Payment ID"
	columnBreakdown = "Breakdown Type"
	columnCurrency  = "Processing Currency"
	columnAmount    = "Processing Currency Amount"
	columnProcessed = "Processed On"
	columnPayout    = "Payout ID"
	columnOurs      = "Reference"
)

// breakdowns are the lines that contain an action's own amount. The other lines contain fees or concern no payment, and
// are omitted (https://www.checkout.com/docs/funds-management/reconcile-with-checkout-com/breakdown-types). Checkout.com
// does not document the id of a chargeback in the report. A chargeback is read only if the id is that of a dispute.
var breakdowns = map[string]payment.MovementKind{ //nolint:gochecknoglobals // a table
	"capture": payment.MovementCapture, "refund": payment.MovementRefund, "partial refund": payment.MovementRefund, "chargeback": payment.MovementChargeback,
}

var errNoAction = errors.New("no Action ID, or no Payment ID")

// Statement implements gateway.Statement. It reads the report of financial actions, by payout or by dates
// (https://www.checkout.com/docs/funds-management/retrieve-financial-reports/settlement-reports/financial-actions-by-payout-id-report).
// As in webhooks, a capture is a total of its payment, and a refund has the id of its action. The fees of an action are
// separate lines, in fractions of a minor unit, and are omitted. The amounts of payouts are in another report, of expected payouts, which
// does not state whether they were paid
// (https://www.checkout.com/docs/funds-management/retrieve-financial-reports/settlement-reports/payouts-report). It is not read.
func Statement(file io.Reader, take func(gateway.Entry) error) error {
	need := []string{columnAction, columnPayment, columnBreakdown, columnCurrency, columnAmount}
	return kit.ReadTable(file, need, line, take)
}

// line reads a line of the report. It returns nil for a line that moved no payment's money.
func line(r kit.TableRow) (*gateway.Entry, error) {
	kind, id := breakdowns[strings.ToLower(r.Text(columnBreakdown))], r.Text(columnAction)
	switch {
	case kind == "", kind == payment.MovementChargeback && !strings.HasPrefix(id, "dsp_"):
		return nil, nil //nolint:nilnil // an omitted line
	case id == "" || r.Text(columnPayment) == "":
		return nil, errNoAction
	}
	// An amount that is taken from the balance is negative.
	money, err := kit.ReadDecimal(strings.TrimPrefix(r.Text(columnAmount), "-"), r.Text(columnCurrency))
	if err != nil {
		return nil, err
	}
	e := gateway.Entry{
		ID: entryID(id, kind), Payment: r.Text(columnPayment), Payout: r.Text(columnPayout),
		Movement: payment.MovementReport{Kind: kind, ID: id, Money: *money, At: processed(r.Text(columnProcessed))},
	}
	if kind != payment.MovementRefund {
		e.Movement.ID = ""
	}
	if kind == payment.MovementChargeback {
		e.Movement.Dispute = id
	}
	if ours := r.Text(columnOurs); ours != "" {
		e.References = []string{long(ours)}
	}
	return &e, nil
}

// processed returns a time in UTC, or the zero time if the text has another form.
func processed(text string) time.Time {
	with, err := time.Parse(time.RFC3339, text)
	without, err2 := time.Parse("2006-01-02T15:04:05", text)
	if err != nil && err2 != nil {
		return time.Time{}
	}
	return cmp.Or(with, without).UTC()
}
