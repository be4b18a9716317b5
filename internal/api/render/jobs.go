package render

import (
	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
)

// SupportCounts renders a dry run.
func SupportCounts(c bulk.Counts) gen.SupportCounts {
	return gen.SupportCounts{DryRun: true, Total: c.Total, Counts: counts(c.By)}
}

// counts is never null.
func counts(by map[string]int64) map[string]int64 {
	if by == nil {
		return map[string]int64{}
	}
	return by
}

// SupportJobs renders a page of jobs.
func SupportJobs(list []bulk.Job, next string) gen.SupportJobs {
	return gen.SupportJobs{Items: mapped(list, SupportJob), NextCursor: orNull(next)}
}

// SupportJob renders a job with its progress.
func SupportJob(j bulk.Job) gen.SupportJob {
	return gen.SupportJob{
		JobID: j.ID.String(), Kind: gen.SupportJobKind(j.Kind), Status: gen.SupportJobStatus(j.State), Total: j.Total, Done: j.Done,
		Counts: counts(j.Results), Filter: j.Filter.Members(j.Kind), Resolution: orNull(string(j.Resolution)), Reason: j.Reason, By: j.By.Subject,
		CreatedAt: gen.Micros(j.CreatedAt), FinishedAt: (*gen.Micros)(j.FinishedAt),
	}
}
