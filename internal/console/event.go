package console

import (
	"encoding/base64"
	"net/http"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// eventView is the content of the page of a webhook.
type eventView struct {
	frame
	support.ShownEvent
}

const (
	revealTitle = "Reveal raw payload"
	replayTitle = "Replay a webhook"
)

func (v *visit) showEvent() error {
	id, err := idOf(v, support.ViewedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	e, err := v.Support.Event(v.r.Context(), v.who, id)
	if err != nil {
		return err
	}
	return v.show(eventPage(eventView{v.frame("Webhook"), e}))
}

func (v *visit) askReveal() error {
	id, err := idOf(v, support.RevealedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	return v.show(revealPage(v.frame(revealTitle), v.form(eventPath(id.String()))))
}

// reveal responds with the bytes themselves: a redirect would have to keep them
// somewhere.
func (v *visit) reveal() error {
	id, err := idOf(v, support.RevealedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	f := v.sent(eventPath(id.String()))
	e, err := v.Support.Reveal(v.r.Context(), v.who, id, f.Reason)
	if status, text := refusal(err); status == http.StatusUnprocessableEntity {
		f.Error = text
		render(v.w, v.r, status, revealPage(v.frame(revealTitle), f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.show(revealedPage(v.frame("Raw payload"), f, e, raw(e)))
}

// raw is the bytes as text; of bytes that are none, their Base64.
func raw(e support.Event) string {
	if utf8.Valid(e.Body) {
		return string(e.Body)
	}
	return base64.StdEncoding.EncodeToString(e.Body)
}

// replayView is the content of the two steps of a replay: without Tried the first one.
type replayView struct {
	frame
	form
	// Tried is the outcome of the dry run.
	Tried string
}

func (v *visit) askReplay() error {
	id, err := idOf(v, support.TriedReplay, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	return v.show(replayPage(replayView{frame: v.frame(replayTitle), form: v.form(eventPath(id.String()))}))
}

// replay is a dry run first; its page has a form to confirm it.
func (v *visit) replay() error {
	sure := v.r.PostFormValue("sure") == "yes"
	id, err := idOf(v, support.ReplayAction(!sure), "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	to, ctx, reason := eventPath(id.String()), v.r.Context(), v.r.PostFormValue("reason")
	again := func(f form) templ.Component {
		return replayPage(replayView{frame: v.frame(replayTitle), form: f})
	}
	if sure {
		return v.once(v.sent(to), to, again, func() (string, error) {
			r, err := v.Support.Replay(ctx, v.who, id, reason, false)
			return support.ReplayText(r, false), err
		})
	}
	f := v.sent(to)
	r, err := v.Support.Replay(ctx, v.who, id, reason, true)
	if status, text := refusal(err); text != "" && (status == http.StatusUnprocessableEntity || status == http.StatusConflict) {
		f.Error = text
		render(v.w, v.r, status, again(f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.show(replayPage(replayView{frame: v.frame(replayTitle), form: f, Tried: support.ReplayText(r, true)}))
}
