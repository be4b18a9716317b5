package worker

import (
	"context"
	"time"
)

const jobsEvery = time.Second

// Jobber is what the loop over jobs needs of package bulk.
type Jobber interface {
	// Work does a portion of a job, if there is one, and reports whether there may be more.
	Work(ctx context.Context) (more bool, err error)
}

// Jobs works on the acts of staff on many events or discrepancies.
func Jobs(j Jobber) Loop {
	return Loop{Name: "jobs", Every: jobsEvery, Do: j.Work}
}
