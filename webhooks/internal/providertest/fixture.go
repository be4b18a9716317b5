// Package providertest holds the shared test code of the providers' verifiers.
package providertest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// Now is the receiver's clock in all tests that don't bring their own.
var Now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

var sentinels = []error{
	webhooks.ErrSignatureMissing, webhooks.ErrSignatureMalformed, webhooks.ErrSignatureInvalid,
	webhooks.ErrTooOld, webhooks.ErrTooNew, webhooks.ErrSender, webhooks.ErrPayload,
	webhooks.ErrUnavailable, webhooks.ErrConfig,
}

// VerifySigner is a provider that can do both.
type VerifySigner interface {
	webhooks.Verifier
	webhooks.Signer
}

// Made returns a verifier of a configuration that can work.
func Made[V webhooks.Verifier](tb testing.TB, construct func(webhooks.Config) (V, error), c webhooks.Config) V {
	tb.Helper()
	v, err := construct(c)
	require.NoError(tb, err)
	return v
}

// Unsigned returns a delivery of body that lacks only its signature.
func Unsigned(body string) webhooks.Delivery {
	return webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{"Webhook-Id": {"evt_1"}},
		Body: []byte(body), ReceivedAt: Now,
	}
}

// Signed returns a genuine delivery of body.
func Signed(tb testing.TB, s webhooks.Signer, body string) webhooks.Delivery {
	tb.Helper()
	d := Unsigned(body)
	require.NoError(tb, s.Sign(&d))
	return d
}

// Parsed returns the one event of a genuine delivery of body.
func Parsed(tb testing.TB, v VerifySigner, body string) webhooks.Event {
	tb.Helper()
	events, err := v.Verify(tb.Context(), Signed(tb, v, body))
	require.NoError(tb, err)
	require.Len(tb, events, 1)
	RequireSound(tb, events[0])
	return events[0]
}

// Refused requires that d is refused, with one of the package's errors.
func Refused(tb testing.TB, v webhooks.Verifier, d webhooks.Delivery) error {
	tb.Helper()
	events, err := v.Verify(tb.Context(), d)
	require.Error(tb, err)
	require.Empty(tb, events)
	RequireSentinel(tb, err)
	return err
}

// Verified returns the error with which d is refused, if it is.
func Verified(tb testing.TB, v webhooks.Verifier, d webhooks.Delivery) error {
	tb.Helper()
	_, err := v.Verify(tb.Context(), d)
	return err
}

// RequireSentinel requires that err wraps an error of package webhooks.
func RequireSentinel(tb testing.TB, err error) {
	tb.Helper()
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			return
		}
	}
	require.Fail(tb, "not an error of the package", "%v", err)
}

// RequireSound checks the invariants of every event, for any delivery.
func RequireSound(tb testing.TB, e webhooks.Event) {
	tb.Helper()
	failures := []webhooks.Kind{webhooks.KindFailed, webhooks.KindUndone, webhooks.KindSoftFailed, webhooks.KindRefundFailed}
	require.NotEmpty(tb, e.ID)
	require.Contains(tb, []webhooks.IDSource{webhooks.Native, webhooks.Derived}, e.IDSource)
	require.NotEmpty(tb, e.Kind)
	require.Equal(tb, slices.Contains(failures, e.Kind), e.FailureCode != "", "a code with failures and with nothing else")
	require.True(tb, !e.PageOpen || e.Kind == webhooks.KindSoftFailed || e.Kind == webhooks.KindFailed, "a page may be open after a declined try only")
	require.NotContains(tb, e.References, "")
	require.Len(tb, slices.Compact(slices.Sorted(slices.Values(e.References))), len(e.References), "each reference once")
	require.Contains(tb, []webhooks.Command{"", webhooks.CommandCapture, webhooks.CommandCancel}, e.Refuses)
	require.Contains(tb, []webhooks.Mode{"", webhooks.ModeTest, webhooks.ModeLive}, e.Mode)
	if e.Money != nil {
		require.GreaterOrEqual(tb, e.Money.Minor, int64(0))
		require.Equal(tb, strings.ToUpper(e.Money.Currency), e.Money.Currency)
	}
	if e.Kind == webhooks.KindIgnored {
		require.Nil(tb, e.Money)
	}
	if e.Dispute != nil {
		require.NotEmpty(tb, e.Dispute.ID)
		require.NotEmpty(tb, e.Dispute.Status)
		require.True(tb, e.Kind.IsMovement() || e.Kind == webhooks.KindDisputed || e.Kind == webhooks.KindDisputeClosed, e.Kind)
		require.Equal(tb, e.Kind == webhooks.KindDisputeClosed, !e.Kind.IsMovement() && e.Dispute.Status.Closed())
	}
	require.Equal(tb, e.Kind == webhooks.KindUnreadable, e.Unreadable != "")
	if e.Kind == webhooks.KindUnreadable {
		require.Nil(tb, e.Money)
		require.Empty(tb, e.References)
		require.Empty(tb, e.ProviderPaymentID)
		require.False(tb, e.NeedsFetch)
	}
	_, err := json.Marshal(e)
	require.NoError(tb, err, "it can be stored")
}
