package gateway

import (
	"math/big"
	"slices"
)

// Receipt is the content of a fiscal receipt (54-FZ): the lines, and the customer with the e-mail address or telephone
// that receives it.
type Receipt struct {
	Customer Customer `json:"customer"`
	Lines    []Line   `json:"lines"`
}

// ReceiptOf is the receipt of a pay, nil if its lines need no receipt.
func ReceiptOf(d Details) *Receipt {
	if !HasReceipt(d.Lines) {
		return nil
	}
	return &Receipt{Customer: Customer{Reference: d.Customer.Reference, Email: d.Customer.Email, Phone: d.Customer.Phone, Name: d.Customer.Name}, Lines: d.Lines}
}

// Part is the receipt of a part of the money, in minor units. Each line has its share, with a quantity of one. The last
// lines take the remainder of rounding. If the part is the whole amount, Part returns the receipt itself.
func (r *Receipt) Part(minor int64) *Receipt {
	if r == nil {
		return nil
	}
	var sum int64
	for _, l := range r.Lines {
		sum += l.Amount
	}
	if sum <= 0 || minor == sum {
		return r
	}
	part := &Receipt{Customer: r.Customer, Lines: slices.Clone(r.Lines)}
	var before, given int64
	for i := range part.Lines {
		l := &part.Lines[i]
		before += l.Amount
		share := scale(before, minor, sum) - given
		given += share
		l.Quantity, l.UnitAmount, l.Amount, l.TaxAmount = "1", share, share, scale(l.TaxAmount, minor, sum)
	}
	part.Lines = slices.DeleteFunc(part.Lines, func(l Line) bool { return l.Amount == 0 })
	return part
}

// scale is the share of an amount that minor is of sum, rounded towards zero.
func scale(amount, minor, sum int64) int64 {
	product := new(big.Int).Mul(big.NewInt(amount), big.NewInt(minor))
	return product.Quo(product, big.NewInt(sum)).Int64()
}
