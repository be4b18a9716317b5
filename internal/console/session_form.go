package console

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/google/uuid"
)

// Form is a form as it is shown first.
func (v *Visit) Form(back string) Form {
	return Form{Path: v.R.URL.Path, Back: back, Key: uuid.NewString()}
}

// Sent is the form as it came back.
func (v *Visit) Sent(back string) Form {
	f := v.Form(back)
	if key := v.R.PostFormValue("key"); uuid.Validate(key) == nil {
		f.Key = key
	}
	f.Reason = v.R.PostFormValue("reason")
	return f
}

// Once does a form's action and shows its outcome on the page to. The same form again
// leads there without doing it again. A refusal that can be corrected is shown beside the
// form, which may be sent again.
func (v *Visit) Once(f Form, to string, again func(f Form) templ.Component, do func() (string, error)) error {
	if v.outcomeOf(v.R, f.Key) == "" {
		return v.Keyed(f, to, again, do)
	}
	http.Redirect(v.W, v.R, withDone(to, f.Key), http.StatusSeeOther)
	return nil
}

// Keyed is Once for an action that is idempotent under the form's key. It calls the action each time, so that a repeated key with
// other values is refused.
func (v *Visit) Keyed(f Form, to string, again func(f Form) templ.Component, do func() (string, error)) error {
	text, err := do()
	if status, text := RefusalText(err); text != "" && status < http.StatusInternalServerError && status != http.StatusForbidden && status != http.StatusNotFound {
		f.Error = text
		Render(v.W, v.R, status, again(f))
		return nil
	}
	if err != nil {
		return err
	}
	v.remember(v.R, outcome{f.Key, text})
	http.Redirect(v.W, v.R, withDone(to, f.Key), http.StatusSeeOther)
	return nil
}

func withDone(to, key string) string {
	u, _ := url.Parse(to)
	q := u.Query()
	q.Set("done", key)
	u.RawQuery = q.Encode()
	return u.String()
}
