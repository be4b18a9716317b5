package support_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// The reference for the bank comes from the webhook of this refund, at each provider that has one.
func TestBankReference(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ body, want string }{
		"stripe":          {`{"data":{"object":{"id":"re_5","destination_details":{"card":{"reference":"7453","reference_status":"available"},"type":"card"}}}}`, "7453"},
		"stripe, not yet": {`{"data":{"object":{"id":"re_5","destination_details":{"card":{"reference_status":"pending"}}}}}`, ""},
		"paypal":          {`{"resource":{"id":"re_5","acquirer_reference_number":"7454"}}`, "7454"},
		"razorpay":        {`{"payload":{"refund":{"entity":{"id":"re_5","acquirer_data":{"arn":"7455"}}}}}`, "7455"},
		"razorpay, UPI":   {`{"payload":{"refund":{"entity":{"id":"re_5","acquirer_data":{"rrn":"7456"}}}}}`, "7456"},
		"in a list":       {`{"refunds":{"data":[{"id":"re_4","acquirer_reference_number":"1"},{"id":"re_5","acquirer_reference_number":"7457"}]}}`, "7457"},
		"another refund":  {`{"resource":{"id":"re_6","acquirer_reference_number":"7454"}}`, ""},
		"of the payment":  {`{"resource":{"id":"pi_1","acquirer_reference_number":"7454","refund":{"id":"re_5"}}}`, ""},
		"no text":         {`{"resource":{"id":"re_5","acquirer_reference_number":7454}}`, ""},
		"no JSON":         {`a=b`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := begun(state(fsm.Succeeded), refunded(fsm.RefundSucceeded, 500), named("re_5"))
			h.Refunds = append(h.Refunds, payment.Refund{Origin: payment.RefundByProvider})
			h.Events = []support.Event{{Body: []byte(tc.body)}, {Body: nil}}
			page := h.Page()
			require.Len(t, page.Refunds, 1, "the other refund turned out to be this one")
			require.Equal(t, tc.want, page.Refunds[0].Bank)
			if tc.want != "" {
				require.Contains(t, page.Summary, "(reference "+tc.want+" for the bank, re_5 at the provider).")
			} else {
				require.Contains(t, page.Summary, "(reference re_5).")
			}
		})
	}
}
