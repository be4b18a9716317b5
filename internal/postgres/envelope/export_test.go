package envelope

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/internal/postgres/dbsqlc"
)

// Alone has the clock of the process be that of the database, too.
func (k *Keys) Alone() *Keys {
	k.clock = func(context.Context, dbsqlc.DBTX) (time.Time, error) { return k.now(), nil }
	return k
}
