package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// orderFromRow is an order without its attempts.
func orderFromRow(row *dbsqlc.Orders) (payment.Order, error) {
	o := payment.Order{
		ID: payment.OrderID(row.OrderID), UserID: payment.UserID(row.UserID), RequestID: payment.RequestID(row.ClientRequestID),
		CreatedBy: payment.Role(row.CreatedBy), RequestHash: idempotency.HashOf(row.RequestHash),
		Money:       payment.Money{Minor: row.Amount, Currency: payment.Currency(row.Currency)},
		Description: row.Description, Detailed: row.Detailed, Accepted: (*payment.AttemptID)(row.AcceptedAttemptID), CancelRequestedAt: row.CancelRequestedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
		Revision: int(row.Revision),
	}
	if err := json.Unmarshal(row.Metadata, &o.Metadata); err != nil {
		return o, fmt.Errorf("decode metadata of order %s: %w", o.ID, err)
	}
	if row.Original != nil {
		var t originalTerms
		if err := json.Unmarshal(row.Original, &t); err != nil {
			return o, fmt.Errorf("decode the original terms of order %s: %w", o.ID, err)
		}
		o.Original = &payment.Terms{Money: payment.Money{Minor: t.Amount, Currency: t.Currency}, Description: t.Description, Metadata: t.Metadata}
	}
	return o, nil
}

// originalTerms are the original terms of an amended order as they are stored.
type originalTerms struct {
	Amount      int64             `json:"amount"`
	Currency    payment.Currency  `json:"currency"`
	Description string            `json:"description"`
	Metadata    map[string]string `json:"metadata"`
}

// orderAmendParams returns the terms of an amended order.
func orderAmendParams(o payment.Order) (*dbsqlc.OrderAmendParams, error) {
	metadata, err := metadataOf(o)
	if err != nil {
		return nil, err
	}
	t := o.Original
	original, err := json.Marshal(originalTerms{t.Money.Minor, t.Money.Currency, t.Description, t.Metadata})
	if err != nil {
		return nil, fmt.Errorf("encode the original terms of order %s: %w", o.ID, err)
	}
	return &dbsqlc.OrderAmendParams{
		OrderID: string(o.ID), Amount: o.Money.Minor, Currency: string(o.Money.Currency), Description: o.Description, Metadata: metadata, Detailed: o.Detailed,
		Original: original, Revision: int32(o.Revision), Was: int32(o.Revision - 1), UpdatedAt: o.UpdatedAt, //nolint:gosec // revisions
	}, nil
}

func metadataOf(o payment.Order) ([]byte, error) {
	if o.Metadata == nil {
		return []byte("{}"), nil
	}
	metadata, err := json.Marshal(o.Metadata)
	if err != nil {
		return nil, fmt.Errorf("encode metadata of order %s: %w", o.ID, err)
	}
	return metadata, nil
}

// ordersFromRows gives orders their attempts and leaves out the attempts of other orders.
func ordersFromRows(rows []*dbsqlc.Orders, attempts []payment.Attempt) (map[payment.OrderID]payment.Order, error) {
	orders := make(map[payment.OrderID]payment.Order, len(rows))
	for _, row := range rows {
		var err error
		if orders[payment.OrderID(row.OrderID)], err = orderFromRow(row); err != nil {
			return nil, err
		}
	}
	for _, a := range attempts {
		if o, ok := orders[a.OrderID]; ok {
			o.Attempts = append(o.Attempts, a)
			orders[a.OrderID] = o
		}
	}
	return orders, nil
}

// orderInsertParams is a new order.
func orderInsertParams(o payment.Order) (*dbsqlc.OrderInsertParams, error) {
	metadata, err := metadataOf(o)
	if err != nil {
		return nil, err
	}
	return &dbsqlc.OrderInsertParams{
		OrderID: string(o.ID), UserID: string(o.UserID), CreatedBy: string(o.CreatedBy), ClientRequestID: string(o.RequestID), RequestHash: o.RequestHash[:],
		Amount: o.Money.Minor, Currency: string(o.Money.Currency), Description: o.Description, Metadata: metadata, Detailed: o.Detailed, CreatedAt: o.CreatedAt,
	}, nil
}

// orderNames returns ids as a statement takes them.
func orderNames(ids []payment.OrderID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = string(id)
	}
	return names
}

// ordersInsertParams returns new orders, without descriptions and metadata.
func ordersInsertParams(orders []payment.Order) *dbsqlc.OrdersInsertParams {
	p := newParams[dbsqlc.OrdersInsertParams](len(orders))
	for i := range orders {
		o := &orders[i]
		p.OrderIds = append(p.OrderIds, string(o.ID))
		p.UserIds = append(p.UserIds, string(o.UserID))
		p.CreatedBys = append(p.CreatedBys, string(o.CreatedBy))
		p.ClientRequestIds = append(p.ClientRequestIds, string(o.RequestID))
		p.RequestHashes = append(p.RequestHashes, o.RequestHash[:])
		p.Amounts = append(p.Amounts, o.Money.Minor)
		p.Currencies = append(p.Currencies, string(o.Money.Currency))
		p.CreatedAts = append(p.CreatedAts, o.CreatedAt)
	}
	return p
}
