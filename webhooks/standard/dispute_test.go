package standard_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/internal/providertest"
)

func dispute(kind, status, entry string) string {
	return `{"id":"evt_7","type":"` + kind + `","created":"2026-03-14T15:09:20Z","data":{"charge_id":"ch_1","refund_id":null,"reference":"att_1",` +
		`"amount":1999,"currency":"EUR","failure_code":null,"dispute_id":"dp_1","dispute_status":"` + status +
		`","reason":"fraudulent","due_by":"2026-03-21T00:00:00Z"` + entry + `}}`
}

func TestDisputes(t *testing.T) {
	t.Parallel()
	const entry = `,"entry_id":"le_1"`
	for name, tt := range map[string]struct {
		body     string
		kind     webhooks.Kind
		status   webhooks.DisputeStatus
		movement string
	}{
		"warning":        {dispute("dispute.warning", "warning", ""), webhooks.KindDisputed, webhooks.DisputeWarning, ""},
		"opened":         {dispute("dispute.opened", "open", entry), webhooks.KindChargeback, webhooks.DisputeOpen, "le_1"},
		"updated":        {dispute("dispute.updated", "under_review", ""), webhooks.KindDisputed, webhooks.DisputeUnderReview, ""},
		"won":            {dispute("dispute.won", "won", entry), webhooks.KindChargebackReversed, webhooks.DisputeWon, "le_1"},
		"won, no money":  {dispute("dispute.won", "won", ""), webhooks.KindDisputeClosed, webhooks.DisputeWon, ""},
		"lost":           {dispute("dispute.lost", "lost", ""), webhooks.KindDisputeClosed, webhooks.DisputeLost, ""},
		"lost after all": {dispute("dispute.lost", "lost", entry), webhooks.KindChargeback, webhooks.DisputeLost, "le_1"},
		"accepted":       {dispute("dispute.accepted", "accepted", ""), webhooks.KindDisputeClosed, webhooks.DisputeAccepted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := providertest.Parsed(t, newVerifier(t), tt.body)
			require.Equal(t, tt.kind, e.Kind)
			require.Equal(t, tt.movement, e.MovementID)
			require.Equal(t, &webhooks.Money{Minor: 1999, Currency: "EUR"}, e.Money)
			require.Equal(t, &webhooks.Dispute{
				ID: "dp_1", Status: tt.status, Reason: "fraudulent", Money: e.Money, DueBy: time.Date(2026, 3, 21, 0, 0, 0, 0, time.UTC),
			}, e.Dispute)
		})
	}
	e := providertest.Parsed(t, newVerifier(t), dispute("dispute.updated", "escalated", ""))
	require.Equal(t, webhooks.KindDisputed, e.Kind)
	require.Nil(t, e.Dispute, "a status of an unfamiliar name")
}

// A listed event has no headers: its id is in the body.
func TestReadWithoutHeaders(t *testing.T) {
	t.Parallel()
	events := newVerifier(t).Read(webhooks.Delivery{Header: http.Header{}, Body: []byte(dispute("dispute.opened", "open", ""))})
	require.Len(t, events, 1)
	require.Equal(t, "evt_7", events[0].ID)
}
