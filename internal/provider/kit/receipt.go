package kit

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/paylatch/paylatch/internal/gateway"
)

// Receipt adds the reasons why the lines of a charge can't be on a fiscal receipt (54-FZ): no address for the receipt, a
// line without the members of a receipt, or a negative line. It does nothing if no receipt is wanted.
func (n *Needs) Receipt(d gateway.Details) {
	if !gateway.HasReceipt(d.Lines) {
		return
	}
	n.If(d.Customer.Email == "" && d.Customer.Phone == "", "customer.email", "is required for a fiscal receipt without customer.phone")
	for i := range d.Lines {
		l := &d.Lines[i]
		n.If(l.Receipt == nil, fmt.Sprintf("lines[%d].receipt", i), "is required: a fiscal receipt shows all lines or no lines")
		n.If(l.Amount < 0, fmt.Sprintf("lines[%d].amount", i), "must not be below 0 on a fiscal receipt: subtract a discount from the amounts of its lines")
	}
}

// Priced returns the quantity and the unit price of a line in minor units, as a fiscal receipt requires: their product
// is exactly the line's amount. If the product differs, because of a discount or of rounding, the line becomes one piece
// with the whole amount.
func Priced(l gateway.Line) (quantity json.Number, unit int64) {
	q, ok := new(big.Rat).SetString(l.Quantity)
	if !ok || q.Sign() <= 0 || new(big.Rat).Mul(q, new(big.Rat).SetInt64(l.UnitAmount)).Cmp(new(big.Rat).SetInt64(l.Amount)) != 0 {
		return "1", l.Amount
	}
	text := q.FloatString(quantityDigits)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), l.UnitAmount
}

// quantityDigits are the decimals of a quantity.
const quantityDigits = 3

// Short returns the beginning of a text, up to this number of characters.
func Short(text string, characters int) string {
	all := []rune(text)
	return string(all[:min(len(all), characters)])
}
