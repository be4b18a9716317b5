package provider_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
)

func TestEveryKindHasAnAdapter(t *testing.T) {
	t.Parallel()
	require.Subset(t, provider.Callable(), []string{
		"adyen", "checkout", "cloudpayments", "comgate", "gocardless", "gopay", "lemonsqueezy", "mollie", "paypal", "razorpay", "robokassa", "sandbox", "square", "standard", "stripe", "tbank", "yookassa",
	})
	for _, kind := range provider.Callable() {
		p, err := provider.New(kind, kit.Settings{
			BaseURL: "http://127.0.0.1:1", Client: provider.NewHTTPClient(), Params: map[string]string{"webhook_secret": "secret"},
		})
		require.NoError(t, err, kind)
		require.NotNil(t, p, kind)
	}
	_, err := provider.New("nobody", kit.Settings{})
	require.ErrorIs(t, err, provider.ErrNoAdapter)
}

// TestReferenceFormsMark: the reference that a shop gives a provider for a payment begun elsewhere counts as our mark in
// the provider's webhooks.
func TestReferenceFormsMark(t *testing.T) {
	t.Parallel()
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	for kind, k := range provider.Kinds() {
		text, metadata := k.About.Reference.For(id.String())
		marks := slices.Collect(maps.Values(metadata))
		if text != "" {
			marks = append(marks, text)
		}
		require.NotEmpty(t, marks, kind)
		for _, mark := range marks {
			found, ours := payment.OwnAttemptID(mark)
			require.True(t, ours, kind)
			require.Equal(t, id, found, kind)
		}
	}
}

// This test lists the properties that only a provider's documentation promises and no fake can show. A wrong promise
// could charge or refund twice; a missing promise leaves outcomes unknown.
func TestWhatTheDocumentationPromises(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		keys time.Duration // how long the provider keeps them; Square and GoCardless document no time
		can  payment.Capabilities
	}{
		"adyen":         {7 * 24 * time.Hour, payment.Capabilities{Blind: true, Complete: true, Cancel: true, CancelByReference: true}},
		"braintree":     {30 * 24 * time.Hour, payment.Capabilities{Find: true, FindFirst: true, Cancel: true, LookupRefund: true, RefundAlone: true, RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true}},
		"checkout":      {0, payment.Capabilities{Find: true, FindFirst: true, CaptureUnseen: true, Cancel: true, LookupRefund: true, ShowsRefunds: true, ShowsDisputes: true}},
		"cloudpayments": {time.Hour, payment.Capabilities{Find: true, FindConsistent: true, BrowserMarks: true, Complete: true, Cancel: true}},
		"comgate":       {0, payment.Capabilities{CaptureUnseen: true, Cancel: true}},
		"gocardless":    {time.Hour, payment.Capabilities{Cancel: true, LookupRefund: true, RefundAlone: true, WholeChargebacks: true, ShowsRefunds: true, ShowsDisputes: true}},
		"gopay":         {0, payment.Capabilities{CaptureUnseen: true, Cancel: true, LookupRefund: true, ShowsRefunds: true}},
		"lemonsqueezy":  {0, payment.Capabilities{Find: true, FindConsistent: true, Cancel: true}},
		"mollie":        {time.Hour, payment.Capabilities{Cancel: true, LookupRefund: true, RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true}},
		"paddle":        {0, payment.Capabilities{Find: true, FindConsistent: true, BrowserMarks: true, Cancel: true, LookupRefund: true, RefundAlone: true, ShowsRefunds: true, ShowsDisputes: true}},
		"paypal":        {6 * time.Hour, payment.Capabilities{PaysOthers: true, Complete: true, Cancel: true, LookupRefund: true, ShowsRefunds: true}},
		"razorpay":      {181 * 24 * time.Hour, payment.Capabilities{Find: true, Complete: true, Cancel: true, LookupRefund: true, ShowsRefunds: true}},
		"robokassa":     {0, payment.Capabilities{Find: true, FindConsistent: true, FindFirst: true, CaptureUnseen: true, Cancel: true, LookupRefund: true}},
		"square":        {2 * time.Hour, payment.Capabilities{Find: true, Cancel: true, CancelByReference: true, LookupRefund: true, ShowsRefunds: true}},
		"standard":      {24 * time.Hour, payment.Capabilities{Find: true, FindConsistent: true, Complete: true, Cancel: true, LookupRefund: true, RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true}},
		"stripe":        {24 * time.Hour, payment.Capabilities{Find: true, Complete: true, Cancel: true, LookupRefund: true, RefundsConsistent: true, ShowsRefunds: true, ShowsDisputes: true}},
		"tbank":         {0, payment.Capabilities{Find: true, FindConsistent: true, BrowserMarks: true, Cancel: true, RefundsConsistent: true}},
		"yookassa":      {24 * time.Hour, payment.Capabilities{Find: true, Cancel: true, LookupRefund: true, ShowsRefunds: true}},
	} {
		p, err := provider.New(kind, kit.Settings{Params: map[string]string{"webhook_secret": "secret"}})
		require.NoError(t, err)
		got := p.Capabilities()
		require.Equal(t, c.keys > 0, got.KeyLife > 0, kind)
		require.True(t, got.KeyLife == 0 || got.KeyLife < c.keys, "%s: what is sent last must get there in time", kind)
		got.KeyLife, got.FindLag = 0, 0
		got.Captures, got.PartialCapture, got.Refund, got.PartialRefund = payment.CapturesNone, false, false, false // only the suite reads them
		require.Equal(t, c.can, got, kind)
	}
}

// TestMarksInBooksAreClaims: if a kind's webhook or lookup treats a mark as one that a browser could have written, the
// entries of its books and statements must do the same.
func TestMarksInBooksAreClaims(t *testing.T) {
	t.Parallel()
	without := map[string]string{"stripe": "only a session's client_reference_id is a browser's, and no balance transaction has it"}
	for kind, a := range provider.Adapters() {
		if a.Books == nil && a.Statement == nil {
			continue
		}
		p, err := provider.New(kind, kit.Settings{
			BaseURL: "http://127.0.0.1:1", Client: provider.NewHTTPClient(), Params: map[string]string{"webhook_secret": "secret"},
		})
		require.NoError(t, err, kind)
		want := (p.Capabilities().BrowserMarks || readsBrowserMarks(t, kind)) && !a.Unmarked && without[kind] == ""
		require.Equal(t, want, a.BrowserMarked, kind)
	}
}

// readsBrowserMarks reports whether the verifier of a kind sets webhooks.Event.BrowserMark.
func readsBrowserMarks(t *testing.T, kind string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "webhooks", kind, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "BrowserMark") {
			return true
		}
	}
	return false
}

func TestKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]webhooks.Key{}
	for kind, k := range provider.Kinds() {
		for _, key := range k.Keys {
			if first, ok := seen[key.Name]; ok {
				require.Equal(t, first.Doc, key.Doc, "%s of %s", key.Name, kind)
				require.Equal(t, first.Secret, key.Secret, "%s of %s", key.Name, kind)
			}
			seen[key.Name] = key
		}
	}
	require.Contains(t, seen, "api_key")
}
