package support

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/paylatch/paylatch/internal/payment"
)

// ShownRefund is a refund with the reference by which banks find it.
type ShownRefund struct {
	payment.Refund

	// Bank is the reference of the card network or the bank, as a webhook of the refund has it; empty if there is none.
	Bank string
}

// shownRefunds returns the attempt's refunds, oldest first, without dashboard refunds that are in fact refunds of ours. Each has the reference of
// the newest webhook that contains it.
func (h AttemptHistory) shownRefunds() (list []ShownRefund) {
	if len(h.Refunds) == 0 {
		return nil
	}
	var bodies []any
	for _, e := range slices.Backward(h.Events) {
		var body any
		if json.Unmarshal(e.Body, &body) == nil {
			bodies = append(bodies, body)
		}
	}
	for _, r := range h.Refunds {
		if r.Superseded() {
			continue
		}
		shown := ShownRefund{Refund: r}
		for i := 0; i < len(bodies) && shown.Bank == "" && r.ProviderRefundID != ""; i++ {
			shown.Bank = referenceIn(bodies[i], r.ProviderRefundID)
		}
		list = append(list, shown)
	}
	return list
}

// referenceIn finds the object with a refund's id in a webhook, and in it acquirer_reference_number (Checkout.com, PayPal),
// acquirer_data.arn or rrn (Razorpay), or destination_details.card.reference (Stripe).
func referenceIn(v any, refund string) string {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if found := referenceIn(item, refund); found != "" {
				return found
			}
		}
	case map[string]any:
		if reference := bankReference(v); v["id"] == refund && reference != "" {
			return reference
		}
		for _, member := range v {
			if found := referenceIn(member, refund); found != "" {
				return found
			}
		}
	}
	return ""
}

func bankReference(refund map[string]any) string {
	return cmp.Or(
		textAt(refund, "acquirer_reference_number"), textAt(refund, "acquirer_data", "arn"), textAt(refund, "acquirer_data", "rrn"),
		textAt(refund, "destination_details", "card", "reference"),
	)
}

// textAt returns the text at a path of members; empty if there is none.
func textAt(v any, path ...string) string {
	for _, name := range path {
		members, _ := v.(map[string]any)
		v = members[name]
	}
	text, _ := v.(string)
	return text
}
