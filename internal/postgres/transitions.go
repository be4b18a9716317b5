package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// logDetail is the data that a transition keeps beside its columns, so that the attempt can be derived from it again.
type logDetail struct {
	News              string `json:"news,omitempty"`
	ProviderPaymentID string `json:"provider_payment_id,omitempty"`
	Authorized        int64  `json:"authorized,omitempty"`
	Captured          int64  `json:"captured,omitempty"`
	Disputed          int64  `json:"disputed,omitempty"`
	Refunded          int64  `json:"refunded,omitempty"`
	Foreign           bool   `json:"foreign_money,omitempty"`
	NextAction        string `json:"next_action,omitempty"`
	LastMovement      int    `json:"movements,omitempty"`
	Review            string `json:"review,omitempty"`
}

// transitionsInsertParams returns the transitions of attempts. The list may be empty.
func transitionsInsertParams(changes []changeset.AttemptWrite) (*dbsqlc.TransitionsInsertParams, error) {
	p := newParams[dbsqlc.TransitionsInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, tr := range changes[i].Transitions {
			detail, err := json.Marshal(logDetail{
				string(tr.Event), tr.Facts.ProviderPaymentID, tr.Facts.Authorized, tr.Facts.Captured,
				tr.Facts.Disputed, tr.Facts.Refunded, tr.Facts.ForeignMoney, tr.Facts.NextAction, tr.LastMovement, string(tr.Facts.Review),
			})
			if err != nil {
				return nil, fmt.Errorf("encode a transition of %s: %w", a.ID, err)
			}
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Versions = append(p.Versions, int32(tr.Version)) //nolint:gosec // a version
			p.FromStages = append(p.FromStages, string(tr.From))
			p.ToStages = append(p.ToStages, string(tr.To))
			p.Causes = append(p.Causes, string(tr.Cause.Kind))
			p.CauseIds = append(p.CauseIds, tr.Cause.ID)
			p.Details = append(p.Details, string(detail))
			p.Ats = append(p.Ats, tr.At)
		}
	}
	return p, nil
}

// transitionFromRow reads a row that TransitionsInsert has written.
func transitionFromRow(row *dbsqlc.AttemptTransitions) (payment.Transition, error) {
	var d logDetail
	if err := json.Unmarshal(row.Detail, &d); err != nil {
		return payment.Transition{}, fmt.Errorf("decode version %d: %w", row.Version, err)
	}
	to := fsm.State(row.ToStage)
	return payment.Transition{
		Version: int(row.Version), From: fsm.State(row.FromStage), To: to, Event: fsm.Event(d.News),
		Cause: payment.Cause{Kind: payment.CauseKind(row.Cause), ID: row.CauseID}, At: row.At,
		Facts: payment.Facts{
			State: to, ProviderPaymentID: d.ProviderPaymentID, Authorized: d.Authorized, Captured: d.Captured,
			Disputed: d.Disputed, Refunded: d.Refunded, ForeignMoney: d.Foreign, NextAction: d.NextAction,
			Review: payment.ReviewStatus(d.Review),
		},
		LastMovement: d.LastMovement,
	}, nil
}
