package providertest

import (
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are the values that replace a form's field, one after the other. The first stands for the field's absence.
var texts = []string{
	"", "", "null", "0", "-1", "5", "19.99", "1e3", "99999999999999999999", "x", "1,5", "XYZ", "0.001", "1:2", "a=b&c", "{}", "5x", "\x00", "\xff", "😀",
}

// GenuineForm fuzzes genuine deliveries of a form, or of a query string, as [Genuine] does those of JSON: one field is
// deleted, replaced, or repeated with another value, and the delivery is signed again. A form that can't be signed must be
// refusable for the same reason. topics are the topics of the provider's addresses, empty if it has only one address.
func GenuineForm(f *testing.F, v VerifySigner, may Refusable, topics []string, forms ...string) {
	f.Helper()
	topics = append(topics, "")
	for i, form := range forms {
		for how := range 2 * len(texts) {
			f.Add([]byte(form), uint(i+how), uint(how), uint(how/len(topics)))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, place, how, topic uint) {
		form, err := url.ParseQuery(string(body))
		if err != nil || len(form) == 0 {
			return // a body that is no form has no signature either; FuzzVerify covers it
		}
		names := slices.Sorted(maps.Keys(form))
		name, text := names[place%uint(len(names))], texts[how%uint(len(texts))]
		switch twice := how/uint(len(texts))%2 == 1; {
		case twice:
			form.Add(name, text)
		case how%uint(len(texts)) == 0:
			form.Del(name)
		default:
			form.Set(name, text)
		}
		d := Unsigned(form.Encode())
		d.Topic = topics[topic%uint(len(topics))]
		if err := v.Sign(&d); err != nil {
			require.True(t, may != nil && may(d, err), "%v: %s", err, d.Body)
			return
		}
		requireTaken(t, v, d, may)
	})
}
