package journal_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/internal/payment"
)

// settlementDetails are the till's entries as Adyen's settlement details report, with the payout of each batch.
func (p *till) settlementDetails() string {
	types := map[payment.MovementKind]string{
		payment.MovementCapture: "Settled", payment.MovementRefund: "Refunded", payment.MovementRefundReversal: "RefundedReversed",
		payment.MovementChargeback: "Chargeback", payment.MovementChargebackReversal: "ChargebackReversed",
	}
	own := map[payment.EntryKind]string{payment.EntryFee: "Fee", payment.EntryReserve: "DepositCorrection", payment.EntryTransfer: "Balancetransfer"}
	var b strings.Builder
	b.WriteString("Merchant Account,Psp Reference,Creation Date,TimeZone,Type,Modification Reference,Gross Currency,Gross Debit (GC),Gross Credit (GC)," +
		"Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Batch Number\n")
	line := func(psp, kind, modification string, at time.Time, gross, net, fee int64, batch string) {
		fmt.Fprintf(&b, "Shop,%s,%s,UTC,%s,%s,EUR,%s,EUR,%s,%s,%s\n",
			psp, at.Format(time.DateTime), kind, modification, debitOrCredit(gross), debitOrCredit(net), euros(fee), batch)
	}
	sums := map[string]int64{}
	for _, e := range p.entries {
		sums[e.Payout] += e.Net.Minor
		m, modification := e.Movement, e.Movement.ID
		if e.Own != "" {
			line("", own[e.Own], e.ID, m.At, 0, e.Net.Minor, 0, e.Payout)
			continue
		}
		if m.Kind == payment.MovementCapture {
			modification = e.ID
		}
		gross := m.Money.Minor
		if m.Kind == payment.MovementRefund || m.Kind == payment.MovementChargeback {
			gross = -gross
		}
		line(e.Payment, types[m.Kind], modification, m.At, gross, e.Net.Minor, e.Fee.Minor, e.Payout)
	}
	delete(sums, "")
	for _, batch := range slices.Sorted(maps.Keys(sums)) {
		line("", "MerchantPayout", "TX "+batch, p.entries[0].Movement.At, 0, -sums[batch], 0, batch)
	}
	return b.String()
}

// debitOrCredit are the fields of an amount that is taken or added.
func debitOrCredit(minor int64) string {
	if minor < 0 {
		return euros(-minor) + ","
	}
	return "," + euros(minor)
}

// euros is empty for 0.
func euros(minor int64) string {
	if minor == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%02d", minor/100, minor%100)
}
