package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/paylatch/paylatch/internal/dev/conformance/account"
	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/standard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	apiKey = "key_of_the_account_4f1c"
	// longest bounds waits that end only if the code is wrong.
	longest = 5 * time.Minute
)

// provider is a sandbox with a front that sees each request and may change each answer.
type provider struct {
	*httptest.Server

	mu     sync.Mutex
	seen   []string
	change func(r *http.Request, h http.Header, body string) string
}

func newProvider(t *testing.T, change func(r *http.Request, h http.Header, body string) string) *provider {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{APIKey: apiKey})
	require.NoError(t, err)
	p := &provider{change: change}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Method+" "+r.URL.Path)
		p.mu.Unlock()
		heard := httptest.NewRecorder()
		box.ServeHTTP(heard, r)
		text := heard.Body.String()
		if p.change != nil {
			text = p.change(r, w.Header(), text)
		}
		w.WriteHeader(heard.Code)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(func() {
		p.Close()
		require.NoError(t, box.Close())
	})
	return p
}

// commands are the requests that were not reads.
func (p *provider) commands() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.seen {
		if !strings.HasPrefix(line, "GET ") {
			list = append(list, line)
		}
	}
	return list
}

func (p *provider) options(t *testing.T) account.Options {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return account.Options{
		Name: "box", Kind: "standard", Version: "v1.2.3", Client: &http.Client{Transport: transport}, Money: payment.Money{Minor: 1999, Currency: "EUR"},
		Tokens: account.Tokens{Success: "tok_success", Decline: "tok_decline", Redirect: "tok_redirect"}, Secrets: []string{apiKey},
		Build: func(c *http.Client) (gateway.Account, error) {
			s := standard.New(p.URL, apiKey, c)
			return gateway.Account{Provider: s, Books: s}, nil
		},
		Open: func(context.Context, account.Step) (json.RawMessage, error) {
			return nil, account.SkipError("nobody is here")
		},
		NoReceiver: "nobody sends webhooks here", Timeout: longest, Wait: longest, Pause: time.Millisecond, Now: time.Now,
	}
}

func run(t *testing.T, o account.Options) account.Report {
	t.Helper()
	report, err := account.Run(t.Context(), o, func(r account.Result) { t.Log(r.Line()) })
	require.NoError(t, err)
	return report
}

func verdicts(r account.Report) map[string]account.Verdict {
	all := map[string]account.Verdict{}
	for _, c := range r.Cases {
		all[c.Case] = c.Verdict
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	p := newProvider(t, func(_ *http.Request, h http.Header, body string) string {
		h.Set("Request-Id", "req_1")
		return body
	})
	report := run(t, p.options(t))
	require.Equal(t, map[string]account.Verdict{
		"charge": account.Held, "same key": account.Held, "lost answer": account.Held, "decline": account.Held, "second step": account.Skipped,
		"lookup": account.Held, "capture": account.Held, "captures in parts": account.NotOffered, "cancel": account.Held, "refund of a part": account.Held, "refund of the whole": account.Held,
		"webhook": account.Skipped, "books": account.Held, "clean-up": account.Held,
	}, verdicts(report))
	require.Equal(t, []string{"v1"}, report.API)
	require.Equal(t, "v1.2.3", report.Paylatch)
	require.Equal(t, "by reference, consistent", report.Capabilities["lookup"])
	require.Equal(t, "once", report.Capabilities["captures"])
	charge := report.Cases[0]
	require.Equal(t, []string{"req_1"}, charge.RequestIDs)
	require.Len(t, charge.Payments, 1)
	require.Contains(t, charge.Text, "19.99 EUR")
	require.Equal(t, "nobody is here", report.Cases[4].Text)

	var page bytes.Buffer
	require.NoError(t, report.HTML(&page))
	for _, text := range []string{"v1.2.3", "req_1", charge.Payments[0], "captures_seen"} {
		require.Contains(t, page.String(), text)
	}
	for name := range verdicts(report) {
		require.Contains(t, page.String(), ">"+name+"<")
	}
}

// TestLiveMode: an account of real money is refused before anything is charged, whatever shows it.
func TestLiveMode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers string
		build   func(gateway.Account) gateway.Account
	}{
		"the key":           {build: func(a gateway.Account) gateway.Account { a.Live = new(true); return a }},
		"an entry":          {build: func(a gateway.Account) gateway.Account { a.Books = liveBooks{}; return a }},
		"livemode":          {answers: `{"error":{"code":"not_found"},"livemode": true}`},
		"live, as a text":   {answers: `{"live":"true"}`},
		"live_mode, inside": {answers: `{"data":[{"live_mode":true}]}`},
		"mode":              {answers: `{"mode":"live"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, func(_ *http.Request, _ http.Header, body string) string {
				if tc.answers != "" {
					return tc.answers
				}
				return body
			})
			o := p.options(t)
			if build := o.Build; tc.build != nil {
				o.Build = func(c *http.Client) (gateway.Account, error) {
					a, err := build(c)
					return tc.build(a), err
				}
			}
			_, err := account.Run(t.Context(), o, func(r account.Result) { t.Errorf("a case has run: %s", r.Line()) })
			require.ErrorAs(t, err, new(account.LiveError))
			require.ErrorContains(t, err, "only on test accounts")
			require.Empty(t, p.commands())
		})
	}
}

type liveBooks struct{}

func (liveBooks) Entries(_ context.Context, _ gateway.Span, take func(gateway.Entry) error) error {
	return take(gateway.Entry{ID: "e_1", Payment: "p_1", Live: new(true)})
}

// TestLiveModeInAnAnswer: a provider that shows its mode only in the answer to a charge ends the run, and the charge is refunded.
func TestLiveModeInAnAnswer(t *testing.T) {
	t.Parallel()
	p := newProvider(t, func(r *http.Request, _ http.Header, body string) string {
		if strings.HasPrefix(r.URL.Path, "/v1/charges") {
			return strings.Replace(body, `{`, `{"test":false,`, 1)
		}
		return body
	})
	_, err := account.Run(t.Context(), p.options(t), func(account.Result) {})
	require.ErrorAs(t, err, new(account.LiveError))
	commands := p.commands()
	require.Len(t, commands, 2)
	require.Equal(t, "POST /v1/charges", commands[0])
	require.True(t, strings.HasSuffix(commands[1], "/refunds"), commands[1])
}

func TestCantRun(t *testing.T) {
	t.Parallel()
	p := newProvider(t, nil)
	for name, tc := range map[string]struct {
		change func(*account.Options)
		want   string
	}{
		"another key": {func(o *account.Options) {
			o.Build = func(c *http.Client) (gateway.Account, error) {
				return gateway.Account{Provider: standard.New(p.URL, "another_key", c)}, nil
			}
		}, "refused the credentials (401)"},
		"nobody there": {func(o *account.Options) {
			o.Build = func(c *http.Client) (gateway.Account, error) {
				return gateway.Account{Provider: standard.New("http://127.0.0.1:1", apiKey, c)}, nil
			}
		}, "can't be reached"},
		"no calls": {func(o *account.Options) {
			o.Build = func(*http.Client) (gateway.Account, error) { return gateway.Account{}, nil }
		}, "can't call its provider"},
		"an unfit charge": {func(o *account.Options) {
			build := o.Build
			o.Build = func(c *http.Client) (gateway.Account, error) {
				a, err := build(c)
				a.Provider = refusing{a.Provider}
				return a, err
			}
		}, "correct it by --token-success, --currency or the account's keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := p.options(t)
			tc.change(&o)
			_, err := account.Run(t.Context(), o, func(account.Result) {})
			require.ErrorAs(t, err, new(account.CantRunError))
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.Empty(t, p.commands())
}

type refusing struct{ gateway.Provider }

func (refusing) Accepts(gateway.Charge) error {
	return &payment.ValidationError{Fields: []payment.FieldError{{Field: "currency", Message: "must be USD"}}}
}

// TestNoSecretInTheReport plants secrets wherever a provider, a person or an error could bring them.
func TestNoSecretInTheReport(t *testing.T) {
	t.Parallel()
	const (
		webhookSecret = "shared+secret/of=the=hook"
		issued        = "A21AAissuedByTheProvider"
		signature     = "5257a869e7ecebeda32affa62cdca3fa"
		formed        = "sk_test_51AbCdEfGhIjKlMn"
		session       = "sess_tok_in_the_address"
		basic         = "c2hvcDpwYXNzd29yZC1vZi1zaG9w"
		jwt           = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
	)
	secrets := []string{apiKey, webhookSecret, issued, signature, formed, session, basic, "password-of-shop", jwt, "tok_success", "tok_decline", "tok_redirect"}
	p := newProvider(t, func(r *http.Request, h http.Header, body string) string {
		for _, s := range secrets {
			h.Add("X-Request-Id", s)
			h.Add("Request-Id", "req "+s)
		}
		h.Set("X-Debug-Id", "<script>alert(1)</script>")
		if r.URL.Path == "/v1/charges" && strings.HasPrefix(body, "{") {
			return strings.Replace(body, `{`, `{"access_token":"`+issued+`","requestId":"`+apiKey+`",`, 1)
		}
		return body
	})
	o := p.options(t)
	o.Secrets = append(o.Secrets, webhookSecret, "tok_success", "tok_decline", "tok_redirect")
	build := o.Build
	o.Build = func(c *http.Client) (gateway.Account, error) {
		a, err := build(c)
		a.Provider = telling{a.Provider, strings.Join(secrets, " "), func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/v1/charges", http.NoBody)
			if err != nil {
				return err
			}
			req.Header = http.Header{"Authorization": {"Basic " + basic}, "X-Signature": {signature}, "Session-Token": {session}}
			resp, err := c.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}}
		return a, err
	}
	o.Open = func(_ context.Context, s account.Step) (json.RawMessage, error) {
		return nil, fmt.Errorf("open %s?token=%s: Basic %s: %s", s.Action.URL, session, basic, strings.Join(secrets, ","))
	}
	var lines strings.Builder
	report, err := account.Run(t.Context(), o, func(r account.Result) { lines.WriteString(r.Line() + "\n") })
	require.NoError(t, err)
	require.Positive(t, report.Counts[account.Failed])
	var page bytes.Buffer
	require.NoError(t, report.HTML(&page))
	text, err := json.Marshal(report)
	require.NoError(t, err)
	for name, out := range map[string]string{"lines": lines.String(), "page": page.String(), "JSON": string(text)} {
		require.Contains(t, out, "(hidden)", name)
		for _, s := range secrets {
			require.NotContains(t, out, s, name)
		}
		require.NotContains(t, out, "<script>", name)
	}
}

// telling is a provider whose refusals and errors quote secrets. It sends a request with credentials in headers before each charge.
type telling struct {
	gateway.Provider

	text string
	sign func(ctx context.Context) error
}

func (p telling) Charge(ctx context.Context, c gateway.Charge) (gateway.Outcome, error) {
	if err := p.sign(ctx); err != nil {
		return gateway.Outcome{}, err
	}
	return p.Provider.Charge(ctx, c)
}

func (p telling) Capture(ctx context.Context, c gateway.Capture) (gateway.Outcome, error) {
	o, err := p.Provider.Capture(ctx, c)
	o.Refused, o.Failure = true, &payment.Failure{Code: "provider_rejected", ProviderCode: p.text}
	return o, err
}

func (p telling) LookupRefund(context.Context, gateway.RefundRef) (gateway.RefundOutcome, error) {
	return gateway.RefundOutcome{}, errors.New("Authorization: Bearer " + p.text)
}

// TestStopped: an interrupt at a page cleans up, and the report says so.
func TestStopped(t *testing.T) {
	t.Parallel()
	p := newProvider(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := p.options(t)
	o.Open = func(context.Context, account.Step) (json.RawMessage, error) {
		stop()
		return nil, nil
	}
	report, err := account.Run(ctx, o, func(r account.Result) { t.Log(r.Line()) })
	require.NoError(t, err)
	require.True(t, report.Stopped)
	require.Empty(t, report.Left)
	got := verdicts(report)
	require.Equal(t, account.Held, got["decline"])
	for _, name := range []string{"second step", "lookup", "refund of a part", "books"} {
		require.Equal(t, account.Skipped, got[name], name)
	}
	require.Equal(t, account.Held, got["clean-up"])
	commands := strings.Join(p.commands(), "\n")
	require.Equal(t, 2, strings.Count(commands, "/refunds"), commands) // of the cases charge and lost answer
	require.Equal(t, 1, strings.Count(commands, "/cancel"), commands)
}
