package envelope

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Alone makes the clock of the process count as the database's clock, too.
func (k *Keys) Alone() *Keys {
	k.clock = func(context.Context, dbsqlc.DBTX) (time.Time, error) { return k.now(), nil }
	return k
}
