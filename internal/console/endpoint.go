package console

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
	"github.com/paylatch/paylatch/internal/payment"
)

// Endpoints are where events for the merchant are delivered; *endpoint.Service in the program.
type Endpoints interface {
	List(ctx context.Context) ([]endpoint.Status, error)
	Attempts(ctx context.Context, name string, before int64, failed bool, limit int) ([]endpoint.Attempt, error)
	Test(ctx context.Context, name string) (endpoint.Attempt, error)
	RedeliverAfter(ctx context.Context, name string, cursor outbox.Cursor) error
	RedeliverEvents(ctx context.Context, name string, ids []uuid.UUID) error
}

// attemptsEach is how many attempts to deliver a page has.
const attemptsEach = 25

const (
	testTitle      = "Send a test"
	redeliverTitle = "Send again"
)

// endpointStatus is how far an endpoint is, at a time.
type endpointStatus struct {
	endpoint.Status

	Now time.Time
}

// path is the endpoint's page, of the cell that its events come from.
func (s endpointStatus) path() templ.SafeURL {
	if s.Cell == nil {
		return templ.SafeURL(endpointPath(s.Name))
	}
	return CellPath(endpointPath(s.Name), strconv.Itoa(*s.Cell))
}

// Timed reports whether a time of day is shown of it.
func (s endpointStatus) Timed() bool {
	return !s.Oldest.IsZero() || s.LastSuccess != nil || s.LastFailure != nil
}

// endpointsView is the content of the page of all endpoints.
type endpointsView struct {
	Frame
	List []endpointStatus
}

// Timed reports whether a time of day is on the page.
func (e endpointsView) Timed() bool { return slices.ContainsFunc(e.List, endpointStatus.Timed) }

func (v *visit) showEndpoints() error {
	var list []endpoint.Status
	err := v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedEndpoints, "endpoint", "", func() (err error) {
		list, err = v.Endpoints.List(v.R.Context())
		return err
	})
	if err = v.Left(err); err != nil {
		return err
	}
	view := endpointsView{Frame: v.Frame("Endpoints")}
	for _, s := range list {
		view.List = append(view.List, endpointStatus{s, v.Now()})
	}
	return v.Show(endpointsPage(view))
}

// endpointView is the content of the page of an endpoint: how far it is, and a part of its log.
type endpointView struct {
	Frame
	endpointStatus
	Log     []endpoint.Attempt
	Failed  bool
	Further string
}

// Timed reports whether a time of day is on the page.
func (e endpointView) Timed() bool { return len(e.Log) > 0 || e.endpointStatus.Timed() }

func (v *visit) showEndpoint() error {
	before, err := v.beforeAttempt()
	if err != nil {
		return err
	}
	name := v.R.PathValue("name")
	view := endpointView{Failed: v.Query("failed") == "true"}
	err = v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedDeliveries, "endpoint", name, func() (err error) {
		if view.endpointStatus, err = v.endpoint(name); err != nil {
			return err
		}
		view.Log, err = v.Endpoints.Attempts(v.R.Context(), name, before, view.Failed, attemptsEach+1)
		return err
	})
	if err != nil {
		return err
	}
	if len(view.Log) > attemptsEach {
		view.Log = view.Log[:attemptsEach]
		view.Further = v.Further(strconv.FormatInt(view.Log[attemptsEach-1].Number, 10))
	}
	view.Frame = v.Frame("Endpoint " + name)
	return v.Show(endpointPage(view))
}

// beforeAttempt is the attempt that the wanted part of a log is before; 0 for the newest part.
func (v *visit) beforeAttempt() (int64, error) {
	text := v.Query("cursor")
	if text == "" {
		return 0, nil
	}
	before, err := strconv.ParseInt(text, 10, 64)
	if err != nil || before < 1 {
		return 0, payment.Invalid("cursor", "must be a cursor of an earlier page")
	}
	return before, nil
}

// endpoint is how far an endpoint is. It returns endpoint.ErrNotFound.
func (v *visit) endpoint(name string) (endpointStatus, error) {
	list, err := v.Endpoints.List(v.R.Context())
	if err != nil {
		return endpointStatus{}, err
	}
	i := slices.IndexFunc(list, func(s endpoint.Status) bool { return s.Name == name })
	if i < 0 {
		return endpointStatus{}, endpoint.ErrNotFound
	}
	return endpointStatus{list[i], v.Now()}, nil
}

// actedOn returns the endpoint of an action. It audits an action on a missing endpoint.
func (v *visit) actedOn(action support.Action) (endpointStatus, error) {
	name := v.R.PathValue("name")
	s, err := v.endpoint(name)
	if err != nil {
		err = v.AuditLog.Refuse(v.R.Context(), v.Who, action, "endpoint", name, err)
	}
	return s, err
}

func (v *visit) askTest() error {
	s, err := v.actedOn(support.TestedEndpoint)
	if err != nil {
		return err
	}
	return v.Show(testPage(v.Frame(testTitle), v.Form(endpointPath(s.Name)), s.Name))
}

func (v *visit) test() error {
	s, err := v.actedOn(support.TestedEndpoint)
	if err != nil {
		return err
	}
	to := endpointPath(s.Name)
	again := func(f Form) templ.Component { return testPage(v.Frame(testTitle), f, s.Name) }
	return v.Once(v.Sent(to), to, again, func() (text string, err error) {
		err = v.AuditLog.Act(v.R.Context(), v.Who, support.TestedEndpoint, "endpoint", s.Name, v.R.PostFormValue("reason"), func() error {
			a, err := v.Endpoints.Test(v.R.Context(), s.Name)
			text = tested(a)
			return err
		})
		return text, err
	})
}

// tested describes the result of a test event.
func tested(a endpoint.Attempt) string {
	if a.Error != "" {
		return "The endpoint did not accept the test event (" + took(a) + "): " + a.Error
	}
	return "The endpoint accepted the test event (status " + answered(a) + ", " + took(a) + ")."
}

// answered is the status of a response in words.
func answered(a endpoint.Attempt) string {
	if a.Status == 0 {
		return "no response"
	}
	return strconv.Itoa(a.Status)
}

func took(a endpoint.Attempt) string { return strconv.FormatInt(a.Took.Milliseconds(), 10) + " ms" }

// undelivered describes the events that are not delivered to an endpoint.
func undelivered(s endpointStatus) string {
	var texts []string
	if s.State == endpoint.Gone {
		texts = append(texts, "The endpoint answered 410 (Gone). paylatch sends it no events until its address changes or events are redelivered.")
	}
	switch {
	case s.Dead == 1:
		texts = append(texts, "1 event was given up after the last try. The shop does not have this event; redeliver it.")
	case s.Dead > 1:
		texts = append(texts, strconv.FormatInt(s.Dead, 10)+" events were given up after the last try. The shop does not have these events; redeliver them.")
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, " ")
	case s.Oldest.IsZero():
		return "All events are delivered."
	}
	return "The oldest undelivered event is " + Age(s.Now.Sub(s.Oldest)) + " old."
}

// health is the endpoint's state as a word, "failing" for an endpoint that does not get all events.
func (s endpointStatus) health() string {
	if s.Dead > 0 && s.State == endpoint.Active {
		return "failing"
	}
	return string(s.State)
}

func endpointPath(name string) string { return "/support/endpoints/" + url.PathEscape(name) }

// redeliverPath is the form that sends one event again.
func redeliverPath(name string, event uuid.UUID) string {
	return endpointPath(name) + "/redeliver?event=" + event.String()
}

// redeliverFromPath is the form that sends an event and all behind it again.
func redeliverFromPath(s endpointStatus, at outbox.Position) string {
	return endpointPath(s.Name) + "/redeliver?after=" + outbox.Cursor{Epoch: s.Cursor.Epoch, Position: at - 1}.String()
}
