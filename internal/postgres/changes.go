package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// SaveChanges implements payment.Tx: five statements at the most, however many
// attempts there are.
func (t *txn) SaveChanges(ctx context.Context, changes []payment.Change) error {
	if len(changes) == 0 {
		return nil
	}
	if err := t.q.AttemptsAdvance(ctx, t.Deferred(), attemptParams(changes)); err != nil {
		return fmt.Errorf("advance %d attempts: %w", len(changes), err)
	}
	t.move(changes)
	if err := t.hold(ctx, changes); err != nil {
		return err
	}
	if err := t.eraseTokens(ctx, changes); err != nil {
		return err
	}
	if err := t.appendLog(ctx, changes); err != nil {
		return err
	}
	if err := t.appendMovements(ctx, changes); err != nil {
		return err
	}
	if err := t.outbox(ctx, changes); err != nil {
		return err
	}
	return t.name(ctx, changes)
}

func attemptParams(changes []payment.Change) *dbsqlc.AttemptsAdvanceParams {
	p := params[dbsqlc.AttemptsAdvanceParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		status, stage := stateParams(a)
		failure := failureOf(a.Failure)
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.Was = append(p.Was, int32(changes[i].Was)) //nolint:gosec // a version
		p.ProviderPaymentIds = append(p.ProviderPaymentIds, a.ProviderPaymentID)
		p.Statuses = append(p.Statuses, status)
		p.Stages = append(p.Stages, stage)
		p.Authorized = append(p.Authorized, a.Authorized)
		p.Captured = append(p.Captured, a.Captured)
		p.Reversed = append(p.Reversed, a.Reversed)
		p.Disputed = append(p.Disputed, a.Disputed)
		p.Movements = append(p.Movements, int32(a.LastMovement)) //nolint:gosec // a count of movements
		p.Refunded = append(p.Refunded, a.Refunded)
		p.NextActionUrls = append(p.NextActionUrls, a.NextActionURL)
		p.FailureCodes = append(p.FailureCodes, failure.Code)
		p.FailureMessages = append(p.FailureMessages, failure.Message)
		p.FailureProviderCodes = append(p.FailureProviderCodes, failure.ProviderCode)
		p.Intents = append(p.Intents, string(a.Intent.Kind))
		p.IntentAmounts = append(p.IntentAmounts, a.Intent.Amount)
		p.IntentNumbers = append(p.IntentNumbers, int32(a.Intent.Number)) //nolint:gosec // a count of commands
		p.IntentAts = append(p.IntentAts, a.Intent.At)
		p.SavedMethods = append(p.SavedMethods, savedParam(a.Saved))
		p.Versions = append(p.Versions, int32(a.Version)) //nolint:gosec // a version
		p.Fences = append(p.Fences, a.Fence)
		p.LeaseUntils = append(p.LeaseUntils, orZero(a.LeaseUntil))
		p.Checks = append(p.Checks, int32(a.Checks)) //nolint:gosec // a count of checks
		p.NextCheckAts = append(p.NextCheckAts, orZero(a.NextCheckAt))
		p.UpdatedAts = append(p.UpdatedAts, a.UpdatedAt)
		p.FinalizedAts = append(p.FinalizedAts, orZero(a.FinalizedAt))
	}
	return p
}

// hold writes what attempts hold beside their payment. It is a statement of its own,
// since it changes for few.
func (t *txn) hold(ctx context.Context, changes []payment.Change) error {
	p := &dbsqlc.AttemptsHoldParams{}
	for i := range changes {
		a := &changes[i].Attempt
		if !changes[i].Holds {
			continue
		}
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.Versions = append(p.Versions, int32(a.Version)) //nolint:gosec // a version
		p.ForeignAmounts = append(p.ForeignAmounts, a.Foreign.Minor)
		p.ForeignCurrencies = append(p.ForeignCurrencies, string(a.Foreign.Currency))
		p.ForeignReturned = append(p.ForeignReturned, a.ForeignReturned)
		p.HoldToldAts = append(p.HoldToldAts, orZero(a.HoldToldAt))
	}
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.AttemptsHold(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("write what %d attempts hold: %w", len(p.OrderIds), err)
	}
	return nil
}

// savedParam is what the provider has stored, empty for nothing: what was stored stays.
func savedParam(m *payment.SavedMethod) string {
	if m == nil {
		return ""
	}
	raw, _ := json.Marshal(m) //nolint:errchkjson // texts always marshal
	return string(raw)
}

// savedFromRow reads what savedParam wrote; a text of another form is none.
func savedFromRow(raw []byte) *payment.SavedMethod {
	m := &payment.SavedMethod{}
	if json.Unmarshal(raw, m) != nil || m.Token == "" {
		return nil
	}
	return m
}

func stateParams(a *payment.Attempt) (status, stage string) {
	if a.State.Final() {
		return string(a.State.Status()), "final"
	}
	return string(a.State.Status()), string(a.State)
}

// orZero stands for NULL in an array, whose elements sqlc can't make nullable;
// the statement turns it back.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// logDetail is what a transition keeps beside its columns: the attempt can be
// derived from it again.
type logDetail struct {
	News              string `json:"news,omitempty"`
	ProviderPaymentID string `json:"provider_payment_id,omitempty"`
	Authorized        int64  `json:"authorized,omitempty"`
	Captured          int64  `json:"captured,omitempty"`
	Reversed          int64  `json:"reversed,omitempty"`
	Disputed          int64  `json:"disputed,omitempty"`
	Refunded          int64  `json:"refunded,omitempty"`
	NextActionURL     string `json:"next_action_url,omitempty"`
	LastMovement      int    `json:"movements,omitempty"`
}

func (t *txn) appendLog(ctx context.Context, changes []payment.Change) error {
	p := params[dbsqlc.TransitionsInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, tr := range changes[i].Transitions {
			detail, err := json.Marshal(logDetail{
				string(tr.News), tr.Facts.ProviderPaymentID, tr.Facts.Authorized, tr.Facts.Captured, tr.Facts.Reversed,
				tr.Facts.Disputed, tr.Facts.Refunded, tr.Facts.NextActionURL, tr.LastMovement,
			})
			if err != nil {
				return fmt.Errorf("encode a transition of %s: %w", a.ID, err)
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
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.TransitionsInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("append to the log: %w", err)
	}
	return nil
}

// transitionFromRow reads what appendLog has written.
func transitionFromRow(row *dbsqlc.AttemptTransitions) (payment.Transition, error) {
	var d logDetail
	if err := json.Unmarshal(row.Detail, &d); err != nil {
		return payment.Transition{}, fmt.Errorf("decode version %d: %w", row.Version, err)
	}
	to := fsm.State(row.ToStage)
	return payment.Transition{
		Version: int(row.Version), From: fsm.State(row.FromStage), To: to, News: fsm.News(d.News),
		Cause: payment.Cause{Kind: payment.CauseKind(row.Cause), ID: row.CauseID}, At: row.At,
		Facts: payment.Facts{
			State: to, ProviderPaymentID: d.ProviderPaymentID, Authorized: d.Authorized, Captured: d.Captured,
			Reversed: d.Reversed, Disputed: d.Disputed, Refunded: d.Refunded, NextActionURL: d.NextActionURL,
		},
		LastMovement: d.LastMovement,
	}, nil
}

func (t *txn) outbox(ctx context.Context, changes []payment.Change) error {
	p := params[dbsqlc.OutboxInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, m := range changes[i].Messages {
			p.MessageIds = append(p.MessageIds, m.ID)
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Types = append(p.Types, m.Type)
			p.Versions = append(p.Versions, int32(m.Version)) //nolint:gosec // a version
			p.Payloads = append(p.Payloads, string(m.Payload))
			p.CreatedAts = append(p.CreatedAts, t.Now())
		}
	}
	if len(p.OrderIds) == 0 {
		return nil
	}
	if err := t.q.OutboxInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("write news for the merchant: %w", err)
	}
	return nil
}

// name gives attempts their new names.
func (t *txn) name(ctx context.Context, changes []payment.Change) error {
	p := &dbsqlc.ReferencesInsertParams{}
	for i := range changes {
		a := &changes[i].Attempt
		for _, name := range changes[i].Names {
			p.Accounts = append(p.Accounts, a.Account)
			p.Refs = append(p.Refs, name)
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		}
	}
	if len(p.Refs) == 0 {
		return nil
	}
	if err := t.q.ReferencesInsert(ctx, t.Deferred(), p); err != nil {
		return fmt.Errorf("name attempts: %w", err)
	}
	return nil
}
