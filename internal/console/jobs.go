package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/bulk"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Jobs is the use cases of acts on many webhooks or discrepancies; *bulk.Service in the program.
type Jobs interface {
	Try(ctx context.Context, who support.Staff, o bulk.Order) (bulk.Counts, error)
	Begin(ctx context.Context, who support.Staff, o bulk.Order) (bulk.Job, error)
	Job(ctx context.Context, who support.Staff, id uuid.UUID) (bulk.Job, error)
	Jobs(ctx context.Context, who support.Staff, p support.Page) ([]bulk.Job, string, error)
	Stop(ctx context.Context, who support.Staff, id uuid.UUID, reason string) (bulk.Job, error)
}

// manyView is the content of the two steps of an act on many: without Tried the first one.
type manyView struct {
	Frame
	Form
	bulk.Order
	// Since and Until are the bounds as they were typed.
	Since, Until string
	// Tried is the counts of a dry run.
	Tried *bulk.Counts
}

const (
	jobsPath         = "/support/jobs"
	replayManyPath   = "/support/events/replay"
	resolveManyPath  = "/support/discrepancies/resolve"
	replayManyTitle  = "Replay webhooks"
	resolveManyTitle = "Resolve what needs review"
	// refreshSeconds is how often the page of a running job is loaded again, by the browser itself.
	refreshSeconds = "5"
)

func jobPath(id uuid.UUID) string { return jobsPath + "/" + id.String() }

// many returns the view of the form from the values of the request's form or of its address.
func (v *visit) many(kind bulk.Kind, value func(name string) string) manyView {
	view := manyView{
		Frame: v.Frame(replayManyTitle), Since: value("since"), Until: value("until"),
		Order: bulk.Order{Kind: kind, Reason: value("reason"), Filter: bulk.Filter{
			Account: strings.TrimSpace(value("account")), Verdict: value("verdict"), Type: strings.TrimSpace(value("type")),
		}},
	}
	if kind == bulk.Resolve {
		view.Title, view.Resolution = resolveManyTitle, payment.Resolution(value("resolution"))
		view.Filter = bulk.Filter{Account: view.Filter.Account, Kind: value("kind")}
	}
	return view
}

func (v *visit) askReplayMany() error { return v.askMany(bulk.Replay, "/support") }

func (v *visit) askResolveMany() error {
	if err := v.Who.Require(payment.RoleAdmin); err != nil {
		return v.AuditLog.Refuse(v.R.Context(), v.Who, support.ResolvedMany, "discrepancies", "", err)
	}
	return v.askMany(bulk.Resolve, WorklistPath)
}

func (v *visit) askMany(kind bulk.Kind, back string) error {
	view := v.many(kind, v.Query)
	view.Form = v.Form(back)
	return v.Show(manyPage(view))
}

func (v *visit) replayMany() error { return v.doMany(bulk.Replay, "/support") }

func (v *visit) resolveMany() error { return v.doMany(bulk.Resolve, WorklistPath) }

// doMany counts first; that page has a form to confirm it.
func (v *visit) doMany(kind bulk.Kind, back string) error {
	view, f, ctx := v.many(kind, v.R.PostFormValue), v.Sent(back), v.R.Context()
	again := func(f Form) templ.Component {
		view.Form = f
		return manyPage(view)
	}
	counted := v.Now()
	o, err := view.Between(view.Since, view.Until)
	if v.R.PostFormValue("sure") == "yes" {
		return v.Once(f, jobsPath+"/newest", again, func() (string, error) {
			if err != nil {
				return "", err
			}
			if v.R.PostFormValue("cell") != v.Cell { // another page of the same browser has chosen it meanwhile
				return "", ErrOtherCell
			}
			_, err := v.Jobs.Begin(ctx, v.Who, o)
			return "The job has started. It continues if you leave this page.", err
		})
	}
	var counts bulk.Counts
	if err == nil {
		counts, err = v.Jobs.Try(ctx, v.Who, o)
	}
	if status, text := RefusalText(err); status == http.StatusUnprocessableEntity {
		f.Error = text
		Render(v.W, v.R, status, again(f))
		return nil
	}
	if err != nil {
		return err
	}
	if view.Until == "" { // the confirmation does not cover events that come later
		view.Until = counted.UTC().Format(time.RFC3339Nano)
	}
	view.Form, view.Tried = f, &counts
	return v.Show(manyPage(view))
}

// jobsView is the content of the list of jobs.
type jobsView struct {
	Frame
	List    []bulk.Job
	Further string
	// Everywhere is set where the list is of several cells.
	Everywhere bool
}

// where is the cell that a job runs in, if the list is of several.
func (j jobsView) where(job bulk.Job) string {
	if !j.Everywhere {
		return ""
	}
	return " in cell " + strconv.Itoa(int(payment.CellOf(job.ID)))
}

func (v *visit) showJobs() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	list, next, err := v.Jobs.Jobs(v.R.Context(), v.Who, p)
	if err = v.Left(err); err != nil {
		return err
	}
	return v.Show(jobsPage(jobsView{v.Frame("Bulk jobs"), list, v.Further(next), v.Everywhere()}))
}

// showNewestJob leads to the job that the person began last.
func (v *visit) showNewestJob() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	list, _, err := v.Jobs.Jobs(v.R.Context(), v.Who, p)
	if err != nil {
		return err
	}
	to := jobsPath
	if i := slices.IndexFunc(list, func(j bulk.Job) bool { return j.By.Subject == v.Who.Person() }); i >= 0 {
		to = jobPath(list[i].ID)
	}
	http.Redirect(v.W, v.R, to+"?"+url.Values{"done": {v.Query("done")}}.Encode(), http.StatusSeeOther)
	return nil
}

// jobView is the content of the page of a job, and of the form that stops it.
type jobView struct {
	Frame
	Form
	bulk.Job
}

// MayStop reports whether the person may stop it.
func (j jobView) MayStop() bool { return j.State == bulk.Running && (j.Admin || j.Who == j.By.Subject) }

func (v *visit) showJob() error {
	id, err := IDOf(v.Visit, support.ViewedJob, "job", bulk.ParseJobID)
	if err != nil {
		return err
	}
	j, err := v.Jobs.Job(v.R.Context(), v.Who, id)
	if err != nil {
		return err
	}
	if j.State == bulk.Running {
		v.W.Header().Set("Refresh", refreshSeconds)
	}
	return v.Show(jobPage(jobView{Frame: v.Frame("Bulk jobs"), Job: j}))
}

const stopTitle = "Stop"

func (v *visit) askStopJob() error {
	id, err := IDOf(v.Visit, support.StoppedJob, "job", bulk.ParseJobID)
	if err != nil {
		return err
	}
	return v.Show(stopJobPage(v.Frame(stopTitle), v.Form(jobPath(id))))
}

func (v *visit) stopJob() error {
	id, err := IDOf(v.Visit, support.StoppedJob, "job", bulk.ParseJobID)
	if err != nil {
		return err
	}
	to := jobPath(id)
	again := func(f Form) templ.Component { return stopJobPage(v.Frame(stopTitle), f) }
	return v.Once(v.Sent(to), to, again, func() (string, error) {
		j, err := v.Jobs.Stop(v.R.Context(), v.Who, id, v.R.PostFormValue("reason"))
		if j.State == bulk.Done {
			return "The job had already ended.", err
		}
		return "The job is stopped. Finished items are not undone.", err
	})
}

// jobWords describe the action of a job.
func jobWords(o bulk.Order) string {
	if o.Kind == bulk.Replay {
		return "Replay webhooks"
	}
	return "Resolve as " + resolutionWords(o.Resolution)
}

// pairs returns the members of a filter, or counts, in a steady order.
func pairs[T any](m map[string]T, text func(T) string) [][2]string {
	out := make([][2]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, [2]string{strings.ReplaceAll(name, "_", " "), text(m[name])})
	}
	return out
}

func countsOf(m map[string]int64) [][2]string {
	return pairs(m, func(n int64) string { return strconv.FormatInt(n, 10) })
}

func filterOf(o bulk.Order) [][2]string {
	return pairs(o.Filter.Members(o.Kind), func(text string) string { return text })
}

// howMany is a number of things in words.
func howMany(n int64, o bulk.Order) string {
	text := strconv.FormatInt(n, 10)
	switch {
	case o.Kind == bulk.Replay && n == 1:
		return text + " webhook"
	case o.Kind == bulk.Replay:
		return text + " webhooks"
	case n == 1:
		return text + " case of the worklist"
	}
	return text + " cases of the worklist"
}
