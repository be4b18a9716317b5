package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// prismVariable names the program of Prism, a validating proxy that knows only the contract. Without it, the tests call the services
// directly. See scripts/contract.
const prismVariable = "PAYLATCH_PRISM"

// upstream is the header with the service that a request through Prism goes to. One Prism checks the exchanges of all services.
const upstream = "X-Contract-Upstream"

var errGone = errors.New("the service does not answer")

// violations is Prism's header with all differences from the contract.
const violations = "Sl-Violations"

// inContract are the paths of the contract.
var inContract = regexp.MustCompile(`^/(v1/|webhooks/|healthz$|readyz$|metrics$|openapi\.yaml$|docs$|sdk/paylatch\.js$|problems$|problems/)`)

// prism is the running proxy, and is nil without the variable.
var prism = sync.OnceValue(func() *url.URL {
	program := os.Getenv(prismVariable)
	if program == "" {
		return nil
	}
	onwards := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(r.In.Header.Get(upstream))
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
		r.Out.Header.Del(upstream)
	}, ErrorHandler: func(w http.ResponseWriter, r *http.Request, _ error) {
		w.Header().Set(upstream, "gone")
		w.WriteHeader(http.StatusBadGateway)
	}})
	listener := httptest.NewUnstartedServer(nil)
	address := listener.Listener.Addr().String()
	listener.Close()
	_, port, _ := strings.Cut(address, ":")
	contract, err := filepath.Abs("../../../api/openapi.yaml")
	if err != nil {
		panic(err)
	}
	log := &journal{}
	cmd := exec.Command(program, "proxy", contract, onwards.URL, "--host", "127.0.0.1", "--port", port)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, bound()
	if err := (&process{cmd: cmd, done: make(chan struct{})}).launch(); err != nil {
		panic(err)
	}
	for !strings.Contains(log.String(), "Prism is listening") {
		if cmd.ProcessState != nil {
			panic("Prism has ended: " + log.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return &url.URL{Scheme: "http", Host: address}
})

// unchanged reports whether Prism passes a request and its response on as they are. Prism writes JSON anew, can't read some addresses and
// bodies, and waits for the end of a response, which a stream does not have.
func unchanged(r *http.Request) bool {
	for _, values := range r.Header {
		if len(values) > 1 { // Node joins them
			return false
		}
	}
	if !inContract.MatchString(r.URL.Path) || strings.HasSuffix(r.URL.Path, "/stream") || !utf8.ValidString(r.URL.Path) {
		return false
	}
	if r.Body == nil {
		return true
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || len(body) == 0 {
		return err == nil
	}
	var short bytes.Buffer
	return json.Compact(&short, body) == nil && short.String() == string(body) && !rewritten.Match(body)
}

// rewritten are parts of JSON that have several notations.
var rewritten = regexp.MustCompile(`[0-9][.eE]|\\u`)

// breach is a difference from the contract that Prism reports.
type breach struct {
	Location []string `json:"location"`
	Severity string   `json:"severity"`
	Code     any      `json:"code"`
	Message  string   `json:"message"`
}

// checked returns the address of a proxy before a service: the service's own address, unless the variable names Prism. Every response
// must then be as the contract says. A request that is not must be refused.
func checked(t *testing.T, base string) string {
	t.Helper()
	through := prism()
	if through == nil {
		return base
	}
	direct, err := url.Parse(base)
	require.NoError(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			if !unchanged(r.Out) {
				r.SetURL(direct)
				r.Out.Host = r.In.Host
				return
			}
			r.SetURL(through)
			r.Out.Header.Set(upstream, base)
		},
		ModifyResponse: func(a *http.Response) error {
			if a.Header.Get(upstream) != "" {
				return errGone
			}
			text := a.Header.Get(violations)
			a.Header.Del(violations)
			var all []breach
			if text != "" && json.Unmarshal([]byte(text), &all) != nil {
				t.Errorf("not a list of violations: %s", text)
			}
			for _, v := range all {
				if len(v.Location) > 0 && v.Location[0] == "request" && a.StatusCode >= http.StatusBadRequest {
					continue
				}
				t.Errorf("Prism: %s %s: %d: %v: %v %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, v.Location, v.Code, v.Message)
			}
			return nil
		},
		// A service that does not answer closes its connections. Prism always answers.
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			if !errors.Is(err, errGone) && r.Context().Err() == nil {
				t.Errorf("Prism: %s %s: %v", r.Method, r.URL, err)
			}
			panic(http.ErrAbortHandler)
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}
