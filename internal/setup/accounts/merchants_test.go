package accounts_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/webhooks"
)

// rows are stored merchants in memory.
type rows struct {
	stored []payment.Merchant
	// open are the numbers of the merchants of open attempts.
	open []int
}

func (r *rows) Read(context.Context) ([]payment.Merchant, error) {
	list := slices.Clone(r.stored)
	slices.SortFunc(list, func(a, b payment.Merchant) int { return b.Since.Compare(a.Since) })
	return list, nil
}

func (r *rows) OpenOfOthers(_ context.Context, _ string, number int) (open int64, first string, err error) {
	for _, n := range r.open {
		if n != number {
			open++
		}
	}
	return open, "the first", nil
}

func (r *rows) Save(_ context.Context, m payment.Merchant) error {
	r.stored = slices.DeleteFunc(r.stored, func(s payment.Merchant) bool { return s.Number == m.Number })
	r.stored = append(r.stored, m)
	return nil
}

// starts compares an account as a start does, a minute after the start before.
func (r *rows) starts(t *testing.T, a config.Account) (accounts.Owned, error) {
	t.Helper()
	return r.compared(t, a, true)
}

func (r *rows) compared(t *testing.T, a config.Account, begins bool) (accounts.Owned, error) {
	t.Helper()
	at := time.Unix(0, 0)
	for _, s := range r.stored {
		at = at.Add(s.Since.Sub(time.Unix(0, 0)) + time.Minute)
	}
	claims := accounts.Claims([]config.Account{a}, &http.Client{}, slices.Clone[[]byte], time.Now)
	accounts.Fetch(t.Context(), claims)
	owned, err := accounts.Compare(t.Context(), r, claims, begins, at)
	return owned[a.Name], err
}

// accountOf returns an account of a kind with all its keys, each with this text in it.
func accountOf(kind, text string) config.Account {
	a := config.NewAccount("shop", kind)
	a.BaseURL, a.WebhookSecrets, a.Fields = "https://api.provider.example", []config.Secret{"secret"}, map[string]config.Secret{}
	for _, key := range slices.Concat(provider.Kinds()[kind].About.Keys, provider.Kinds()[kind].Adapter.Keys) {
		if key.Name != "base_url" && key.Name != webhooks.SecretsKey().Name && key.OneOf == nil {
			a.Fields[key.Name] = config.Secret(text)
		}
	}
	return a
}

// nameless are the kinds whose configuration never names the merchant.
var nameless = []string{"paddle", "sandbox"}

// TestEveryKindHasAMerchant: another merchant of any kind is refused while a payment is open, and new secrets of the same merchant are
// taken.
func TestEveryKindHasAMerchant(t *testing.T) {
	t.Parallel()
	for kind, k := range provider.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			how := k.Adapter.Merchant
			if len(how.Keys) == 0 {
				require.Contains(t, nameless, kind)
				return
			}
			a := accountOf(kind, "one")
			require.True(t, a.CanCharge())
			r := &rows{open: []int{0}}
			owned, err := r.starts(t, a)
			require.NoError(t, err)
			require.Zero(t, owned.Number)

			rotated := accountOf(kind, "two")
			for _, key := range how.Keys {
				rotated.Fields[key] = "one"
			}
			owned, err = r.starts(t, rotated)
			require.NoError(t, err)
			require.Zero(t, owned.Number)
			require.False(t, owned.Unknown)

			other := accountOf(kind, "one")
			other.Fields[how.Keys[0]] = "two"
			_, err = r.starts(t, other)
			var refused *payment.MerchantError
			require.ErrorAs(t, err, &refused)
			require.Contains(t, refused.Text, "accounts: shop: the configuration changes the account's merchant ("+how.Keys[0]+" two, it was one)")
			require.Contains(t, refused.Text, "the old merchant has open payments: 1, such as payment attempt the first")
			require.Contains(t, refused.Text, "add an account with a new name for the new merchant")

			r.open = nil
			owned, err = r.starts(t, other)
			require.NoError(t, err)
			require.Equal(t, 1, owned.Number)
			r.open = []int{1}
			_, err = r.starts(t, rotated)
			require.ErrorAs(t, err, &refused)
			r.open = []int{0}
			owned, err = r.starts(t, other)
			require.NoError(t, err, "the merchant of now starts at any time")
			require.EqualValues(t, 1, owned.Stranded)
			require.Len(t, owned.Notes(), 1)
			owned, err = r.starts(t, rotated)
			require.NoError(t, err)
			require.Zero(t, owned.Number, "a merchant that comes back has its number of before")
			require.Len(t, r.stored, 2)
		})
	}
}

// TestModeIsPartOfTheMerchant: test and live payments are different payments.
func TestModeIsPartOfTheMerchant(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string][2]func(*config.Account){
		"stripe":    {func(a *config.Account) { a.Fields["api_key"] = "sk_live_1" }, func(a *config.Account) { a.Fields["api_key"] = "sk_test_1" }},
		"robokassa": {func(*config.Account) {}, func(a *config.Account) { a.Fields["test_payments"] = "true" }},
		"paypal":    {func(*config.Account) {}, func(a *config.Account) { a.BaseURL = "https://api-m.sandbox.paypal.com" }},
		"adyen":     {func(*config.Account) {}, func(a *config.Account) { a.BaseURL = "" }},
	} {
		live, test := accountOf(kind, "one"), accountOf(kind, "one")
		of[0](&live)
		of[1](&test)
		require.False(t, live.ForTests(), kind)
		require.True(t, test.ForTests(), kind)
		r := &rows{open: []int{0}}
		_, err := r.starts(t, live)
		require.NoError(t, err)
		_, err = r.starts(t, test)
		require.ErrorContains(t, err, "(test mode, it was live mode)", kind)
	}
}

// TestKindIsPartOfTheMerchant: an account of another kind has another merchant.
func TestKindIsPartOfTheMerchant(t *testing.T) {
	t.Parallel()
	r := &rows{open: []int{0}}
	_, err := r.starts(t, accountOf("paddle", "one"))
	require.NoError(t, err)
	_, err = r.starts(t, accountOf("adyen", "one"))
	require.ErrorContains(t, err, "(kind adyen, it was paddle)")
}

// TestWeakerIDs: an application's id decides only where no id of the merchant can be compared, and a key that is added changes nothing.
func TestWeakerIDs(t *testing.T) {
	t.Parallel()
	r := &rows{open: []int{0}}
	a := accountOf("paypal", "one")
	delete(a.Fields, "merchant_id")
	_, err := r.starts(t, a)
	require.NoError(t, err)
	a.Fields["client_id"] = "two"
	_, err = r.starts(t, a)
	require.ErrorContains(t, err, "(client_id two, it was one)")
	a.Fields["client_id"], a.Fields["merchant_id"] = "one", "m"
	_, err = r.starts(t, a)
	require.NoError(t, err)
	a.Fields["client_id"] = "two"
	_, err = r.starts(t, a)
	require.NoError(t, err, "the same merchant has another application")
}

// TestUncomparedSecrets: where nothing names the merchant, other secrets are taken once with a note.
func TestUncomparedSecrets(t *testing.T) {
	t.Parallel()
	r := &rows{open: []int{0}}
	_, err := r.starts(t, accountOf("paddle", "one"))
	require.NoError(t, err)
	for _, unknown := range []bool{true, false} {
		owned, err := r.starts(t, accountOf("paddle", "two"))
		require.NoError(t, err)
		require.Equal(t, unknown, owned.Unknown)
	}
}

// TestCommandsTakeTheServicesMerchant: a command writes no merchant, and refuses a configuration that is not the service's.
func TestCommandsTakeTheServicesMerchant(t *testing.T) {
	t.Parallel()
	r := &rows{}
	_, err := r.compared(t, accountOf("adyen", "one"), false)
	require.NoError(t, err)
	require.Empty(t, r.stored)
	_, err = r.starts(t, accountOf("adyen", "one"))
	require.NoError(t, err)
	_, err = r.compared(t, accountOf("adyen", "two"), false)
	require.ErrorContains(t, err, "use the service's configuration")
	require.Len(t, r.stored, 1)
}

// TestAskedMerchant: where the configuration does not name the merchant, its provider does. While it does not respond, new secrets are
// taken, and it is asked again before the first call.
func TestAskedMerchant(t *testing.T) {
	t.Parallel()
	for kind, path := range map[string]string{"stripe": "/v1/account", "mollie": "/v2/profiles/me", "square": "/v2/merchants/me"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var down, closed atomic.Bool
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path != path, down.Load():
					w.WriteHeader(http.StatusInternalServerError)
				case closed.Load():
					w.WriteHeader(http.StatusForbidden)
				case r.Header.Get("Authorization") == "Bearer other":
					_, _ = w.Write([]byte(`{"id":"theirs","merchant":{"id":"theirs"}}`))
				default:
					_, _ = w.Write([]byte(`{"id":"ours","merchant":{"id":"ours"}}`))
				}
			}))
			defer api.Close()
			with := func(key string) config.Account {
				a := accountOf(kind, "one")
				for _, name := range provider.Kinds()[kind].Adapter.Merchant.Keys {
					delete(a.Fields, name)
				}
				a.BaseURL, a.Fields["api_key"] = api.URL, config.Secret(key)
				return a
			}
			r := &rows{open: []int{0}}
			_, err := r.starts(t, with("first"))
			require.NoError(t, err)
			require.Equal(t, []string{"ours"}, slices.Collect(maps.Values(r.stored[0].IDs)))
			owned, err := r.starts(t, with("rotated"))
			require.NoError(t, err)
			require.Nil(t, owned.Proof)
			_, err = r.starts(t, with("other"))
			require.ErrorContains(t, err, "theirs, it was ours")

			down.Store(true)
			owned, err = r.starts(t, with("rotated"))
			require.NoError(t, err)
			require.Nil(t, owned.Proof, "these secrets are known")
			for key, refused := range map[string]bool{"first": false, "other": true} {
				owned, err = r.starts(t, with(key))
				require.NoError(t, err)
				require.Len(t, owned.Notes(), 1)
				require.Error(t, owned.Proof(t.Context()))
				down.Store(false)
				var wrong *payment.MerchantError
				require.Equal(t, refused, errors.As(owned.Proof(t.Context()), &wrong), key)
				down.Store(true)
				require.Equal(t, refused, owned.Proof(t.Context()) != nil, "it is asked once")
			}
			down.Store(false)
			closed.Store(true)
			owned, err = r.starts(t, with("other"))
			require.NoError(t, err)
			require.True(t, owned.Unknown, "the provider does not tell it to these credentials")
		})
	}
}

// TestProofComesBeforeACall: an account whose secrets may be of another merchant sends nothing.
func TestProofComesBeforeACall(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer api.Close()
	a := accountOf("stripe", "one")
	a.BaseURL = api.URL
	s, err := accounts.New(&config.Config{Accounts: []config.Account{a}}, accounts.Options{Client: &http.Client{}, Watch: accounts.Unwatched(time.Now)})
	require.NoError(t, err)
	refused := &payment.MerchantError{Text: "of another merchant"}
	s.Own(map[string]accounts.Owned{"shop": {Number: 3, Proof: func(context.Context) error { return refused }}}, accounts.Unwatched(time.Now).Log)
	require.Equal(t, 3, s.Charged.Get("shop").Merchant)
	_, err = s.Charged.Get("shop").Provider.Lookup(t.Context(), "pi_1")
	require.ErrorIs(t, err, gateway.ErrNotSent)
	require.ErrorIs(t, err, refused)
	require.Zero(t, calls.Load())
}
