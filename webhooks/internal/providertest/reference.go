package providertest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// BegunElsewhere requires that the event of a genuine delivery names an attempt, before anything else, by each of the two
// that the provider takes for its payment alone: the text beside no metadata, and the metadata beside a text of the shop's
// own.
func BegunElsewhere(t *testing.T, v VerifySigner, form webhooks.ReferenceForm, body func(text string, metadata map[string]string) string) {
	t.Helper()
	const attempt = "0199b2f4-5a7e-7c31-9d3e-2f6a8b1c4d5e"
	text, metadata := form.For(attempt)
	require.NotEmpty(t, text+form.MetadataKey)
	names := func(body string) {
		t.Helper()
		e := Parsed(t, v, body)
		require.NotEqual(t, webhooks.KindIgnored, e.Kind, body)
		require.NotEmpty(t, e.ProviderPaymentID+e.Container, body)
		require.NotEmpty(t, e.References, body)
		require.Equal(t, attempt, e.References[0], body)
	}
	if text != "" {
		names(body(text, nil))
	}
	if metadata != nil {
		names(body("A-17", metadata))
	}
}

// JSON returns the object of metadata, null where there are none.
func JSON(metadata map[string]string) string {
	raw, err := json.Marshal(metadata)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
