package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/postgres/pool"
	"github.com/paylatch/paylatch/internal/provider"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/internal/setup/config"
	"github.com/paylatch/paylatch/internal/setup/doctor"
)

// healthy is a database that lacks nothing; a test breaks it.
type healthy struct {
	ping, migrated, durable, settings, deaf error

	vitals pool.Vitals
	may    bool
}

func (h *healthy) Ping(context.Context) error                  { return h.ping }
func (h *healthy) Migrated(context.Context) error              { return h.migrated }
func (h *healthy) Durable(context.Context) error               { return h.durable }
func (h *healthy) Settings(context.Context) (string, error)    { return "paylatch", h.settings }
func (h *healthy) Vitals(context.Context) (pool.Vitals, error) { return h.vitals, nil }
func (h *healthy) AuditMayBeChanged(context.Context) (string, bool, error) {
	return "paylatch", h.may, nil
}

func (h *healthy) Listen(_ context.Context, ready func(), _ func(string)) error {
	if h.deaf != nil {
		return h.deaf
	}
	ready()
	return context.Canceled
}

func wellServer() *healthy {
	now := time.Now()
	return &healthy{vitals: pool.Vitals{Version: 150000, Now: now, Free: 90, Most: 12, Autovacuum: true, OldestTransaction: 1000}}
}

func problems(checks []doctor.Check) (list []string, grave int) {
	doctor.Run(context.Background(), checks, func(c doctor.Check, found []doctor.Finding) {
		for _, f := range found {
			list = append(list, c.Name+": "+f.String())
			if f.Grave {
				grave++
			}
		}
	})
	return list, grave
}

func TestOfDatabase(t *testing.T) {
	t.Parallel()
	list, _ := problems(doctor.OfDatabase(wellServer(), true, time.Now))
	require.Empty(t, list)
	for want, breaks := range map[string]func(h *healthy){
		"start PostgreSQL":    func(h *healthy) { h.ping = errors.New("refused") },
		"paylatch migrate up": func(h *healthy) { h.migrated = errors.New("behind") },
		"fsync is off, so":    func(h *healthy) { h.durable = &pool.NotDurableError{Settings: []string{"fsync"}} },
		"turn fsync on at w2:5432": func(h *healthy) {
			h.durable = &pool.NotDurableError{Settings: []string{"fsync of the worker w2:5432"}}
		},
		`ALTER ROLE "paylatch" SET `: func(h *healthy) {
			h.settings = &pool.SettingsError{Settings: []pool.Setting{{Name: "lock_timeout", Value: "0"}}}
		},
		"set database.pooler to transaction":     func(h *healthy) { h.settings = &pool.PoolerError{Err: errors.New("unsupported startup parameter")} },
		"paylatch migrate grants":                func(h *healthy) { h.may = true },
		"machine's clock differ by ":             func(h *healthy) { h.vitals.Now = h.vitals.Now.Add(3 * time.Second) },
		"11 free connections":                    func(h *healthy) { h.vitals.Free = 11 },
		"autovacuum or track_counts is off":      func(h *healthy) { h.vitals.Autovacuum = false },
		"autovacuum is off for orders":           func(h *healthy) { h.vitals.Unvacuumed = []string{"orders"} },
		"VACUUM (FREEZE)":                        func(h *healthy) { h.vitals.OldestTransaction = 1_600_000_000 },
		"the replication slots old":              func(h *healthy) { h.vitals.IdleSlots = []string{"old"} },
		"start a standby, or change synchronous": func(h *healthy) { h.vitals.StandbyMissing = true },
		"database.direct_url":                    func(h *healthy) { h.deaf = errors.New("LISTEN receives no notices") },
	} {
		h := wellServer()
		breaks(h)
		list, _ := problems(doctor.OfDatabase(h, true, time.Now))
		require.Len(t, list, 1, want)
		require.Contains(t, list[0], want)
	}
}

// TestASlowServer needs ten seconds to respond. Its clock was read at some time between, and the doctor names the difference that is
// certain.
func TestASlowServer(t *testing.T) {
	t.Parallel()
	asked := time.Now()
	for _, read := range []struct {
		at   time.Duration
		find string
	}{{0, ""}, {10 * time.Second, ""}, {-5 * time.Second, "at least 5s"}, {15 * time.Second, "at least 5s"}} {
		h, clock := wellServer(), asked.Add(-10*time.Second)
		h.vitals.Now = asked.Add(read.at)
		list, _ := problems(doctor.OfDatabase(h, true, func() time.Time {
			clock = clock.Add(10 * time.Second)
			return clock
		}))
		require.Equal(t, read.find != "", len(list) == 1, read.at)
		require.Contains(t, strings.Join(list, ""), read.find)
	}
}

// TestADatabaseThatDoesNotAnswer is one finding of one line: all else of it would say the same.
func TestADatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	gone := errors.New("failed to connect:\n\tone\n\ttwo")
	h := &healthy{ping: gone, migrated: gone, durable: gone, settings: gone, deaf: gone}
	list, _ := problems(append(doctor.OfDatabase(h, true, time.Now), doctor.OfDataKeys(dataKeys{err: gone})))
	require.Len(t, list, 1)
	require.NotContains(t, list[0], "\n")
}

// TestDemandOutsideLive: outside live no real money can be lost.
func TestDemandOutsideLive(t *testing.T) {
	t.Parallel()
	h := wellServer()
	h.durable = &pool.NotDurableError{Settings: []string{"synchronous_commit"}}
	_, grave := problems(doctor.OfDatabase(h, false, time.Now))
	require.Zero(t, grave)
	_, grave = problems(doctor.OfDatabase(h, true, time.Now))
	require.Equal(t, 1, grave)
}

// lookups is a provider that is only called for a lookup.
type lookups struct {
	gateway.Provider

	client *http.Client
	url    string
	err    error
}

func (l lookups) Lookup(ctx context.Context, id string) (gateway.Outcome, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/"+id, nil)
	if err != nil {
		return gateway.Outcome{}, err
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return gateway.Outcome{}, err
	}
	_ = resp.Body.Close()
	return gateway.Outcome{}, l.err
}

func TestOfAccounts(t *testing.T) {
	t.Parallel()
	status, date := http.StatusNotFound, time.Now
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", date().UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	look := func(url string) []string {
		list, _ := problems(doctor.OfAccounts([]doctor.Account{{Name: "eu", New: func(c *http.Client) (gateway.Provider, error) {
			return lookups{client: c, url: url, err: gateway.ErrNoSuchPayment}, nil
		}}}, http.DefaultClient, time.Now))
		return list
	}
	require.Empty(t, look(server.URL))
	require.Contains(t, strings.Join(look("http://127.0.0.1:1"), "\n"), "was not reached")
	for _, refused := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		status = refused
		require.Contains(t, strings.Join(look(server.URL), "\n"), "refused the credentials")
	}
	status = http.StatusBadGateway
	require.Contains(t, strings.Join(look(server.URL), "\n"), "responds with 502")
	status, date = http.StatusNotFound, func() time.Time { return time.Now().Add(-time.Hour) }
	began := time.Now()
	found := regexp.MustCompile(`machine's clock differ by about (\S+)`).FindStringSubmatch(strings.Join(look(server.URL), "\n"))
	require.Len(t, found, 2)
	apart, err := time.ParseDuration(strings.TrimRight(found[1], ",.:;"))
	require.NoError(t, err)
	require.InDelta(t, time.Hour, apart, float64(time.Since(began)+2*time.Second), "what the request needed is not certain")
}

// TestResponsesThatProveNothing: a refusal of the lookup shows that the keys are correct only if it means that the provider has no such
// payment.
func TestResponsesThatProveNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusTooManyRequests} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		for _, err := range []error{gateway.ErrNoSuchPayment, gateway.ErrInconclusive, gateway.ErrUnsupportedRequest, errors.New("refused")} {
			checks := doctor.OfAccounts([]doctor.Account{{Name: "eu", New: func(c *http.Client) (gateway.Provider, error) {
				return lookups{client: c, url: server.URL, err: err}, nil
			}}}, http.DefaultClient, time.Now)
			var out strings.Builder
			require.Zero(t, doctor.Run(t.Context(), checks, doctor.Printer(&out)), err)
			if errors.Is(err, gateway.ErrNoSuchPayment) {
				require.Regexp(t, "^ok ", out.String(), status)
				continue
			}
			require.Regexp(t, fmt.Sprintf("^note   account eu: accounts: eu: the account's keys were not checked: the provider responded with %d ", status), out.String(), err)
			require.NotContains(t, out.String(), "ok ", err)
		}
	}
}

// local is a provider whose lookup sends no request.
type local struct {
	gateway.Provider

	err error
}

func (l local) Lookup(context.Context, string) (gateway.Outcome, error) {
	return gateway.Outcome{}, l.err
}

// TestKeysThatAreNotChecked: an adapter that sends no request for the lookup shows nothing about the keys, which is no problem.
func TestKeysThatAreNotChecked(t *testing.T) {
	t.Parallel()
	for _, err := range []error{gateway.ErrUnsupported, gateway.ErrUnsupportedRequest, gateway.ErrInconclusive, gateway.ErrNoSuchPayment, nil} {
		checks := doctor.OfAccounts([]doctor.Account{{Name: "eu", New: func(*http.Client) (gateway.Provider, error) {
			return local{err: err}, nil
		}}}, http.DefaultClient, time.Now)
		var out strings.Builder
		require.Zero(t, doctor.Run(t.Context(), checks, doctor.Printer(&out)), err)
		require.Regexp(t, "^note   account eu: accounts: eu: the account's keys were not checked", out.String(), err)
		require.NotContains(t, out.String(), "ok ", err)
	}
	list, _ := problems(doctor.OfAccounts([]doctor.Account{{Name: "eu", New: func(*http.Client) (gateway.Provider, error) {
		return local{err: errors.New("no address")}, nil
	}}}, http.DefaultClient, time.Now))
	require.Len(t, list, 1)
	require.Contains(t, list[0], "was not reached: no address")
}

// answered returns the problems that the doctor finds at an account of the kind whose provider gives each request the same answer.
func answered(t *testing.T, kind, body string) (list []string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	defer server.Close()
	checks := doctor.OfAccounts([]doctor.Account{{Name: kind, Absent: provider.Adapters()[kind].Absent, New: func(c *http.Client) (gateway.Provider, error) {
		return provider.New(kind, kit.Settings{
			BaseURL: server.URL, Client: c, Now: time.Now, Params: map[string]string{"webhook_secret": "secret:secret", "currency": "RUB"},
		})
	}}}, provider.NewHTTPClient(), time.Now)
	doctor.Run(t.Context(), checks, func(_ doctor.Check, found []doctor.Finding) {
		for _, f := range found {
			if !f.Note {
				list = append(list, f.String())
			}
		}
	})
	return list
}

// TestRefusalsWithStatus200: some providers refuse wrong keys with the status 200 and an error in the body.
func TestRefusalsWithStatus200(t *testing.T) {
	t.Parallel()
	for kind, body := range map[string]string{
		"comgate":       "code=1400&message=Unauthorized access!",
		"tbank":         `{"Success":false,"ErrorCode":"204","Message":"Неверный токен. Проверьте пару TerminalKey/SecretKey."}`,
		"robokassa":     `<OperationStateResponse><Result><Code>1</Code></Result></OperationStateResponse>`,
		"cloudpayments": `{"Success":false,"Message":"Unauthorized"}`,
	} {
		list := answered(t, kind, body)
		require.Len(t, list, 1, kind)
		require.Contains(t, list[0], "the lookup of a missing payment failed: ", kind)
	}
}

// TestAnotherServerAnswers: each kind that can be looked up has a problem if its address leads to a page with the status 200.
func TestAnotherServerAnswers(t *testing.T) {
	t.Parallel()
	for kind, a := range provider.Adapters() {
		if a.New == nil {
			continue
		}
		list := answered(t, kind, "<html>It works!</html>")
		if kind == "adyen" { // it has no lookup
			require.Empty(t, list)
			continue
		}
		require.Len(t, list, 1, kind)
	}
}

func TestOfConfig(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	c := &config.Config{
		Auth:      config.Auth{JWKSURL: plain.URL, HS256: []config.HS256Key{{Secret: "s1"}}},
		Retention: config.Retention{Events: 24 * time.Hour},
		Accounts:  []config.Account{{Name: "a", PublicURL: "https://127.0.0.1/webhooks/a", WebhookSecrets: []config.Secret{"s1"}}},
		Endpoints: []config.Endpoint{
			{Name: "secure", URL: secure.URL, Secrets: []config.Secret{"s2"}},
			{Name: "plain", URL: plain.URL, Secrets: []config.Secret{"s3"}, Schedule: []time.Duration{time.Hour}},
			{Name: "away", URL: "http://127.0.0.1:1", Schedule: []time.Duration{time.Hour}},
		},
	}
	list, grave := problems(doctor.OfConfig(c, http.DefaultClient, time.Now))
	require.Zero(t, grave)
	require.Len(t, list, 7, list)
	for i, want := range []string{
		"the last try of an event is 75h35m5s after the first", "the same secret is configured in auth.hs256[0]", "responds with 404", "which no provider can reach", "can't connect by TLS", "can't connect by TLS", "can't connect: ",
	} {
		require.Contains(t, list[i], want)
	}
	require.NotContains(t, strings.Join(list, ""), "s1")
}
