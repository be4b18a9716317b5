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

	"github.com/paylatch/paylatch/internal/gateway"
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
		"adyen":         {7 * 24 * time.Hour, payment.Capabilities{Identity: payment.IdentityOwn, Complete: true, Cancels: payment.CancelsByReference}},
		"braintree":     {30 * 24 * time.Hour, payment.Capabilities{Resend: payment.ResendUnfound, Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupAlone, RefundsConsistent: true, Shows: payment.ShowsDisputes}},
		"checkout":      {0, payment.Capabilities{Resend: payment.ResendUnfound, Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsDisputes}},
		"cloudpayments": {time.Hour, payment.Capabilities{Lookup: payment.LookupConsistent, Identity: payment.IdentityByBrowser, Complete: true, CapturesSeen: true, Cancels: payment.CancelsByID}},
		"comgate":       {0, payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, Cancels: payment.CancelsByID}},
		"gocardless":    {time.Hour, payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupAlone, Shows: payment.ShowsChargebacks}},
		"gopay":         {0, payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds}},
		"lemonsqueezy":  {0, payment.Capabilities{Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID}},
		"mollie":        {time.Hour, payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes}},
		"paddle":        {0, payment.Capabilities{Lookup: payment.LookupConsistent, Identity: payment.IdentityByBrowser, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupAlone, Shows: payment.ShowsDisputes}},
		"paypal":        {6 * time.Hour, payment.Capabilities{Lookup: payment.LookupByID, Identity: payment.IdentityByPayee, Complete: true, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds}},
		"razorpay":      {181 * 24 * time.Hour, payment.Capabilities{Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, Complete: true, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds}},
		"robokassa":     {0, payment.Capabilities{Resend: payment.ResendUnfound, Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment}},
		"square":        {2 * time.Hour, payment.Capabilities{Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByReference, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds}},
		"standard":      {24 * time.Hour, payment.Capabilities{Lookup: payment.LookupConsistent, Identity: payment.IdentityOwn, Complete: true, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes}},
		"stripe":        {24 * time.Hour, payment.Capabilities{Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, Complete: true, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, RefundsConsistent: true, Shows: payment.ShowsDisputes}},
		"tbank":         {0, payment.Capabilities{Lookup: payment.LookupConsistent, Identity: payment.IdentityByBrowser, CapturesSeen: true, Cancels: payment.CancelsByID, RefundsConsistent: true}},
		"yookassa":      {24 * time.Hour, payment.Capabilities{Lookup: payment.LookupByReference, Identity: payment.IdentityOwn, CapturesSeen: true, Cancels: payment.CancelsByID, RefundLookup: payment.RefundLookupInPayment, Shows: payment.ShowsRefunds}},
	} {
		p, err := provider.New(kind, kit.Settings{Params: map[string]string{"webhook_secret": "secret"}})
		require.NoError(t, err)
		got := p.Capabilities()
		require.Equal(t, c.keys > 0, got.KeyLife > 0, kind)
		require.True(t, got.KeyLife == 0 || got.KeyLife < c.keys, "%s: what is sent last must get there in time", kind)
		got.KeyLife, got.FindLag = 0, 0
		got.Captures, got.Refunds = payment.CapturesNone, payment.RefundsNone // only the suite reads them
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
		want := (p.Capabilities().Identity.BrowserMarks() || readsBrowserMarks(t, kind)) && a.Marks != gateway.MarksNone && without[kind] == ""
		require.Equal(t, want, a.Marks == gateway.MarksByBrowser, kind)
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

// TestReturnsToApps: an adapter takes an app's address if its provider's documentation does, or if it passes on no address.
func TestReturnsToApps(t *testing.T) {
	t.Parallel()
	var web, none []string
	for kind, a := range provider.Adapters() {
		switch {
		case !slices.ContainsFunc(a.Carries, func(m kit.Carried) bool { return m.Member == "return_url" }):
			none = append(none, kind)
			require.False(t, a.WebReturns(), kind)
		case a.WebReturns():
			web = append(web, kind)
		}
	}
	require.ElementsMatch(t, []string{"braintree", "paddle", "square"}, none)
	require.ElementsMatch(t, []string{
		"checkout", "cloudpayments", "comgate", "gocardless", "gopay", "lemonsqueezy", "paypal", "razorpay", "robokassa", "tbank", "yookassa",
	}, web)
}
