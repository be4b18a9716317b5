package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/internal/provider/comgate/comgatetest"
	"github.com/paylatch/paylatch/internal/provider/gocardless/gocardlesstest"
	"github.com/paylatch/paylatch/webhooks"
)

// party is a provider of the grid: a server of its own, with its customers, its notifications and its books.
type party struct {
	http.Handler

	kind    string
	account kindAccount
	// methods are the payment methods, as the body of a press has them, by tokens.
	methods map[string]string
	// holds is set where money can be held and captured later.
	holds bool
	// ends is set if a charge with an unknown outcome is sent again, unless a cancel was requested.
	ends bool
	// command returns the name of a request that moves money; empty for any other request.
	command func(*faults.Request) string
	// commands are all names of commands.
	commands []string
	// moves has some of the customers and banks do their part.
	moves func()
	// notices are the bodies of the notifications after the first n.
	notices func(n int) []string
	books   func() []booked
}

// booked is a payment in a provider's books, with the amounts of its refunds by our ids of them.
type booked struct {
	attempt, id string
	taken       int64
	refunds     map[string][]int64
}

// acts reports whether the customer of a payment acts now. Every second customer takes ten times as long, so that there is
// something to cancel.
func acts(id string) bool {
	if strings.Contains("02468", id[len(id)-1:]) {
		return rand.N(4) == 0
	}
	return rand.N(40) == 0
}

// gridComgate has no idempotency keys, and finds no payment by our id.
func gridComgate() *party {
	f := comgatetest.New()
	f.Slow = true
	return &party{
		Handler: f, kind: "comgate", holds: true,
		account: kindAccount{Secrets: []string{comgatetest.Secret}, Keys: map[string]string{"merchant": comgatetest.Merchant}},
		methods: map[string]string{
			"redirect":          `{"token":"redirect"}`,
			comgatetest.Initial: `{"token":"` + comgatetest.Initial + `","stored":true}`,
		},
		command: func(r *faults.Request) string {
			name := path.Base(r.URL.Path)
			switch name {
			case "status":
				return ""
			case "cancelPreauth":
				return "cancel"
			}
			return name
		},
		commands: []string{"create", "recurring", "cancel", "refund"},
		moves: func() {
			payments, _ := f.Books()
			for _, p := range payments {
				switch {
				case p.Status != "PENDING" || !acts(p.ID):
				case strings.HasSuffix(p.ID, "8"):
					f.Set(p.ID, "CANCELLED")
				default:
					f.Pay(p.ID)
				}
			}
		},
		notices: f.Notices,
		books: func() (all []booked) {
			payments, refunds := f.Books()
			for _, p := range payments {
				b := booked{attempt: p.Reference, id: p.ID, refunds: map[string][]int64{}}
				if p.Status == "PAID" {
					b.taken = p.Price
				}
				for _, r := range refunds {
					if r.Payment == p.ID {
						b.refunds[r.Reference] = append(b.refunds[r.Reference], r.Amount)
					}
				}
				all = append(all, b)
			}
			return all
		},
	}
}

// gridGoCardless deduplicates by keys; its debits and refunds take time.
func gridGoCardless() *party {
	f := gocardlesstest.New()
	return &party{
		Handler: f, kind: "gocardless", ends: true,
		account: kindAccount{Secrets: []string{"endpoint-secret"}, Keys: map[string]string{"api_key": "token"}},
		methods: map[string]string{
			"redirect":             `{"token":"redirect"}`,
			gocardlesstest.Mandate: `{"token":"` + gocardlesstest.Mandate + `","stored":true}`,
		},
		command: func(r *faults.Request) string {
			if r.Method != http.MethodPost {
				return ""
			}
			return path.Base(r.URL.Path)
		},
		commands: []string{"billing_requests", "payments", "cancel", "refunds"},
		moves: func() {
			for _, id := range f.Requested() {
				if acts(id) {
					f.Authorise(id)
				}
			}
			if rand.N(20) == 0 {
				f.Submit()
			}
		},
		notices: func(n int) (bodies []string) {
			for _, e := range f.Events(n) {
				body, err := json.Marshal(map[string]any{"events": []any{e}})
				if err != nil {
					panic(err)
				}
				bodies = append(bodies, string(body))
			}
			return bodies
		},
		books: func() (all []booked) {
			payments, refunds := f.Books()
			for _, p := range payments {
				b := booked{attempt: fmt.Sprint(p.Metadata["payment_attempt_id"]), id: p.ID, refunds: map[string][]int64{}}
				if p.Status == "confirmed" {
					b.taken = p.Amount
				}
				for _, r := range refunds {
					if r.Payment == p.ID {
						id := fmt.Sprint(r.Metadata["refund_id"])
						b.refunds[id] = append(b.refunds[id], r.Amount)
					}
				}
				all = append(all, b)
			}
			return all
		},
	}
}

// misbehaviour is a provider's misbehaviour on a command.
type misbehaviour struct {
	name  string
	fault faults.Fault
}

func misbehaviours() []misbehaviour {
	then := func(after func(*faults.Request, *faults.Response) *faults.Response) faults.Fault {
		return func(on faults.Way) faults.Way {
			return func(r *faults.Request) *faults.Response { return after(r, on(r)) }
		}
	}
	return []misbehaviour{
		{"well", func(on faults.Way) faults.Way { return on }},
		{"never arrives", faults.Drop},
		{"done, its answer lost", faults.Lose},
		{"done, its answer cut", faults.Cut},
		{"well again", func(on faults.Way) faults.Way { return on }},
		{"hangs", faults.Hang},
		{"done, then hangs", then(func(r *faults.Request, _ *faults.Response) *faults.Response {
			<-r.Context().Done()
			return nil
		})},
		{"500", faults.Answer(http.StatusInternalServerError, "")},
		{"done, and yet 500", then(func(*faults.Request, *faults.Response) *faults.Response {
			return &faults.Response{Status: http.StatusInternalServerError}
		})},
		{"late", faults.Delay(300 * time.Millisecond)},
		{"answered after its webhook", then(func(r *faults.Request, a *faults.Response) *faults.Response {
			breathe(r.Context(), 700*time.Millisecond)
			return a
		})},
	}
}

// calm begins the id of an order whose charge does not misbehave, so that there is something to cancel and to refund.
const calm = "calm"

// turns makes the commands of each name misbehave in all ways, one after the other, and counts them. A command that is sent for
// the third time goes well.
type turns struct {
	mu        sync.Mutex
	met, sent map[string]int
}

func (s *turns) fault(command func(*faults.Request) string) faults.Fault {
	return func(on faults.Way) faults.Way {
		var ways []faults.Way
		for _, m := range misbehaviours() {
			ways = append(ways, m.fault(on))
		}
		return func(r *faults.Request) *faults.Response {
			name := command(r)
			if name == "" || bytes.Contains(r.Body, []byte(calm)) {
				return on(r)
			}
			return ways[s.turn(name, r.URL.Path+string(r.Body))%len(ways)](r)
		}
	}
}

func (s *turns) turn(name, what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[what]++; s.sent[what] > 2 {
		return 0
	}
	defer func() { s.met[name]++ }()
	return s.met[name]
}

// counts are how many commands of each name there were.
func (s *turns) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.met)
}

// gatewayGrid is a grid over a provider that is a server of the test.
type gatewayGrid struct {
	*grid

	party *party
	turns *turns
	// away is set while no customer and no bank acts.
	away atomic.Bool
}

func newGatewayGrid(t *testing.T, p *party) *gatewayGrid {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	g := &gatewayGrid{&grid{rig: newRig(t), second: "redirect", byBackend: true, environ: []string{"PAYLATCH_RECONCILE_AFTER=60ms"}}, p, &turns{met: map[string]int{}, sent: map[string]int{}}, atomic.Bool{}}
	g.turnstile = &turnstile{
		faults.NewHTTP(t, server.URL, g.turns.fault(p.command)), t, faults.NewHold(t),
		func(r *faults.Request) bool { return p.command(r) != "" },
	}
	g.account = map[string]any{"kind": p.kind, "webhook_secrets": p.account.Secrets}
	for name, value := range p.account.Keys {
		g.account[name] = value
	}
	g.body = func(token, capture string) string {
		return fmt.Sprintf(`{"payment_method":%s,"capture":%q,"return_url":"https://shop.example/back","customer":{"reference":%q,"email":"a@shop.example"}}`,
			p.methods[token], capture, cmp.Or(map[string]string{comgatetest.Initial: comgatetest.Owner, gocardlesstest.Mandate: gocardlesstest.Owner}[token], "u1"))
	}
	return g
}

// lives lets the provider's customers act and delivers its notifications until ctx ends. Each notification is delivered twice,
// some late and in another order, and again until it is received.
func (g *gatewayGrid) lives(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	sign := signerOf(g.t, g.party.kind, g.party.account)
	for seen := 0; ctx.Err() == nil; breathe(ctx, 50*time.Millisecond) {
		if !g.away.Load() {
			g.party.moves()
		}
		bodies := g.party.notices(seen)
		seen += len(bodies)
		for _, body := range slices.Repeat(bodies, 2) {
			all.Go(func() { g.notify(ctx, sign, body) })
		}
	}
}

func (g *gatewayGrid) notify(ctx context.Context, sign func(*webhooks.Delivery) error, body string) {
	breathe(ctx, rand.N(800*time.Millisecond))
	for ; ctx.Err() == nil; breathe(ctx, 250*time.Millisecond) {
		d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)}
		if err := sign(&d); err != nil {
			g.t.Errorf("sign: %v", err)
			return
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, *g.base.Load()+"/webhooks/"+g.party.kind, bytes.NewReader(d.Body))
		if err != nil {
			g.t.Errorf("notify: %v", err)
			return
		}
		r.Header = d.Header
		if a := exchange(r); a.err == nil && a.status < http.StatusMultipleChoices {
			return
		}
	}
}
