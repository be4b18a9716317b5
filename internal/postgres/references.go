package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// ownersFromRows returns the attempts that have names.
func ownersFromRows(hits []*dbsqlc.ReferencesFindRow) map[payment.Reference]payment.AttemptID {
	owners := make(map[payment.Reference]payment.AttemptID, len(hits))
	for _, h := range hits {
		owners[payment.Reference{Account: h.Account, Name: h.Reference}] = payment.AttemptID(h.AttemptID)
	}
	return owners
}

// referencesInsertParams returns the new names of attempts. The list may be empty.
func referencesInsertParams(changes []changeset.AttemptWrite) *dbsqlc.ReferencesInsertParams {
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
	return p
}
