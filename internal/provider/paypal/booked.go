package paypal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// detail is a transaction of the account's balance
// (https://developer.paypal.com/docs/api/transaction-search/v1/#definition-transaction_info).
type detail struct {
	Info struct {
		ID          string  `json:"transaction_id"`
		Reference   string  `json:"paypal_reference_id"`
		Type        string  `json:"paypal_reference_id_type"`
		Code        string  `json:"transaction_event_code"`
		Status      string  `json:"transaction_status"`
		InitiatedAt string  `json:"transaction_initiation_date"`
		UpdatedAt   string  `json:"transaction_updated_date"`
		Amount      *amount `json:"transaction_amount"`
		Fee         *amount `json:"fee_amount"`
		InvoiceID   string  `json:"invoice_id"`
		Custom      string  `json:"custom_field"`
	} `json:"transaction_info"`
}

// entries returns the entry of a completed transaction, even if it was reversed later. The event code decides the kind
// (https://developer.paypal.com/docs/transaction-search/transaction-event-codes/). A capture has the same name as in the
// lookup of its order.
func (d detail) entries() ([]gateway.Entry, error) {
	t := d.Info
	if t.Status != "S" && t.Status != "V" {
		return nil, nil
	}
	gross, err := signed(t.Amount)
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", t.ID, err)
	}
	told := movementBy(t.Code, gross.Minor)
	if told.Kind == "" {
		return nil, nil
	}
	if told.Kind == payment.MovementCapture || told.Kind == payment.MovementRefund {
		told.ID = t.ID
	}
	told.Money = payment.Money{Minor: max(gross.Minor, -gross.Minor), Currency: gross.Currency}
	if told.At, err = date(t.InitiatedAt); err == nil && t.ID == "" {
		err = errNameless
	}
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", t.ID, err)
	}
	e := gateway.Entry{ID: t.ID, Payment: d.payment(told.Kind), Movement: told, Net: gross}
	for _, name := range []string{t.Custom, t.InvoiceID, t.Reference} {
		if name != "" && name != e.Payment && !slices.Contains(e.References, name) {
			e.References = append(e.References, name)
		}
	}
	if err := d.addFee(&e); err != nil {
		return nil, err
	}
	return []gateway.Entry{e}, nil
}

// payment returns the capture's id, which webhooks use as the payment's id. A refund or a reversal refers to it.
func (d detail) payment(kind payment.MovementKind) string {
	switch {
	case kind == payment.MovementCapture:
		return d.Info.ID
	case d.Info.Type == "TXN":
		return d.Info.Reference
	}
	return ""
}

// movementBy maps an event code and the sign of the balance change. T00.. is a received payment. T1107 is a "payment
// refund, initiated by merchant". T1106 is a "payment reversal, initiated by PayPal", T1201 a "chargeback", T1202 its
// reversal, T1205 its reimbursement, T1207 the rejection of its re-presentment and T1208 its cancellation. Neither a transaction nor the webhook of a reversal names a dispute's case, so
// the movement has no id. A hold (T1110, T1111) takes no money yet.
func movementBy(code string, gain int64) payment.MovementReport {
	var kind payment.MovementKind
	switch {
	case strings.HasPrefix(code, "T00") && gain > 0:
		kind = payment.MovementCapture
	case code == "T1107" && gain < 0:
		kind = payment.MovementRefund
	case !slices.Contains([]string{"T1106", "T1201", "T1202", "T1205", "T1207", "T1208"}, code):
	case gain < 0:
		kind = payment.MovementChargeback
	case gain > 0:
		kind = payment.MovementChargebackReversal
	}
	return payment.MovementReport{Kind: kind}
}

// addFee adds the fee, which PayPal reports as a negative amount. Without a fee, the net amount is the gross amount.
func (d detail) addFee(e *gateway.Entry) error {
	if d.Info.Fee == nil {
		return nil
	}
	fee, err := signed(d.Info.Fee)
	switch {
	case err != nil:
		return fmt.Errorf("fee of transaction %s: %w", e.ID, err)
	case fee.Currency != e.Net.Currency:
		e.Net = nil
	default:
		e.Net = &payment.Money{Minor: e.Net.Minor + fee.Minor, Currency: fee.Currency}
	}
	e.Fee = &payment.Money{Minor: -fee.Minor, Currency: fee.Currency}
	return nil
}

// signed parses an amount of a report. The amount may be negative and may begin with its decimal point.
func signed(a *amount) (*payment.Money, error) {
	if a == nil {
		return nil, errNameless
	}
	value, negative := strings.CutPrefix(a.Value, "-")
	if strings.HasPrefix(value, ".") {
		value = "0" + value
	}
	sum, err := kit.ReadDecimal(value, a.CurrencyCode)
	if err == nil && negative {
		sum.Minor = -sum.Minor
	}
	return sum, err
}
