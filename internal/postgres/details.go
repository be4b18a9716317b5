package postgres

import (
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// orderDetailsParams returns the details of a new order.
func orderDetailsParams(o payment.Order) *dbsqlc.SealedDetailsInsertParams {
	p := &dbsqlc.SealedDetailsInsertParams{}
	addDetails(p, o.ID, payment.AttemptID{}, o.SealedDetails)
	p.CreatedAts = append(p.CreatedAts, o.CreatedAt)
	return p
}

// receiptsParams returns the receipts of new attempts. The list may be empty.
func receiptsParams(attempts []payment.Attempt) *dbsqlc.SealedDetailsInsertParams {
	p := &dbsqlc.SealedDetailsInsertParams{}
	for i := range attempts {
		if a := &attempts[i]; len(a.SealedReceipt) > 0 {
			addDetails(p, a.OrderID, a.ID, a.SealedReceipt)
			p.CreatedAts = append(p.CreatedAts, a.CreatedAt)
		}
	}
	return p
}

func addDetails(p *dbsqlc.SealedDetailsInsertParams, order payment.OrderID, attempt payment.AttemptID, sealed []byte) {
	p.OrderIds = append(p.OrderIds, string(order))
	p.AttemptIds = append(p.AttemptIds, uuid.UUID(attempt))
	p.Sealed = append(p.Sealed, sealed)
}
