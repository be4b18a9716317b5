package adyen

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/read"
)

// disputeCodes lists the meaning of each event code for a dispute, and the statuses that disputeStatus may put in its place
// (https://docs.adyen.com/risk-management/disputes-api/dispute-notifications). Only the code is signed: the
// additional data may contain how far a dispute has come, or that it was not defended, and never that it is won.
//
// A reversal is not final: a second chargeback may follow. The end of a defense period ends only a dispute that was not
// defended, and has no meaning of its own. The disputeStatus values beside each code are partly from memory.
var disputeCodes = map[string]struct {
	means webhooks.DisputeStatus
	may   []webhooks.DisputeStatus
}{
	"REQUEST_FOR_INFORMATION":      {webhooks.DisputeWarning, nil},
	"NOTIFICATION_OF_CHARGEBACK":   {webhooks.DisputeOpen, []webhooks.DisputeStatus{webhooks.DisputeUnderReview, webhooks.DisputeAccepted}},
	"CHARGEBACK":                   {webhooks.DisputeOpen, []webhooks.DisputeStatus{webhooks.DisputeUnderReview, webhooks.DisputeAccepted, webhooks.DisputeLost}},
	"INFORMATION_SUPPLIED":         {webhooks.DisputeUnderReview, []webhooks.DisputeStatus{webhooks.DisputeWarning}},
	"DISPUTE_DEFENSE_PERIOD_ENDED": {"", []webhooks.DisputeStatus{webhooks.DisputeUnderReview, webhooks.DisputeAccepted, webhooks.DisputeLost}},
	"CHARGEBACK_REVERSED":          {webhooks.DisputeWon, nil},
	"SECOND_CHARGEBACK":            {webhooks.DisputeLost, []webhooks.DisputeStatus{webhooks.DisputeAccepted}},
	"PREARBITRATION_OPEN":          {webhooks.DisputeOpen, []webhooks.DisputeStatus{webhooks.DisputeUnderReview}},
	"PREARBITRATION_DECLINED":      {webhooks.DisputeUnderReview, nil},
	"PREARBITRATION_ACCEPTED":      {webhooks.DisputeAccepted, nil},
	"PREARBITRATION_WON":           {webhooks.DisputeWon, nil},
	"PREARBITRATION_LOST":          {webhooks.DisputeLost, nil},
	"SCHEME_ARBITRATION":           {webhooks.DisputeUnderReview, nil},
	"SCHEME_ARBITRATION_WON":       {webhooks.DisputeWon, nil},
	"SCHEME_ARBITRATION_LOST":      {webhooks.DisputeLost, nil},

	"PREARBITRATION_ISSUER_WITHDRAWN":   {webhooks.DisputeWon, nil},
	"ISSUER_RESPONSE_TIMEFRAME_EXPIRED": {webhooks.DisputeWon, nil},
}

// disputeStatus is how the dispute stands, empty where the item leaves it open.
func (i item) disputeStatus(told string) webhooks.DisputeStatus {
	code := disputeCodes[string(i.EventCode)]
	var refined webhooks.DisputeStatus
	switch told {
	case "Responded": // to a request for information
		refined = webhooks.DisputeWarning
	case "Pending":
		refined = webhooks.DisputeUnderReview
	case "Accepted":
		refined = webhooks.DisputeAccepted
	case "Lost", "Expired":
		refined = webhooks.DisputeLost
	}
	if slices.Contains(code.may, refined) {
		return refined
	}
	return code.means
}

// withDispute adds the dispute. All events of a dispute have the same pspReference.
func (i item) withDispute(e webhooks.Event) webhooks.Event {
	if !e.Kind.IsMovement() && e.Kind != webhooks.KindDisputed {
		return e
	}
	data := read.TextMembers(i.AdditionalData)
	return read.WithDispute(e, webhooks.Dispute{
		ID: string(i.PSPReference), Status: i.disputeStatus(data["disputeStatus"]),
		Reason: strings.TrimSpace(cmp.Or(data["chargebackReasonCode"], data["rfiReasonCode"])),
		DueBy:  read.TimeIn(time.RFC3339, data["defensePeriodEndsAt"]),
	})
}
