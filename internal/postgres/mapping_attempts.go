package postgres

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// attemptFromRow is an attempt without its operations and movements.
func attemptFromRow(row *dbsqlc.PaymentAttempts, readAt time.Time, siblings bool) payment.Attempt {
	a := payment.Attempt{
		ID: payment.AttemptID(row.AttemptID), OrderID: payment.OrderID(row.OrderID), UserID: payment.UserID(row.UserID),
		RequestID: payment.RequestID(row.ClientRequestID), RequestHash: idempotency.HashOf(row.RequestHash),
		Account: row.Account, Merchant: int(row.Merchant),
		Origin: payment.Origin(row.Origin), ExpiresAt: row.ExpiresAt, ProviderPaymentID: row.ProviderPaymentID, State: stateOfRow(row.Status, row.Stage),
		Money:      payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Authorized: row.AmountAuthorized, Captured: row.AmountCaptured, Refunded: row.AmountRefunded, Disputed: row.AmountDisputed,
		ForeignMoney: row.ForeignMoney, LastMovement: int(row.Movements),
		Capture: payment.CaptureAutomatic, Split: row.Split, NextAction: payment.ParseAction(row.NextAction), Saved: savedFromRow(row.SavedPaymentMethod),
		Version: int(row.Version), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, FinalizedAt: row.FinalizedAt,
		ReadAt: readAt, Siblings: siblings,
	}
	readPayments(&a, row.Payments)
	_ = json.Unmarshal(row.Review, &a.Review) // NULL is none
	switch {
	case row.CaptureMultiple:
		a.Capture = payment.CaptureSeveral
	case row.CaptureManual:
		a.Capture = payment.CaptureManual
	}
	if row.FailureCode != "" {
		a.Failure = &payment.Failure{Code: row.FailureCode, Message: row.FailureMessage, ProviderCode: row.FailureProviderCode}
	}
	return a
}

// shownAttempt is an attempt that was read to be shown. If it has no disputes, that is known already.
func shownAttempt(row *dbsqlc.PaymentAttempts, readAt time.Time, hasDisputes bool) payment.Attempt {
	a := attemptFromRow(row, readAt, false)
	if !hasDisputes {
		a.Disputes = []payment.Dispute{}
	}
	return a
}

// attemptsFromRows returns the attempts of orders, each as Shown returns it.
func attemptsFromRows(rows []*dbsqlc.AttemptsOfOrdersRow) []payment.Attempt {
	attempts := make([]payment.Attempt, 0, len(rows))
	for _, r := range rows {
		attempts = append(attempts, shownAttempt(&r.PaymentAttempts, r.ReadAt, r.HasDisputes))
	}
	return attempts
}

// stateOfRow is an attempt's state, by its status and stage.
func stateOfRow(status dbsqlc.AttemptStatus, stage dbsqlc.AttemptStage) fsm.State {
	switch status {
	case dbsqlc.AttemptStatusSucceeded:
		return fsm.Succeeded
	case dbsqlc.AttemptStatusFailed:
		return fsm.Failed
	case dbsqlc.AttemptStatusPending:
	}
	return fsm.State(stage)
}

// savedFromRow reads the text that savedParam wrote. A text of another form gives nil.
func savedFromRow(raw []byte) *payment.SavedMethod {
	m := &payment.SavedMethod{}
	if json.Unmarshal(raw, m) != nil || m.Token == "" {
		return nil
	}
	return m
}

// attemptsInsertParams returns new attempts.
func attemptsInsertParams(attempts []payment.Attempt) *dbsqlc.AttemptsInsertParams {
	p := newParams[dbsqlc.AttemptsInsertParams](len(attempts))
	for i := range attempts {
		a := &attempts[i]
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.UserIds = append(p.UserIds, string(a.UserID))
		p.ClientRequestIds = append(p.ClientRequestIds, string(a.RequestID))
		p.RequestHashes = append(p.RequestHashes, a.RequestHash[:])
		p.Accounts = append(p.Accounts, a.Account)
		begun := cmp.Or(a.Origin, payment.OriginPaylatch)
		p.Origins = append(p.Origins, string(begun))
		p.Stages = append(p.Stages, string(begun.First()))
		p.ExpiresAts = append(p.ExpiresAts, orZero(a.ExpiresAt))
		p.Amounts = append(p.Amounts, a.Money.Minor)
		p.Currencies = append(p.Currencies, string(a.Money.Currency))
		p.CapturesManual = append(p.CapturesManual, a.Capture.Holds())
		p.CapturesMultiple = append(p.CapturesMultiple, a.Capture == payment.CaptureSeveral)
		p.CreatedAts = append(p.CreatedAts, a.CreatedAt)
		p.Merchants = append(p.Merchants, int32(a.Merchant)) //nolint:gosec // a small number
		p.Splits = append(p.Splits, a.Split)
	}
	return p
}

// attemptsImportParams returns new attempts of the past.
func attemptsImportParams(writes []changeset.AttemptWrite) *dbsqlc.AttemptsImportParams {
	p := newParams[dbsqlc.AttemptsImportParams](len(writes))
	for i := range writes {
		a := &writes[i].Attempt
		failure := failureOf(a.Failure)
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.UserIds = append(p.UserIds, string(a.UserID))
		p.ClientRequestIds = append(p.ClientRequestIds, string(a.RequestID))
		p.RequestHashes = append(p.RequestHashes, a.RequestHash[:])
		p.Accounts = append(p.Accounts, a.Account)
		p.ProviderPaymentIds = append(p.ProviderPaymentIds, a.ProviderPaymentID)
		p.Statuses = append(p.Statuses, string(a.State.Status()))
		p.Amounts = append(p.Amounts, a.Money.Minor)
		p.Currencies = append(p.Currencies, string(a.Money.Currency))
		p.CapturesManual = append(p.CapturesManual, a.Capture == payment.CaptureManual)
		p.Movements = append(p.Movements, int32(a.LastMovement)) //nolint:gosec // a count of movements
		p.Captured = append(p.Captured, a.Captured)
		p.Refunded = append(p.Refunded, a.Refunded)
		p.FailureCodes = append(p.FailureCodes, failure.Code)
		p.FailureMessages = append(p.FailureMessages, failure.Message)
		p.Payments = append(p.Payments, paymentsParam(a))
		p.Versions = append(p.Versions, int32(a.Version)) //nolint:gosec // a version
		p.CreatedAts = append(p.CreatedAts, a.CreatedAt)
		p.FinalizedAts = append(p.FinalizedAts, orZero(a.FinalizedAt))
		p.Merchants = append(p.Merchants, int32(a.Merchant)) //nolint:gosec // a small number
	}
	return p
}

// attemptsAdvanceParams returns the columns of attempts that a report may change.
func attemptsAdvanceParams(writes []changeset.AttemptWrite) *dbsqlc.AttemptsAdvanceParams {
	p := newParams[dbsqlc.AttemptsAdvanceParams](len(writes))
	for i := range writes {
		a := &writes[i].Attempt
		status, stage := stateParams(a)
		failure := failureOf(a.Failure)
		p.OrderIds = append(p.OrderIds, string(a.OrderID))
		p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
		p.Was = append(p.Was, int32(writes[i].Was)) //nolint:gosec // a version
		p.ProviderPaymentIds = append(p.ProviderPaymentIds, a.ProviderPaymentID)
		p.Statuses = append(p.Statuses, status)
		p.Stages = append(p.Stages, stage)
		p.Authorized = append(p.Authorized, a.Authorized)
		p.Captured = append(p.Captured, a.Captured)
		p.Refunded = append(p.Refunded, a.Refunded)
		p.Disputed = append(p.Disputed, a.Disputed)
		p.ForeignMoney = append(p.ForeignMoney, a.ForeignMoney)
		p.Movements = append(p.Movements, int32(a.LastMovement)) //nolint:gosec // a count of movements
		p.NextActions = append(p.NextActions, a.NextAction.Text())
		p.FailureCodes = append(p.FailureCodes, failure.Code)
		p.FailureMessages = append(p.FailureMessages, failure.Message)
		p.FailureProviderCodes = append(p.FailureProviderCodes, failure.ProviderCode)
		p.SavedMethods = append(p.SavedMethods, savedParam(a.Saved))
		p.Reviews = append(p.Reviews, reviewParam(a.Review))
		p.Payments = append(p.Payments, paymentsParam(a))
		p.Versions = append(p.Versions, int32(a.Version)) //nolint:gosec // a version
		p.UpdatedAts = append(p.UpdatedAts, a.UpdatedAt)
		p.FinalizedAts = append(p.FinalizedAts, orZero(a.FinalizedAt))
	}
	return p
}

func stateParams(a *payment.Attempt) (status, stage string) {
	if a.State.Final() {
		return string(a.State.Status()), "final"
	}
	return string(a.State.Status()), string(a.State)
}

// reviewParam is the provider's review; empty if there is none: a review that was reported stays.
func reviewParam(r payment.Review) string {
	if r.Status == "" {
		return ""
	}
	raw, _ := json.Marshal(r) //nolint:errchkjson // texts and a time always marshal
	return string(raw)
}

// savedParam is the stored payment method; empty if there is none: a method that was stored stays.
func savedParam(m *payment.SavedMethod) string {
	if m == nil {
		return ""
	}
	raw, _ := json.Marshal(m) //nolint:errchkjson // texts always marshal
	return string(raw)
}
