package mapping

import (
	"encoding/json"
	"fmt"

	"github.com/paylatch/paylatch/internal/idempotency"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Record is a key with its response, if there is one.
func Record(row *dbsqlc.IdempotencyKeys) (idempotency.Record, error) {
	r := idempotency.Record{Hash: hash(row.RequestHash), Fence: row.Fence}
	if !row.Answered {
		return r, nil
	}
	r.Answer = &idempotency.Answer{Status: int(row.Status), Body: row.Body, Subject: row.Subject}
	if err := json.Unmarshal(row.Headers, &r.Answer.Headers); err != nil {
		return r, fmt.Errorf("decode an answer's headers: %w", err)
	}
	return r, nil
}

// hash takes a row of a wrong length, too: it matches no
// request.
func hash(raw []byte) (h idempotency.Hash) {
	if len(raw) == len(h) {
		copy(h[:], raw)
	}
	return h
}

// KeysStoreParams are new keys, each with its answer.
func KeysStoreParams(answers []idempotency.Stored) (*dbsqlc.KeysStoreParams, error) {
	p := &dbsqlc.KeysStoreParams{}
	for _, a := range answers {
		headers, body, err := AnswerParams(a.Answer)
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

// AnswerParams are an answer's headers and body as they are stored.
func AnswerParams(a idempotency.Answer) (headers, body []byte, err error) {
	if a.Headers == nil {
		headers = []byte("{}")
	} else if headers, err = json.Marshal(a.Headers); err != nil {
		return nil, nil, fmt.Errorf("encode an answer's headers: %w", err)
	}
	if len(a.Body) <= idempotency.MaxBody {
		body = a.Body
	}
	return headers, body, nil
}
