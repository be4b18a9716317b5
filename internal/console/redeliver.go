package console

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// redeliverView is the content of the form that sends events again: one, or all behind a cursor. The latter has two steps, without
// Sure the first one.
type redeliverView struct {
	Frame
	Form
	// Name is that of the endpoint.
	Name string
	// Event is the one to send again; empty for all behind a cursor.
	Event string
	// After is the typed cursor. All stands for the oldest stored event.
	After string
	All   bool
	// Sure is the sentence that the person confirms.
	Sure string
}

// redelivery is the event or the cursor that the form names.
type redelivery struct {
	event  uuid.UUID
	cursor outbox.Cursor
}

func (v *visit) redeliverView(s endpointStatus, value func(name string) string) redeliverView {
	return redeliverView{
		Frame: v.Frame(redeliverTitle), Name: s.Name,
		Event: value("event"), After: value("after"), All: value("from") == "oldest",
	}
}

func (v *visit) askRedeliver() error {
	s, err := v.actedOn(support.Redelivered)
	if err != nil {
		return err
	}
	view := v.redeliverView(s, v.Query)
	view.Form = v.Form(endpointPath(s.Name))
	return v.Show(redeliverPage(view))
}

// redeliver sends one event again at once. It sends all events behind a cursor after a confirmation.
func (v *visit) redeliver() error {
	s, err := v.actedOn(support.Redelivered)
	if err != nil {
		return err
	}
	view, to := v.redeliverView(s, v.R.PostFormValue), endpointPath(s.Name)
	again := func(f Form) templ.Component {
		view.Form = f
		return redeliverPage(view)
	}
	f := v.Sent(to)
	wanted, err := view.read(s)
	if err == nil && view.Event == "" && strings.TrimSpace(f.Reason) != "" && v.R.PostFormValue("sure") != "yes" {
		view.Form, view.Sure = f, view.confirmed(s, wanted)
		return v.Show(redeliverPage(view))
	}
	return v.Once(f, to, again, func() (string, error) {
		if err != nil {
			return "", err
		}
		return view.outcome(), v.AuditLog.Act(v.R.Context(), v.Who, support.Redelivered, "endpoint", s.Name, f.Reason, func() error {
			if view.Event != "" {
				return v.Endpoints.RedeliverEvents(v.R.Context(), s.Name, []uuid.UUID{wanted.event})
			}
			return v.Endpoints.RedeliverAfter(v.R.Context(), s.Name, wanted.cursor)
		})
	})
}

// read parses the form. It returns ErrNoEvent, ErrNoCursor or endpoint.ErrAhead for invalid input.
func (r redeliverView) read(s endpointStatus) (wanted redelivery, err error) {
	switch {
	case r.Event != "":
		if wanted.event, err = uuid.Parse(r.Event); err != nil {
			return wanted, ErrNoEvent
		}
		return wanted, nil
	case r.All:
		return redelivery{cursor: outbox.Beginning()}, nil
	case r.After == "":
		return wanted, ErrNoCursor
	}
	if wanted.cursor, err = outbox.ParseCursor(r.After); err == nil && wanted.cursor.Position > s.Cursor.Position {
		err = endpoint.ErrAhead
	}
	return wanted, err
}

// confirmed returns the sentence that the person confirms.
func (r redeliverView) confirmed(s endpointStatus, wanted redelivery) string {
	if r.All {
		return "paylatch will send " + s.Name + " all stored events of its types, in their order."
	}
	return "paylatch will send " + s.Name + " again the events of its types after the cursor " + r.After + ", in their order: at most " +
		strconv.FormatInt(int64(s.Cursor.Position-wanted.cursor.Position), 10) + " events."
}

func (r redeliverView) outcome() string {
	if r.Event != "" {
		return "paylatch will send the event again; the list below will show the attempt."
	}
	return "paylatch will send the events again; the list below will show the attempts."
}
