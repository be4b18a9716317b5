package console

import (
	"encoding/base64"
	"net/http"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// eventView is the content of the page of a webhook.
type eventView struct {
	Frame
	support.ShownEvent
}

const (
	revealTitle = "Reveal raw payload"
	replayTitle = "Replay a webhook"
)

func (v *visit) showEvent() error {
	id, err := IDOf(v.Visit, support.ViewedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	e, err := v.Support.Event(v.R.Context(), v.Who, id)
	if err != nil {
		return err
	}
	return v.Show(eventPage(eventView{v.Frame("Webhook"), e}))
}

func (v *visit) askReveal() error {
	id, err := IDOf(v.Visit, support.RevealedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	return v.Show(revealPage(v.Frame(revealTitle), v.Form(eventPath(id.String()))))
}

// reveal responds with the bytes themselves: a redirect would have to keep them
// somewhere.
func (v *visit) reveal() error {
	id, err := IDOf(v.Visit, support.RevealedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	f := v.Sent(eventPath(id.String()))
	e, err := v.Support.Reveal(v.R.Context(), v.Who, id, f.Reason)
	if status, text := RefusalText(err); status == http.StatusUnprocessableEntity {
		f.Error = text
		Render(v.W, v.R, status, revealPage(v.Frame(revealTitle), f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.Show(revealedPage(v.Frame("Raw payload"), f, e, raw(e)))
}

// raw is the bytes as text; bytes that are not UTF-8 are in Base64.
func raw(e support.Event) string {
	if utf8.Valid(e.Body) {
		return string(e.Body)
	}
	return base64.StdEncoding.EncodeToString(e.Body)
}

// replayView is the content of the two steps of a replay: without Tried the first one.
type replayView struct {
	Frame
	Form
	// Tried is the outcome of the dry run.
	Tried string
}

func (v *visit) askReplay() error {
	id, err := IDOf(v.Visit, support.TriedReplay, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	return v.Show(replayPage(replayView{Frame: v.Frame(replayTitle), Form: v.Form(eventPath(id.String()))}))
}

// replay is a dry run first; its page has a form to confirm it.
func (v *visit) replay() error {
	sure := v.R.PostFormValue("sure") == "yes"
	id, err := IDOf(v.Visit, support.ReplayAction(!sure), "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	to, ctx, reason := eventPath(id.String()), v.R.Context(), v.R.PostFormValue("reason")
	again := func(f Form) templ.Component {
		return replayPage(replayView{Frame: v.Frame(replayTitle), Form: f})
	}
	if sure {
		return v.Once(v.Sent(to), to, again, func() (string, error) {
			r, err := v.Support.Replay(ctx, v.Who, id, reason, false)
			return support.ReplayText(r, false), err
		})
	}
	f := v.Sent(to)
	r, err := v.Support.Replay(ctx, v.Who, id, reason, true)
	if status, text := RefusalText(err); text != "" && (status == http.StatusUnprocessableEntity || status == http.StatusConflict) {
		f.Error = text
		Render(v.W, v.R, status, again(f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.Show(replayPage(replayView{Frame: v.Frame(replayTitle), Form: f, Tried: support.ReplayText(r, true)}))
}
