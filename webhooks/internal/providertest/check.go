package providertest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Say is an event in one line.
func Say(e webhooks.Event) string {
	text := string(e.Kind)
	if e.Money != nil {
		text += fmt.Sprintf(" %d %s", e.Money.Minor, e.Money.Currency)
	}
	if e.Cumulative {
		text += " so far"
	}
	if len(e.References) > 0 {
		text += " of " + strings.Join(e.References, " ")
	}
	if e.RefundID+e.RefundReference != "" {
		text += " by " + e.RefundID + "/" + e.RefundReference
	}
	if e.MovementID != "" {
		text += " moving " + e.MovementID
	}
	if e.FailureCode != "" {
		text += " for " + string(e.FailureCode) + "/" + e.ProviderCode
	}
	if e.PageOpen {
		text += ", page open"
	}
	if e.NeedsFetch {
		text += ", ask"
	}
	return text
}

// Says signs each body and compares its one event, as [Say] writes it.
func Says(t *testing.T, v VerifySigner, bodies map[string]string) {
	t.Helper()
	for body, want := range bodies {
		require.Equal(t, want, Say(Parsed(t, v, body)), body)
	}
}

// Unreadable requires that genuine deliveries of the bodies can't be read.
func Unreadable(t *testing.T, v VerifySigner, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		RequireUnreadable(t, v, Signed(t, v, body))
	}
}

// RequireUnreadable requires that d is genuine and can't be read: one event, by the proof and by the reader, which the
// provider takes to have been received. It returns that event.
func RequireUnreadable(t *testing.T, v webhooks.Verifier, d webhooks.Delivery) webhooks.Event {
	t.Helper()
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err, string(d.Body))
	require.Len(t, events, 1, string(d.Body))
	e := events[0]
	RequireSound(t, e)
	require.Equal(t, webhooks.KindUnreadable, e.Kind, string(d.Body))
	require.Equal(t, http.StatusOK, v.Ack(d, events).Status)
	reader, ok := v.(webhooks.Reader)
	require.True(t, ok)
	again := reader.Read(d)
	require.Len(t, again, 1)
	require.Equal(t, e.ID, again[0].ID)
	require.Equal(t, e.Unreadable, again[0].Unreadable)
	return e
}

// Rotation requires that each of two secrets is accepted, that the events name the right secret, and that a
// configuration without a secret fails.
func Rotation[V VerifySigner](t *testing.T, construct func(webhooks.Config) (V, error), body string, c webhooks.Config) {
	t.Helper()
	with := func(secrets ...string) V {
		c.Secrets = secrets
		return Made(t, construct, c)
	}
	secrets := []string{"new-secret", "old-secret"}
	v := with(secrets...)
	for want, secret := range secrets {
		events, err := v.Verify(t.Context(), Signed(t, with(secret), body))
		require.NoError(t, err)
		for _, e := range events {
			require.Equal(t, want, e.SecretIndex)
		}
	}
	require.ErrorIs(t, Refused(t, v, Signed(t, with("older-secret"), body)), webhooks.ErrSignatureInvalid)
	NeedsSecrets(t, construct, c)
}

// NeedsSecrets requires that no secret, and an empty one, is an error.
func NeedsSecrets[V webhooks.Verifier](t *testing.T, construct func(webhooks.Config) (V, error), c webhooks.Config) {
	t.Helper()
	for _, secrets := range [][]string{nil, {""}, {"one", ""}} {
		c.Secrets = secrets
		_, err := construct(c)
		require.ErrorIs(t, err, webhooks.ErrConfig)
	}
}

// Age is the expected result for a delivery of some age, at a configured tolerance.
type Age struct {
	Tolerance, Age time.Duration
	Want           error
}

// Ages signs a delivery for each case and verifies it that much later.
func Ages[V VerifySigner](t *testing.T, construct func(webhooks.Config) (V, error), secret string, cases map[string]Age) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Made(t, construct, webhooks.Config{Secrets: []string{secret}, Tolerance: test.Tolerance})
			d := Signed(t, v, `{"id":"evt_1","type":"x","event_id":"evt_1","event_type":"x"}`)
			d.ReceivedAt = Now.Add(test.Age)
			require.ErrorIs(t, Verified(t, v, d), test.Want)
		})
	}
}

// Reasons requires paylatch's code of each of the provider's reasons, which stand apart by bars, and that the reason
// itself is kept.
func Reasons(t *testing.T, code func(reason string) (ours webhooks.FailureCode, theirs string), reasons map[string]string) {
	t.Helper()
	for want, list := range reasons {
		for reason := range strings.SplitSeq(list, "|") {
			ours, theirs := code(reason)
			require.Equal(t, want, string(ours), reason)
			require.Equal(t, reason, theirs)
		}
	}
}
