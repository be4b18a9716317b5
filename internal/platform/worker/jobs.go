package worker

import (
	"context"
	"time"
)

const jobsEvery = time.Second

// Jobber works on jobs.
type Jobber interface {
	// Work does a portion of a job, if there is one, and reports whether there may be more.
	Work(ctx context.Context) (more bool, err error)
}

// Jobs works on the acts of staff on many events or discrepancies.
func Jobs(j Jobber) Loop {
	return Loop{Name: "jobs", Every: jobsEvery, Do: j.Work}
}
