package console

import (
	"encoding/base64"
	"net/http"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// eventView is what the page of a webhook shows.
type eventView struct {
	frame
	support.ShownEvent
}

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
	return v.show(revealPage(v.frame("Show a webhook as it came"), v.form(eventPath(id.String()))))
}

// reveal answers with the bytes themselves: a redirect would have to keep them
// somewhere.
func (v *visit) reveal() error {
	id, err := idOf(v, support.RevealedEvent, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	f := v.sent(eventPath(id.String()))
	e, err := v.Support.Reveal(v.r.Context(), v.who, id, f.Reason)
	if status, said := refusal(err); status == http.StatusUnprocessableEntity {
		f.Error = said
		render(v.w, v.r, status, revealPage(v.frame("Show a webhook as it came"), f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.show(revealedPage(v.frame("A webhook as it came"), f, e, raw(e)))
}

// raw is the bytes as text; of bytes that are none, their Base64.
func raw(e support.Event) string {
	if utf8.Valid(e.Body) {
		return string(e.Body)
	}
	return base64.StdEncoding.EncodeToString(e.Body)
}

// replayView is what the two steps of a replay show: without Tried the first one.
type replayView struct {
	frame
	form
	// Tried is what a dry run came to.
	Tried string
}

func (v *visit) askReplay() error {
	id, err := idOf(v, support.TriedReplay, "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	return v.show(replayPage(replayView{frame: v.frame("Apply a webhook again"), form: v.form(eventPath(id.String()))}))
}

// replay is a dry run first; its page asks whether it is to be done.
func (v *visit) replay() error {
	sure := v.r.PostFormValue("sure") == "yes"
	id, err := idOf(v, support.ReplayAction(!sure), "event", payment.ParseEventID)
	if err != nil {
		return err
	}
	to, ctx, reason := eventPath(id.String()), v.r.Context(), v.r.PostFormValue("reason")
	again := func(f form) templ.Component {
		return replayPage(replayView{frame: v.frame("Apply a webhook again"), form: f})
	}
	if sure {
		return v.once(v.sent(to), to, again, func() (string, error) {
			r, err := v.Support.Replay(ctx, v.who, id, reason, false)
			return support.ReplayText(r, false), err
		})
	}
	f := v.sent(to)
	r, err := v.Support.Replay(ctx, v.who, id, reason, true)
	if status, said := refusal(err); said != "" && (status == http.StatusUnprocessableEntity || status == http.StatusConflict) {
		f.Error = said
		render(v.w, v.r, status, again(f))
		return nil
	}
	if err != nil {
		return err
	}
	return v.show(replayPage(replayView{frame: v.frame("Apply a webhook again"), form: f, Tried: support.ReplayText(r, true)}))
}
