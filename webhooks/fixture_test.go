package webhooks_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// now is the receiver's clock in all tests that don't bring their own.
var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

const (
	standardSecret = "whsec_cGF5bGF0Y2gtdGVzdHMtb25seS1zZWNyZXQ="
	standardOther  = "whsec_cGF5bGF0Y2gtYW5vdGhlci10ZXN0LXNlY3JldA=="
	stripeSecret   = "whsec_paylatch_tests_only"
)

var sentinels = []error{
	webhooks.ErrSignatureMissing, webhooks.ErrSignatureMalformed, webhooks.ErrSignatureInvalid,
	webhooks.ErrTooOld, webhooks.ErrTooNew, webhooks.ErrSender, webhooks.ErrPayload,
	webhooks.ErrUnavailable, webhooks.ErrConfig,
}

// vectorsDir returns the folder of published vectors, and skips without it.
func vectorsDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PAYLATCH_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "vectors")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no published vectors (PAYLATCH_VECTORS): %v", err)
	}
	return dir
}

// sharedName is the name by which vectors and payloads know a kind.
func sharedName(kind string) string {
	if kind == "standard" || kind == "sandbox" {
		return "standardwebhooks"
	}
	return kind
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, v), path)
}

// newStandard and newStripe return a verifier by the tests' own secret.
func newStandard(tb testing.TB, secrets ...string) *webhooks.Standard {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{standardSecret}
	}
	v, err := webhooks.NewStandard(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

func newStripe(tb testing.TB, secrets ...string) *webhooks.Stripe {
	tb.Helper()
	if len(secrets) == 0 {
		secrets = []string{stripeSecret}
	}
	v, err := webhooks.NewStripe(webhooks.Config{Secrets: secrets})
	require.NoError(tb, err)
	return v
}

// unsigned returns a delivery of body that lacks only its signature.
func unsigned(body string) webhooks.Delivery {
	return webhooks.Delivery{
		Method: http.MethodPost, Header: http.Header{"Webhook-Id": {"evt_1"}},
		Body: []byte(body), ReceivedAt: now,
	}
}

// signed returns a genuine delivery of body.
func signed(tb testing.TB, s webhooks.Signer, body string) webhooks.Delivery {
	tb.Helper()
	d := unsigned(body)
	require.NoError(tb, s.Sign(&d))
	return d
}

// verifySigner is a provider that can do both.
type verifySigner interface {
	webhooks.Verifier
	webhooks.Signer
}

// parsed returns the one event that a genuine delivery of body says.
func parsed(tb testing.TB, v verifySigner, body string) webhooks.Event {
	tb.Helper()
	events, err := v.Verify(tb.Context(), signed(tb, v, body))
	require.NoError(tb, err)
	require.Len(tb, events, 1)
	requireSound(tb, events[0])
	return events[0]
}

// refused requires that d is refused, with one of the package's errors.
func refused(tb testing.TB, v webhooks.Verifier, d webhooks.Delivery) error {
	tb.Helper()
	events, err := v.Verify(tb.Context(), d)
	require.Error(tb, err)
	require.Empty(tb, events)
	requireSentinel(tb, err)
	return err
}

func requireSentinel(tb testing.TB, err error) {
	tb.Helper()
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			return
		}
	}
	require.Fail(tb, "not an error of the package", "%v", err)
}

// requireSound checks what holds for every event, whatever was sent.
func requireSound(tb testing.TB, e webhooks.Event) {
	tb.Helper()
	failures := []webhooks.Kind{webhooks.KindFailed, webhooks.KindSoftFailed, webhooks.KindRefundFailed}
	require.NotEmpty(tb, e.ID)
	require.Contains(tb, []webhooks.IDSource{webhooks.Native, webhooks.Derived}, e.IDSource)
	require.NotEmpty(tb, e.Kind)
	require.Equal(tb, slices.Contains(failures, e.Kind), e.FailureCode != "", "a code with failures and with nothing else")
	require.NotContains(tb, e.References, "")
	require.Len(tb, slices.Compact(slices.Sorted(slices.Values(e.References))), len(e.References), "each reference once")
	require.False(tb, e.Test && !e.TestKnown)
	if e.Money != nil {
		require.GreaterOrEqual(tb, e.Money.Minor, int64(0))
		require.Equal(tb, strings.ToUpper(e.Money.Currency), e.Money.Currency)
	}
	if e.Kind == webhooks.KindIgnored {
		require.Nil(tb, e.Money)
	}
	_, err := json.Marshal(e)
	require.NoError(tb, err, "it can be stored")
}
