package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/metrics"
	"github.com/paylatch/paylatch/internal/postgres"
	"github.com/paylatch/paylatch/internal/setup/accounts"
	"github.com/paylatch/paylatch/internal/setup/config"
)

// TestAnAccountThatAReloadAdds: its webhooks and its lists lead to its cell.
func TestAnAccountThatAReloadAdds(t *testing.T) {
	t.Parallel()
	of := func(name string, cell int) config.Account {
		return config.Account{Name: name, Cell: cell, Kind: "sandbox", BaseURL: "http://127.0.0.1:1", WebhookSecrets: []config.Secret{"whsec_c2VjcmV0IG9mIDI0IGJ5dGVzIGF0IGxlYXN0"}}
	}
	cfg := &config.Config{Cells: []config.Cell{{Number: 1}, {Number: 7}}, Accounts: []config.Account{of("home", 0), of("eu", 1), of("us", 7)}}
	p := &process{cfg: cfg, stores: map[payment.Cell]*postgres.Store{}, instances: map[payment.Cell]*instance{}}
	for _, n := range cfg.Numbers() {
		store, err := postgres.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none")
		require.NoError(t, err)
		t.Cleanup(store.Close)
		set, err := accounts.New(cfg.In(n), accounts.Options{Client: http.DefaultClient, Watch: accounts.Unwatched(now)})
		require.NoError(t, err)
		p.stores[n] = store
		p.instances[n] = &instance{cfg: cfg.In(n), of: p, accounts: set, metrics: metrics.New(metrics.Options{Now: now}), handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cell", strconv.Itoa(int(n)))
		})}
	}
	handler, _ := p.handlers()
	leads := func(account string, want payment.Cell) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/webhooks/"+account, nil))
		require.Equal(t, strconv.Itoa(int(want)), w.Header().Get("Cell"), account)
		require.Same(t, p.stores[want], p.storeOf(account), account)
	}
	leads("us-2", 0)
	later := *cfg
	later.Accounts = append([]config.Account{of("us-2", 7)}, cfg.Accounts...)
	for _, n := range cfg.Numbers() {
		changes, err := p.instances[n].accounts.Reload(later.In(n))
		require.NoError(t, err)
		require.Equal(t, n == 7, len(changes.Added) == 1)
	}
	for account, want := range map[string]payment.Cell{"home": 0, "eu": 1, "us": 7, "us-2": 7, "gone": 0} {
		leads(account, want)
	}
}
