package providertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Parse requires that a genuine delivery gives sound events, for any content.
func Parse(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) {
	t.Helper()
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.NotEmpty(t, events)
	for _, e := range events {
		RequireSound(t, e)
	}
}

// Flip changes one byte of the signed text or of the signature, and requires that the delivery is refused as not
// genuine.
func Flip(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, headers []string, place uint, mask byte) {
	t.Helper()
	if mask == 0 {
		return
	}
	if n := uint(len(d.Body)); place < n {
		d.Body[place] ^= mask
		Forged(t, v, d)
		return
	}
	place -= uint(len(d.Body))
	name := headers[place%uint(len(headers))]
	value := []byte(d.Header.Get(name))
	original := string(value)
	value[place/uint(len(headers))%uint(len(value))] ^= mask
	if name != "Webhook-Id" && original == strings.ToLower(original) && strings.EqualFold(original, string(value)) {
		return // hex, which base64 of a digest never looks like, may be in either case
	}
	d.Header.Set(name, string(value))
	Forged(t, v, d)
}

// Forged requires that d is refused as not genuine.
func Forged(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) {
	t.Helper()
	err := Refused(t, v, d)
	require.True(t, errors.Is(err, webhooks.ErrSignatureInvalid) || errors.Is(err, webhooks.ErrSignatureMalformed) ||
		errors.Is(err, webhooks.ErrSignatureMissing), "%v", err)
}

// Same changes one byte of the body of a genuine delivery, and requires that the delivery is refused or gives the same
// events, except for the fields that forget erases.
func Same(t *testing.T, v webhooks.Verifier, d webhooks.Delivery, place uint, mask byte, forget func(*webhooks.Event)) {
	t.Helper()
	if len(d.Body) == 0 || mask == 0 {
		return
	}
	before, err := v.Verify(t.Context(), d)
	if err != nil {
		return
	}
	d.Body = []byte(string(d.Body))
	d.Body[place%uint(len(d.Body))] ^= mask
	after, err := v.Verify(t.Context(), d)
	if err != nil {
		RequireSentinel(t, err)
		return
	}
	require.Len(t, after, len(before))
	for i := range before {
		forget(&before[i])
		forget(&after[i])
	}
	require.Equal(t, before, after)
}
