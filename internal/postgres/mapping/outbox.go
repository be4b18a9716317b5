package mapping

import (
	"time"

	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/changeset"
	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// OutboxInsertParams are the messages about attempts; there may be none. now is called only if there are.
func OutboxInsertParams(changes []changeset.AttemptWrite, now func() time.Time) *dbsqlc.OutboxInsertParams {
	p := Params[dbsqlc.OutboxInsertParams](len(changes))
	for i := range changes {
		a := &changes[i].Attempt
		for _, m := range changes[i].Messages {
			p.MessageIds = append(p.MessageIds, m.ID)
			p.OrderIds = append(p.OrderIds, string(a.OrderID))
			p.AttemptIds = append(p.AttemptIds, uuid.UUID(a.ID))
			p.Types = append(p.Types, m.Type)
			p.Versions = append(p.Versions, int32(m.Version)) //nolint:gosec // a version
			p.Payloads = append(p.Payloads, string(m.Payload))
			p.CreatedAts = append(p.CreatedAts, now())
		}
	}
	return p
}
