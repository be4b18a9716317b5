package console

import (
	"embed"
	"net/http"

	"github.com/paylatch/paylatch/internal/platform/page"
	"github.com/paylatch/paylatch/internal/platform/throttle"
)

//go:embed assets
var assets embed.FS

// handler shows a page, or returns why it can't.
type handler func(v *visit) error

// New returns the console, to be mounted at /support and /support/.
func New(o Options) http.Handler {
	c := &console{Options: o, searches: throttle.New(searchesEach, searchesAtOnce)}
	o.SignIn.Polled = []string{ChangesPath, Path}
	entrance := NewEntrance(o.SignIn)
	staff := func(show handler) http.Handler {
		return entrance.Staff(func(v *Visit) error { return show(&visit{v, c}) })
	}
	pages := http.NewServeMux()
	entrance.Route(pages)
	all := ListPages{Lists: o.Lists, Zone: o.Clocks.Location()}
	for path, show := range map[string]func(*Visit) error{
		"/support/payments": all.Payments, "/support/refunds": all.Refunds, "/support/payments.csv": all.PaymentsFile,
		"/support/orders.csv": all.OrdersFile, "/support/refunds.csv": all.RefundsFile,
	} {
		pages.Handle("GET "+path, entrance.Staff(show))
	}
	for path, show := range map[string]handler{
		"/support":                            (*visit).showSearch,
		"/support/today":                      func(v *visit) error { return showTodayNumbers(v.Visit, v.Overview) },
		"/support/attempts/{id}":              (*visit).showAttempt,
		"/support/attempts/{id}/recheck":      (*visit).askRecheck,
		"/support/attempts/{id}/refund":       (*visit).askRefund,
		"/support/orders":                     (*visit).showOrder,
		"/support/events/{id}":                (*visit).showEvent,
		"/support/events/{id}/reveal":         (*visit).askReveal,
		"/support/events/{id}/replay":         (*visit).askReplay,
		"/support/disputes":                   (*visit).showDisputes,
		monthPath:                             (*visit).showMonth,
		entriesPath:                           (*visit).showEntries,
		"/support/endpoints":                  (*visit).showEndpoints,
		"/support/endpoints/{name}":           ofOne("Endpoint", (*visit).showEndpoint),
		"/support/endpoints/{name}/test":      ofOne(testTitle, (*visit).askTest),
		"/support/endpoints/{name}/redeliver": ofOne(redeliverTitle, (*visit).askRedeliver),
		"/support/jobs":                       (*visit).showJobs,
		"/support/jobs/newest":                (*visit).showNewestJob,
		"/support/jobs/{id}":                  (*visit).showJob,
		"/support/jobs/{id}/stop":             (*visit).askStopJob,
		replayManyPath:                        ofOne(replayManyTitle, (*visit).askReplayMany),
		resolveManyPath:                       ofOne(resolveManyTitle, (*visit).askResolveMany),
		"/support/audit":                      (*visit).showAudit,
		"/support/":                           (*visit).showNothing,
	} {
		pages.Handle("GET "+path, staff(show))
	}
	for path, do := range map[string]handler{
		"/support/attempts/{id}/recheck":      (*visit).recheck,
		"/support/attempts/{id}/refund":       (*visit).refund,
		"/support/events/{id}/reveal":         (*visit).reveal,
		"/support/events/{id}/replay":         (*visit).replay,
		"/support/jobs/{id}/stop":             (*visit).stopJob,
		replayManyPath:                        ofOne(replayManyTitle, (*visit).replayMany),
		resolveManyPath:                       ofOne(resolveManyTitle, (*visit).resolveMany),
		"/support/endpoints/{name}/test":      ofOne(testTitle, (*visit).test),
		"/support/endpoints/{name}/redeliver": ofOne(redeliverTitle, (*visit).redeliver),
	} {
		pages.Handle("POST "+path, staff(do))
	}
	for pattern, serve := range worklistPages(c.worklist()) {
		pages.Handle(pattern, entrance.Staff(serve))
	}
	for _, room := range []map[string]Handler{requestRoutes(o.Requests, o.Support.Attempt), customerRoutes(o.Customers)} {
		for pattern, show := range room {
			pages.Handle(pattern, entrance.Staff(show))
		}
	}
	guarded := http.NewServeMux()
	guarded.Handle("GET /support/assets/", http.StripPrefix("/support/assets", page.Files(assets)))
	guarded.Handle("/", entrance.Guard(pages))
	return page.Secured(guarded)
}
