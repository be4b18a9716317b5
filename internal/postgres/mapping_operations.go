package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// operationsFromRows returns the operations of each attempt, in the order of the rows.
func operationsFromRows(rows []*dbsqlc.Operations) map[payment.AttemptID][]payment.Operation {
	all := make(map[payment.AttemptID][]payment.Operation, len(rows))
	for _, r := range rows {
		o := payment.Operation{
			OrderID: payment.OrderID(r.OrderID), AttemptID: payment.AttemptID(r.AttemptID), Kind: payment.OperationKind(r.Kind), Number: int(r.Number),
			Account: r.Account, Amount: r.Amount, Origin: payment.OperationOrigin(r.Origin), OriginID: r.OriginID, State: fsm.OperationState(r.State),
			Sends: int(r.Sends), Fence: r.Fence, LeaseUntil: r.LeaseUntil, Tries: int(r.Tries), NextAt: r.NextAt, FirstSentAt: r.FirstSentAt,
			ProviderRef: r.ProviderRef, Result: r.Result, CreatedAt: r.CreatedAt, Payment: r.Payment, UnpaidAt: r.UnpaidAt, HasData: r.HasData, Final: r.Final, Before: r.CapturedBefore,
		}
		if r.RefundID != nil {
			o.RefundID = payment.RefundID(*r.RefundID)
		}
		all[o.AttemptID] = append(all[o.AttemptID], o)
	}
	return all
}

// operationsInsertParams returns the new operations of attempts. The list may be empty.
func operationsInsertParams(writes []changeset.AttemptWrite) *dbsqlc.OperationsInsertParams {
	p := newParams[dbsqlc.OperationsInsertParams](len(writes))
	for i := range writes {
		for j := range writes[i].Begun {
			o := &writes[i].Begun[j]
			p.OrderIds = append(p.OrderIds, string(o.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(o.AttemptID))
			p.Kinds = append(p.Kinds, string(o.Kind))
			p.Numbers = append(p.Numbers, int32(o.Number)) //nolint:gosec // a count of operations
			p.Accounts = append(p.Accounts, o.Account)
			p.RefundIds = append(p.RefundIds, uuid.UUID(o.RefundID))
			p.Amounts = append(p.Amounts, o.Amount)
			p.Origins = append(p.Origins, string(o.Origin))
			p.OriginIds = append(p.OriginIds, o.OriginID)
			p.States = append(p.States, string(o.State))
			p.Sends = append(p.Sends, int32(o.Sends)) //nolint:gosec // a count
			p.Fences = append(p.Fences, o.Fence)
			p.LeaseUntils = append(p.LeaseUntils, orZero(o.LeaseUntil))
			p.Tries = append(p.Tries, int32(o.Tries)) //nolint:gosec // a count
			p.NextAts = append(p.NextAts, orZero(o.NextAt))
			p.FirstSentAts = append(p.FirstSentAts, orZero(o.FirstSentAt))
			p.ProviderRefs = append(p.ProviderRefs, o.ProviderRef)
			p.Results = append(p.Results, o.Result)
			p.CreatedAts = append(p.CreatedAts, o.CreatedAt)
			p.Payments = append(p.Payments, o.Payment)
			p.UnpaidAts = append(p.UnpaidAts, orZero(o.UnpaidAt))
			p.HaveData = append(p.HaveData, o.HasData)
			p.Finals = append(p.Finals, o.Final)
			p.CapturedBefores = append(p.CapturedBefores, o.Before)
		}
	}
	return p
}

// operationsMoveParams returns the changed operations, with their former state and fence. The list may be empty.
func operationsMoveParams(writes []changeset.AttemptWrite) *dbsqlc.OperationsMoveParams {
	p := newParams[dbsqlc.OperationsMoveParams](len(writes))
	for i := range writes {
		for j := range writes[i].Moved {
			w := &writes[i].Moved[j]
			o := &w.Operation
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(o.AttemptID))
			p.Kinds = append(p.Kinds, string(o.Kind))
			p.Numbers = append(p.Numbers, int32(o.Number)) //nolint:gosec // a count of operations
			p.WereStates = append(p.WereStates, w.WasState)
			p.WereFences = append(p.WereFences, w.WasFence)
			p.States = append(p.States, string(o.State))
			p.Sends = append(p.Sends, int32(o.Sends)) //nolint:gosec // a count
			p.Fences = append(p.Fences, o.Fence)
			p.LeaseUntils = append(p.LeaseUntils, orZero(o.LeaseUntil))
			p.Tries = append(p.Tries, int32(o.Tries)) //nolint:gosec // a count
			p.NextAts = append(p.NextAts, orZero(o.NextAt))
			p.FirstSentAts = append(p.FirstSentAts, orZero(o.FirstSentAt))
			p.ProviderRefs = append(p.ProviderRefs, o.ProviderRef)
			p.Results = append(p.Results, o.Result)
		}
	}
	return p
}

// sealedRequestsInsertParams returns the data of new operations that may be sent again. The list may be empty.
func sealedRequestsInsertParams(writes []changeset.AttemptWrite) *dbsqlc.SealedRequestsInsertParams {
	p := &dbsqlc.SealedRequestsInsertParams{}
	for i := range writes {
		for j := range writes[i].Begun {
			if o := &writes[i].Begun[j]; len(o.SealedRequest) > 0 {
				p.AttemptIds = append(p.AttemptIds, uuid.UUID(o.AttemptID))
				p.Kinds = append(p.Kinds, string(o.Kind))
				p.Numbers = append(p.Numbers, int32(o.Number)) //nolint:gosec // counts within an attempt
				p.Sealed = append(p.Sealed, o.SealedRequest)
				p.CreatedAts = append(p.CreatedAts, o.CreatedAt)
			}
		}
	}
	return p
}
