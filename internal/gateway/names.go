package gateway

import (
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// Separates reports whether money under two ids of payments is that of two payments: at providers that name a payment
// by one id (Capabilities.OneID), unless one of the two, and not both, is of what a payment is made of later
// (Capabilities.Precursor). Whether that has made the other can't be seen from the ids.
func Separates(can payment.Capabilities, one, other string) bool {
	precedes := func(id string) bool { return can.Precursor != "" && strings.HasPrefix(id, can.Precursor) }
	return one != other && can.OneID && precedes(one) == precedes(other)
}
