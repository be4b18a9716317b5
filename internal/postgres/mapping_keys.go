package postgres

import (
	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// keyFromRow is a key with its response, if there is one.
func keyFromRow(row *dbsqlc.IdempotencyKeys) (idempotency.Record, error) {
	r := idempotency.Record{Hash: idempotency.HashOf(row.RequestHash), Fence: row.Fence}
	if !row.Answered {
		return r, nil
	}
	var err error
	r.Response, err = idempotency.DecodeResponse(int(row.Status), row.Headers, row.Body, row.Subject)
	return r, err
}

// keysStoreParams returns new keys, each with its answer.
func keysStoreParams(answers []idempotency.Stored) (*dbsqlc.KeysStoreParams, error) {
	p := &dbsqlc.KeysStoreParams{}
	for _, a := range answers {
		headers, body, err := a.Encode()
		if err != nil {
			return nil, err
		}
		p.UserIds = append(p.UserIds, a.User)
		p.Endpoints = append(p.Endpoints, a.Endpoint)
		p.Keys = append(p.Keys, string(a.Key))
		p.RequestHashes = append(p.RequestHashes, a.Hash[:])
		p.Statuses = append(p.Statuses, int32(a.Status)) //nolint:gosec // an HTTP status
		p.Headers = append(p.Headers, string(headers))
		p.Bodies = append(p.Bodies, body)
		p.Subjects = append(p.Subjects, a.Subject)
		p.Keeps = append(p.Keeps, a.Keep.Seconds())
	}
	return p, nil
}
