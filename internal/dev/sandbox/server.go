package sandbox

import (
	"errors"
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/paylatch/paylatch/internal/platform/page"
)

// Server is the sandbox provider. It serves calls as soon as it is created; webhooks,
// and the later steps of charges, need Run.
type Server struct {
	opts    Options
	tokens  map[string]behaviour
	store   *store
	sender  *Sender // nil: no webhooks
	page    *template.Template
	mux     *http.ServeMux
	running atomic.Bool
	closed  chan struct{}
	close   sync.Once
}

// New opens the state file and restores its state. It starts no goroutine.
func New(opts Options) (*Server, error) {
	opts = opts.withDefaults()
	page, err := parsePage()
	if err != nil {
		return nil, err
	}
	out, err := newSender(opts)
	if err != nil {
		return nil, err
	}
	st, err := openStore(opts.StateFile, opts.Now, opts.Loses)
	if err != nil {
		return nil, fmt.Errorf("open state file %q: %w", opts.StateFile, err)
	}
	s := &Server{
		opts: opts, tokens: tokens(opts.Delays), store: st, sender: out,
		page: page, closed: make(chan struct{}),
	}
	s.routes()
	return s, nil
}

// ErrWebhook is returned for options that no webhook can be sent with.
var ErrWebhook = errors.New("no webhook can be sent")

func newSender(o Options) (*Sender, error) {
	if o.WebhookURL == "" {
		return nil, nil //nolint:nilnil // no address, no sender: that is not an error
	}
	out, err := NewSender(SenderOptions{
		URL: o.WebhookURL, Secret: o.WebhookSecret, Client: o.Client, Now: o.Now, Signed: o.Signed, Until: o.Until, Log: o.Log,
		Timeout: o.Delays.Timeout, RetryMin: o.Delays.RetryMin, RetryMax: o.Delays.RetryMax,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWebhook, err)
	}
	return out, nil
}

// Loses reports whether an event is never delivered, by its number in the list of events, from 0 on.
func (o Options) Loses(number int) bool {
	if o.WebhookURL == "" {
		return true
	}
	return o.Lose > 0 && rand.New(rand.NewPCG(o.Seed, uint64(number))).Float64() < o.Lose //nolint:gosec // it is no secret, and never negative
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("POST /v1/charges", command(s, http.StatusCreated, func(t *tx, c call, in chargeRequest) result {
		return createCharge(t, c, in, s.tokens)
	}))
	s.mux.HandleFunc("GET /v1/charges", s.listCharges)
	s.mux.HandleFunc("GET /v1/charges/{id}", s.showCharge)
	s.mux.HandleFunc("POST /v1/charges/{id}/capture", command(s, http.StatusOK, captureCharge))
	s.mux.HandleFunc("POST /v1/charges/{id}/complete", command(s, http.StatusOK, completeCharge))
	s.mux.HandleFunc("POST /v1/charges/{id}/cancel", command(s, http.StatusOK, cancelCharge))
	s.mux.HandleFunc("POST /v1/charges/{id}/refunds", command(s, http.StatusCreated, createRefund))
	s.mux.HandleFunc("GET /v1/refunds", s.listRefunds)
	s.mux.HandleFunc("GET /v1/refunds/{id}", s.showRefund)
	s.mux.HandleFunc("GET /v1/payment-methods/{id}", s.showMethod)
	s.mux.HandleFunc("GET /v1/ledger", s.showLedger)
	s.mux.HandleFunc("GET /v1/balance", s.showBalance)
	s.mux.HandleFunc("GET /v1/events", s.listEvents)
	s.mux.HandleFunc("POST /v1/dashboard/charges/{id}/refund", act(s, http.StatusCreated, refundInDashboard))
	s.mux.HandleFunc("POST /v1/dashboard/charges/{id}/dispute", act(s, http.StatusCreated, openDispute))
	s.mux.HandleFunc("POST /v1/dashboard/disputes/{id}/{act}", act(s, http.StatusOK, moveDispute))
	s.mux.HandleFunc("GET /v1/dropin.js", showDropin)
	s.mux.HandleFunc("GET /v1/dropin/charges/{id}", s.readByDropin)
	s.mux.HandleFunc("POST /v1/dropin/charges/{id}/confirm", s.confirm)
	s.mux.HandleFunc("POST /v1/dropin/charges/{id}/challenge", s.challengeByScript)
	s.mux.HandleFunc("OPTIONS /v1/dropin/charges/", preflight)
	s.mux.Handle("GET /pay/assets/", http.StripPrefix("/pay/assets", page.StyleFiles(pageFiles)))
	s.mux.HandleFunc("GET /pay/{id}", s.showPage)
	s.mux.HandleFunc("POST /pay/challenge", s.showChallenge)
	s.mux.HandleFunc("POST /pay/{id}", s.decide)
}

// ServeHTTP serves the provider's API and its hosted pages. A call that hangs ends with
// the request's context, so a server that must stop quickly gives its requests a base
// context that it cancels.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if !s.authenticated(r) {
		refused := unauthenticated()
		refused.Message = "Send the API key as Authorization: Bearer."
		write(w, errorReply(refused))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// authenticated reports whether a call has the API key, where it needs one. The drop-in's calls are a browser's.
func (s *Server) authenticated(r *http.Request) bool {
	if s.opts.APIKey == "" || !strings.HasPrefix(r.URL.Path, "/v1/") || strings.HasPrefix(r.URL.Path, "/v1/dropin") {
		return true
	}
	return same(r.Header.Get("Authorization"), "Bearer "+s.opts.APIKey)
}

// Close ends the calls that hang and closes the state file; later calls get a 500. It
// does not wait for Run: end that first.
func (s *Server) Close() error {
	var err error
	s.close.Do(func() {
		close(s.closed)
		if s.sender != nil {
			s.sender.Close()
		}
		err = s.store.close()
	})
	return err
}
