package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/api"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

var _ api.Jobs = (*bulk.Service)(nil)

const (
	replayAll  = `{"filter":{"account":"acc"},"reason":"case 4711","dry_run":true}`
	resolveAll = `{"filter":{"kind":"disputed"},"resolution":"accepted","reason":"case 4711","dry_run":true}`
)

func (d *desk) Try(_ context.Context, who support.Staff, o bulk.Order) (bulk.Counts, error) {
	return bulk.Counts{Total: 5000, By: map[string]int64{"unmatched": 5000}},
		d.call(who, fmt.Sprintf("try %s %v", o.Kind, o.Filter.Members(o.Kind)), o.Reason)
}

func (d *desk) Begin(_ context.Context, who support.Staff, o bulk.Order) (bulk.Job, error) {
	j := job()
	j.Order = o
	return j, d.call(who, fmt.Sprintf("begin %s %v %s", o.Kind, o.Filter.Members(o.Kind), o.Resolution), o.Reason)
}

func (d *desk) Job(_ context.Context, who support.Staff, id uuid.UUID) (bulk.Job, error) {
	return job(), d.call(who, "job "+id.String(), "")
}

func (d *desk) Jobs(_ context.Context, who support.Staff, _ support.Page) ([]bulk.Job, string, error) {
	return []bulk.Job{job()}, "next", d.call(who, "jobs", "")
}

func (d *desk) Stop(_ context.Context, who support.Staff, id uuid.UUID, reason string) (bulk.Job, error) {
	return job(), d.call(who, "stop "+id.String(), reason)
}

func job() bulk.Job {
	return bulk.Job{
		Order: bulk.Order{Kind: bulk.Replay, Filter: bulk.Filter{Account: hostile, Since: &now}, Reason: hostile},
		ID:    uuid.UUID(eventID), By: support.Staff{Actor: authz.Actor{Subject: "admin"}}, CreatedAt: now, State: bulk.Done, Total: 3, Done: 2,
		Results: map[string]int64{"applied": 1, "request-in-progress": 1}, FinishedAt: &now,
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b, d := newDesk(t)
	as := "Authorization: Bearer admin"
	counts := b.send(http.MethodPost, "/v1/support/events/replay", replayAll, as).object(t)
	require.Equal(t, map[string]any{"dry_run": true, "total": 5000.0, "counts": map[string]any{"unmatched": 5000.0}}, counts)
	d.asked = nil

	begun := b.send(http.MethodPost, "/v1/support/events/replay",
		`{"filter":{"account":"acc","verdict":"unmatched","type":"x","received_from":"2026-03-01T00:00:00Z","received_to":"2026-03-02T00:00:00+01:00"},"reason":"r"}`, as)
	require.Equal(t, http.StatusAccepted, begun.StatusCode, begun.text)
	require.Equal(t, "/v1/support/jobs/"+eventID.String(), begun.Header.Get("Location"))
	require.Equal(t, []string{
		"begin replay map[account:acc received_from:2026-03-01T00:00:00Z received_to:2026-03-01T23:00:00Z type:x verdict:unmatched] ",
	}, d.asked)
	require.Equal(t, "r", d.reason)
	d.asked = nil
	begun = b.send(http.MethodPost, "/v1/support/discrepancies/resolve", strings.Replace(resolveAll, "true", "false", 1), as)
	require.Equal(t, http.StatusAccepted, begun.StatusCode, begun.text)
	require.Equal(t, []string{"begin resolve map[kind:disputed] accepted"}, d.asked)

	require.Equal(t, map[string]any{
		"job_id": eventID.String(), "kind": "replay", "status": "done", "total": 3.0, "done": 2.0, "counts": map[string]any{"applied": 1.0, "request-in-progress": 1.0},
		"filter": map[string]any{"account": hostile, "received_from": "2026-03-01T09:30:00.12Z"}, "resolution": nil, "reason": hostile, "by": "admin",
		"created_at": "2026-03-01T09:30:00.120000Z", "finished_at": "2026-03-01T09:30:00.120000Z",
	}, b.send(http.MethodGet, "/v1/support/jobs/"+eventID.String(), "", as).object(t))
	require.Equal(t, "next", b.send(http.MethodGet, "/v1/support/jobs", "", as).object(t)["next_cursor"])

	d.err = &bulk.RunningError{Job: job()}
	got := b.send(http.MethodPost, "/v1/support/events/replay", replayAll, as).is(t, 409, "job-running")
	require.Contains(t, got.Detail, "Job "+eventID.String()+" of admin is running.")
	require.False(t, got.Retryable)
	d.err = payment.ErrJobNotFound
	b.send(http.MethodPost, "/v1/support/jobs/"+eventID.String()+"/stop", because, as).is(t, 404, "not-found")
}

func TestBadRequestsOfManyAreRefused(t *testing.T) {
	t.Parallel()
	service := support.New(support.Options{Store: onlyDeeds{}})
	b := newBench(t, func(o *api.Options) { o.Support, o.Jobs = service, bulk.New(payment.OnlyCell, nil, service) })
	for call, want := range map[string]string{
		`events/replay {"filter":{},"reason":"r"}`:                                                        "filter",
		`events/replay {"reason":"r"}`:                                                                    "filter",
		`events/replay {"filter":{"account":"a"}}`:                                                        "reason",
		`events/replay {"filter":{"verdict":"lost"},"reason":"r"}`:                                        "filter.verdict",
		`events/replay {"filter":{"received_from":"soon"},"reason":"r"}`:                                  "filter.received_from",
		`events/replay {"filter":{"account":1},"reason":"r"}`:                                             "filter.account",
		`discrepancies/resolve {"filter":{},"resolution":"accepted","reason":"r"}`:                        "filter",
		`discrepancies/resolve {"filter":{"kind":"disputed"},"reason":"r"}`:                               "resolution",
		`discrepancies/resolve {"filter":{"kind":"disputed"},"resolution":"paid","reason":"r"}`:           "resolution",
		`discrepancies/resolve {"filter":{"kind":"lost"},"resolution":"accepted","reason":"r"}`:           "filter.kind",
		`discrepancies/resolve {"filter":{"opened_to":"2026-03-01"},"resolution":"accepted","reason":""}`: "filter.opened_to",
	} {
		path, body, _ := strings.Cut(call, " ")
		got := b.send(http.MethodPost, "/v1/support/"+path, body, "Authorization: Bearer admin").is(t, 422, "validation-failed")
		require.Equal(t, want, got.Errors[0].Field, call)
	}
	b.send(http.MethodPost, "/v1/support/events/replay", `{"filter":{"kind":"disputed"},"reason":"r"}`, "Authorization: Bearer admin").is(t, 400, "malformed-request")
	b.send(http.MethodPost, "/v1/support/discrepancies/resolve", resolveAll, "Authorization: Bearer support").is(t, 403, "forbidden")
	b.send(http.MethodPost, "/v1/support/jobs/"+eventID.String()+"/stop", "{}", "Authorization: Bearer support").is(t, 422, "validation-failed")
}
