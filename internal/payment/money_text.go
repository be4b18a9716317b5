package payment

import "github.com/paylatch/paylatch/webhooks"

// String is the amount as people write it, with the digits of its currency:
// "19.99 EUR", "500 JPY".
func (m Money) String() string {
	return webhooks.Money{Minor: m.Minor, Currency: string(m.Currency)}.String()
}
