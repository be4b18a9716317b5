package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/webhooks"
)

const (
	initKey    = "sk_test_51Init"
	initSecret = "whsec_of_stripe_listen"
)

// initStripe is Stripe's API as far as a payment with pm_card_visa needs it, and `stripe listen`.
type initStripe struct {
	*httptest.Server

	t *testing.T

	mu      sync.Mutex
	keys    map[string]string
	charges int
	intent  string
}

func newInitStripe(t *testing.T) *initStripe {
	t.Helper()
	f := &initStripe{t: t, keys: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payment_intents", f.charge)
	mux.HandleFunc("GET /v1/payment_intents/{id}", func(w http.ResponseWriter, _ *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		_, _ = w.Write([]byte(f.intent))
	})
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// charge takes the money once for each key.
func (f *initStripe) charge(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+initKey:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"type":"invalid_request_error","message":"Invalid API Key provided"}}`))
		return
	case r.PostFormValue("payment_method") != "pm_card_visa", r.PostFormValue("confirm") != "true", key == "":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"type":"invalid_request_error","code":"parameter_invalid"}}`))
		return
	case f.keys[key] == "":
		f.charges++
		f.intent = fmt.Sprintf(`{"object":"payment_intent","id":"pi_3Init%d","status":"succeeded","amount":%s,"amount_received":%s,"amount_capturable":0,"currency":%q,`+
			`"latest_charge":"ch_3Init","metadata":{"payment_attempt_id":%q}}`,
			f.charges, r.PostFormValue("amount"), r.PostFormValue("amount"), r.PostFormValue("currency"), r.PostFormValue("metadata[payment_attempt_id]"))
		f.keys[key] = f.intent
	}
	_, _ = w.Write([]byte(f.keys[key]))
}

// forward sends the event of the payment to the service, as `stripe listen` does.
func (f *initStripe) forward(listen, secret string) int {
	f.t.Helper()
	f.mu.Lock()
	body := fmt.Sprintf(`{"id":"evt_1Init","object":"event","type":"payment_intent.succeeded","created":%d,"livemode":false,"api_version":"2025-03-31.basil","data":{"object":%s}}`,
		time.Now().Unix(), f.intent)
	f.mu.Unlock()
	d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body), ReceivedAt: time.Now()}
	require.NoError(f.t, signerOf(f.t, "stripe", kindAccount{Secrets: []string{secret}})(&d))
	a := (&service{base: "http://" + listen}).redeliver(f.t.Context(), "stripe", d)
	require.NoError(f.t, a.err)
	return a.status
}

// prints waits until a process has printed a text, or has ended.
func (p *process) prints(t *testing.T, text string) {
	t.Helper()
	eventually(t, text, func() bool {
		select {
		case <-p.done:
			return true
		default:
			return strings.Contains(p.stdout.String(), text)
		}
	})
	require.Contains(t, p.stdout.String(), text, "%s", p.stderr)
}

// exits waits for the end of a process and returns its exit code.
func (p *process) exits(t *testing.T) int {
	t.Helper()
	within(t, "the end of the process", p.done)
	return p.cmd.ProcessState.ExitCode()
}

// transcript reads the output of paylatch init from the tutorial.
func transcript(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/tutorials/stripe-test-payment.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "$ bin/paylatch init --kind stripe --try\n")
	require.True(t, found)
	output, _, found := strings.Cut(rest, "```\n")
	require.True(t, found)
	return lines(output)
}

// lines are the lines of a text, without those that show that time passes.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		if !strings.Contains(line, "still waiting") {
			all = append(all, strings.TrimRight(line, " \n"))
		}
	}
	return all
}

// TestInitAtATerminal is the tutorial's test payment at Stripe: a person answers at a terminal, the payment is made, and its webhook
// comes. The tutorial has the same lines.
func TestInitAtATerminal(t *testing.T) {
	t.Parallel()
	stripe, listen, dir := newInitStripe(t), testdb.Address(t), t.TempDir()
	typed, tty := terminal(t)
	p := &process{
		cmd: exec.Command(binary, "init", "--kind", "stripe", "--try", "--set", "base_url="+stripe.URL, "--listen", listen), stdout: &journal{}, stderr: &journal{}, done: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = dir, withoutSettings(), bound()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = tty, p.stdout, p.stderr, time.Second
	require.NoError(t, p.launch())
	t.Cleanup(p.kill)
	for _, said := range [][2]string{{"API key: ", initKey}, {"starts its own): ", ""}, {"(empty: later): ", initSecret}} {
		p.prints(t, said[0])
		_, err := typed.WriteString(said[1] + "\n")
		require.NoError(t, err)
		_, err = p.stdout.Write([]byte(said[1] + "\n")) // the terminal's echo
		require.NoError(t, err)
	}
	p.prints(t, "4/4")
	require.Equal(t, http.StatusOK, stripe.forward(listen, initSecret))
	require.Zero(t, p.exits(t), "%s\n%s", p.stdout, p.stderr)
	require.Equal(t, 1, stripe.charges)
	require.Empty(t, p.stderr.String())

	printed, want := lines(strings.ReplaceAll(p.stdout.String(), listen, "127.0.0.1:8080")), transcript(t)
	for i, line := range want {
		form := "^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$"
		require.Less(t, i, len(printed), "the tutorial says more: %s", line)
		require.Regexp(t, form, printed[i], "line %d of:\n%s", i+1, strings.Join(printed, "\n"))
	}
	require.Len(t, printed, len(want), "the program says more:\n%s", strings.Join(printed, "\n"))
	showsThePayment(t, dir, listen, printed)
	for _, file := range []string{"paylatch.yaml", "paylatch.env"} {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
}

// showsThePayment starts the service with the last printed command, and reads the paid order.
func showsThePayment(t *testing.T, dir, listen string, printed []string) {
	t.Helper()
	loads, found := strings.CutSuffix(strings.TrimSpace(printed[len(printed)-1]), "; paylatch dev")
	require.True(t, found)
	program := []string{"PROGRAM=" + binary}
	dev := startOf(t, "/bin/sh", dir, program, "-c", loads+"; exec \"$PROGRAM\" dev --sandbox-listen "+testdb.Address(t))
	dev.prints(t, "paylatch is ready")
	minted := startOf(t, "/bin/sh", dir, program, "-c", loads+"; exec \"$PROGRAM\" token --sub shop --role service")
	require.Zero(t, minted.exits(t), minted.stderr)
	order := regexp.MustCompile(`order (init-\S+) of`).FindStringSubmatch(strings.Join(printed, "\n"))[1]
	var read answer
	eventually(t, "the service", func() bool {
		read = client{base: "http://" + listen, token: strings.TrimSpace(minted.stdout.String())}.send(t.Context(), http.MethodGet, "/v1/orders/"+order, "")
		return read.err == nil
	})
	read.is(t, http.StatusOK)
	require.Contains(t, string(read.text), `"status":"paid"`)
	code, _ := dev.stop(t, syscall.SIGTERM)
	require.Zero(t, code, dev.stderr)
}

// withoutSettings is the environment without paylatch's variables, and without the database of other programs.
func withoutSettings() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PAYLATCH_") || strings.HasPrefix(v, "DATABASE_URL=") })
}

// initialised writes the files of an account at the fake of Stripe in a new directory.
func initialised(t *testing.T, stripe *initStripe, listen string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p := start(t, dir, nil, "init", "--kind", "stripe", "--set", "api_key="+initKey, "--set", "webhook_secrets="+initSecret, "--set", "base_url="+stripe.URL,
		"--database-url", testdb.New(t), "--listen", listen)
	require.Zero(t, p.exits(t), p.stderr)
	require.NotContains(t, p.stdout.String(), initSecret)
	return dir
}

// TestInitSaysWhatIsMissing, and exits with 1: the webhook does not come, comes with another secret, or the key is wrong; or it is
// interrupted.
func TestInitSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	stripe, listen := newInitStripe(t), testdb.Address(t)
	dir := initialised(t, stripe, listen)

	p := start(t, dir, nil, "init", "--try", "--wait", "1s")
	require.Equal(t, 1, p.exits(t))
	require.Contains(t, p.stdout.String(), "missing  no webhook arrived at http://"+listen+"/webhooks/stripe\n         to do: start the tunnel")
	require.Contains(t, p.stderr.String(), "paylatch: the test payment is not complete: no webhook")

	p = start(t, dir, nil, "init", "--try")
	p.prints(t, "4/4")
	require.Equal(t, http.StatusUnauthorized, stripe.forward(listen, "whsec_of_another_endpoint"))
	require.Equal(t, 1, p.exits(t), p.stderr)
	require.Contains(t, p.stdout.String(), "missing  a webhook arrived and was refused: webhook-signature-invalid\n         to do: put the signing secret")
	require.Contains(t, p.stdout.String(), "into paylatch.env")

	p = start(t, dir, nil, "init", "--try")
	p.prints(t, "4/4")
	code, _ := p.stop(t, syscall.SIGINT)
	require.Equal(t, 1, code)
	require.Equal(t, "paylatch: stopped; run the command again to continue\n", p.stderr.String())

	secrets, err := os.ReadFile(filepath.Join(dir, "paylatch.env"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "paylatch.env"), []byte(strings.Replace(string(secrets), initKey, "sk_test_wrong", 1)), 0o600))
	p = start(t, dir, nil, "init", "--try")
	require.Equal(t, 1, p.exits(t))
	require.Contains(t, p.stdout.String(), "missing  the payment has failed")
	require.Contains(t, p.stdout.String(), "`paylatch doctor` checks the account's keys")
}

// TestInitUsesTheRunningService with a real provider, whose webhook moves the payment.
func TestInitUsesTheRunningService(t *testing.T) {
	t.Parallel()
	r, listen, dir := newRig(t), testdb.Address(t), t.TempDir()
	p := start(t, dir, nil, "init", "--kind", "sandbox", "--set", "base_url="+r.sandbox, "--set", "webhook_secrets="+sandboxSecret, "--database-url", r.dsn, "--listen", listen)
	require.Zero(t, p.exits(t), p.stderr)
	require.NotContains(t, p.stdout.String(), sandboxSecret)
	again := start(t, dir, nil, "init", "--kind", "sandbox", "--set", "base_url="+r.sandbox)
	require.Equal(t, 2, again.exits(t))
	require.Contains(t, again.stderr.String(), "paylatch.yaml already exists: --force replaces the file")

	// The printed command starts the service.
	command := regexp.MustCompile(`set -a; \. \./paylatch\.env; set \+a; paylatch( .*)\n`).FindStringSubmatch(p.stdout.String())
	require.NotNil(t, command, p.stdout)
	patient := []string{"PROGRAM=" + binary, leftAlone, "PAYLATCH_PROVIDER_TIMEOUT=20s"} // the webhook is to be earlier than a lookup
	serve := startOf(t, "/bin/sh", dir, patient, "-c", "set -a; . ./paylatch.env; set +a; exec \"$PROGRAM\""+command[1])
	serve.says(t, "serving")
	r.hooks.Lead("http://" + listen)
	eventually(t, "the response of the running service", func() bool { // without it in time, the command would start one of its own
		p = start(t, dir, nil, "init", "--try")
		p.exits(t)
		return !strings.Contains(p.stderr.String(), "address already in use")
	})
	require.Zero(t, p.exits(t), "%s\n%s", p.stdout, p.stderr)
	require.Contains(t, p.stdout.String(), "which is already running")
	require.Regexp(t, `ok       the payment: 19\.99 EUR captured, .*, succeeded\n`, p.stdout.String())
	require.Regexp(t, `ok       the webhook .*: succeeded, genuine, verdict applied \(it changed the payment\)\n`, p.stdout.String())
}

// TestInitOfEachKind: the doctor takes the form of each kind's configuration, and shows no secret.
func TestInitOfEachKind(t *testing.T) {
	t.Parallel()
	dsn, api := testdb.New(t), newProvidersAPI(t)
	accounts := kindAccounts()
	require.Len(t, accounts, 19)
	for kind := range maps.Keys(accounts) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			a, dir := accounts[kind], t.TempDir()
			args := []string{"init", "--kind", kind, "--database-url", dsn, "--set", "base_url=" + api.URL, "--listen", testdb.Address(t)}
			for key, value := range a.Keys {
				args = append(args, "--set", key+"="+value)
			}
			if len(a.Secrets) > 0 {
				args = append(args, "--set", "webhook_secrets="+a.Secrets[0])
			}
			if a.PublicURL != "" {
				args = append(args, "--set", "public_url="+a.PublicURL)
			}
			p := start(t, dir, nil, args...)
			require.Zero(t, p.exits(t), p.stderr)
			require.Contains(t, p.stdout.String(), "/webhooks/"+kind)
			examined := startOf(t, "/bin/sh", dir, []string{"PROGRAM=" + binary}, "-c", `set -a; . ./paylatch.env; set +a; exec "$PROGRAM" doctor`)
			code := examined.exits(t)
			require.Contains(t, []int{0, 1}, code, examined.stderr)
			require.Contains(t, examined.stdout.String(), "ok     configuration\n", examined.stderr)
			for _, secret := range a.Secrets {
				require.NotContains(t, p.stdout.String()+examined.stdout.String(), secret)
			}
		})
	}
}
