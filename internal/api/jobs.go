package api

import (
	"context"
	"net/http"

	"github.com/paylatch/paylatch/internal/api/gen"
	"github.com/paylatch/paylatch/internal/api/render"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// SupportReplayMany handles POST /v1/support/events/replay.
func (s *server) SupportReplayMany(ctx context.Context, r gen.SupportReplayManyRequestObject) (gen.SupportReplayManyResponseObject, error) {
	body := valueOf(r.Body)
	f := body.Filter
	o := bulk.Order{Kind: bulk.Replay, Reason: valueOf(body.Reason), Filter: bulk.Filter{
		Account: valueOf(f.Account), Verdict: valueOf(f.Verdict), Type: valueOf(f.Type),
	}}
	return s.many(ctx, o, valueOf(f.ReceivedFrom), valueOf(f.ReceivedTo), valueOf(body.DryRun))
}

// SupportResolveMany handles POST /v1/support/discrepancies/resolve.
func (s *server) SupportResolveMany(ctx context.Context, r gen.SupportResolveManyRequestObject) (gen.SupportResolveManyResponseObject, error) {
	body := valueOf(r.Body)
	f := body.Filter
	o := bulk.Order{
		Kind: bulk.Resolve, Resolution: payment.Resolution(body.Resolution), Reason: valueOf(body.Reason),
		Filter: bulk.Filter{Account: valueOf(f.Account), Kind: valueOf(f.Kind)},
	}
	return s.many(ctx, o, valueOf(f.OpenedFrom), valueOf(f.OpenedTo), valueOf(body.DryRun))
}

// many begins a job, or with dry counts the objects that it would change.
func (s *server) many(ctx context.Context, o bulk.Order, since, until string, dry bool) (response, error) {
	x := ExchangeOf(ctx)
	o, err := o.Between(since, until)
	if err != nil {
		return response{}, err
	}
	if dry {
		counts, err := s.Jobs.Try(ctx, x.Staff(), o)
		return response{http.StatusOK, render.SupportCounts(counts)}, err
	}
	job, err := s.Jobs.Begin(ctx, x.Staff(), o)
	if err != nil {
		return response{}, err
	}
	x.Header().Set("Location", "/v1/support/jobs/"+job.ID.String())
	return response{http.StatusAccepted, render.SupportJob(job)}, nil
}

// SupportJobs handles GET /v1/support/jobs.
func (s *server) SupportJobs(ctx context.Context, r gen.SupportJobsRequestObject) (gen.SupportJobsResponseObject, error) {
	page, err := support.ParsePage(valueOf(r.Params.Cursor), valueOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	list, next, err := s.Jobs.Jobs(ctx, ExchangeOf(ctx).Staff(), page)
	if err = partial(ctx, err); err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportJobs(list, next)}, nil
}

// SupportJob handles GET /v1/support/jobs/{job_id}.
func (s *server) SupportJob(ctx context.Context, r gen.SupportJobRequestObject) (gen.SupportJobResponseObject, error) {
	id, err := idOf(ctx, s, support.ViewedJob, "job", r.JobID, bulk.ParseJobID)
	if err != nil {
		return nil, err
	}
	job, err := s.Jobs.Job(ctx, ExchangeOf(ctx).Staff(), id)
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportJob(job)}, nil
}

// SupportStopJob handles POST /v1/support/jobs/{job_id}/stop.
func (s *server) SupportStopJob(ctx context.Context, r gen.SupportStopJobRequestObject) (gen.SupportStopJobResponseObject, error) {
	id, err := idOf(ctx, s, support.StoppedJob, "job", r.JobID, bulk.ParseJobID)
	if err != nil {
		return nil, err
	}
	job, err := s.Jobs.Stop(ctx, ExchangeOf(ctx).Staff(), id, valueOf(valueOf(r.Body).Reason))
	if err != nil {
		return nil, err
	}
	return response{http.StatusOK, render.SupportJob(job)}, nil
}
