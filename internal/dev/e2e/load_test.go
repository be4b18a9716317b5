package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
)

// load is many callers that pay, pay twice at once, and send webhooks, until the test stops them, and that remember the
// responses.
type load struct {
	service *service
	partner webhooks.Signer
	// account receives the webhooks, and prefix begins the orders' ids.
	account, prefix string
	// pace is how long each caller rests after an order, and after a webhook.
	pace  time.Duration
	all   sync.WaitGroup
	cease context.CancelFunc

	mu sync.Mutex
	// pays are the intents: the order of each key.
	pays map[string]string
	// paid are the attempts of the responses, by key.
	paid map[string]string
	// sent and heard are webhooks, by whether they were acknowledged.
	sent, heard []string
	// told are the kinds of responses, by request id.
	told map[string]answer
	// seen counts responses by the kind of request and the status.
	seen map[string]int
}

// loadTurns are the tests that put a load on the machine at once. With twelve of them on two processors, PostgreSQL took no connection for
// minutes.
var loadTurns = struct {
	free chan struct{}
	of   sync.Map
}{free: make(chan struct{}, 3)}

// takeTurn waits until few other tests put a load on the machine. The turn ends with the test.
func takeTurn(t *testing.T) {
	t.Helper()
	if _, has := loadTurns.of.LoadOrStore(t.Name(), true); has {
		return
	}
	loadTurns.free <- struct{}{}
	t.Cleanup(func() {
		<-loadTurns.free
		loadTurns.of.Delete(t.Name())
	})
}

func newLoad(t *testing.T, s *service) *load {
	t.Helper()
	takeTurn(t)
	return &load{
		service: s, partner: partner(t), account: "partner", pays: map[string]string{}, paid: map[string]string{},
		told: map[string]answer{}, seen: map[string]int{},
	}
}

// run starts callers of each sort.
func (l *load) run(t *testing.T, callers int) {
	t.Helper()
	ctx, cease := context.WithCancel(t.Context())
	l.cease = cease
	t.Cleanup(func() { l.stop() })
	for i := range callers {
		l.all.Go(func() { l.shop(ctx, fmt.Sprintf("shopper-%d", i)) })
		l.all.Go(func() { l.notify(ctx) })
	}
}

// stop lets each caller finish its current action.
func (l *load) stop() {
	l.cease()
	l.all.Wait()
}

// shop pays one order after the other, each from two tabs. A request has time to
// be answered after the load has ceased.
func (l *load) shop(ctx context.Context, user string) {
	c := l.service.bluntly(token(user, "customer"))
	work := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		order, id := l.prefix+unique("o"), unique("r")
		a := c.createOrder(work, order, unique("key"), "X-Request-Id: "+id)
		l.note("order", id, a)
		if a.status != http.StatusCreated {
			l.breathe(ctx, a)
			continue
		}
		keys := []string{unique("tab"), unique("tab")}
		answers := atOnce(2, func(i int) answer {
			id := unique("r")
			a := c.pay(work, order, keys[i], "tok_success", "X-Request-Id: "+id)
			l.note("pay", id, a)
			return a
		})
		l.mu.Lock()
		for i, a := range answers {
			l.pays[keys[i]] = user + " " + order
			if a.status == http.StatusCreated {
				l.paid[keys[i]] = a.peek().ID
			}
		}
		l.mu.Unlock()
		breathe(ctx, l.pace)
	}
}

// notify sends webhooks about unknown payments: they must be kept.
func (l *load) notify(ctx context.Context) {
	work := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		event, id := unique("evt"), unique("r")
		a := l.service.deliverOnce(work, l.account, l.partner, chargeSucceeded(event, unique("ch"), unique("of")), "Webhook-Id: "+event, "X-Request-Id: "+id)
		l.note("webhook", id, a)
		l.mu.Lock()
		l.sent = append(l.sent, event)
		if a.status == http.StatusOK {
			l.heard = append(l.heard, event)
		}
		l.mu.Unlock()
		l.breathe(ctx, a)
		breathe(ctx, l.pace)
	}
}

func (l *load) note(what, id string, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[id] = a
	if a.err == nil {
		l.seen[fmt.Sprint(what, " ", a.status, " ", a.peekProblem().Code)]++
	}
}

// breathe waits a little after a refusal, as a client would.
func (l *load) breathe(ctx context.Context, a answer) {
	if a.err == nil && a.status < http.StatusInternalServerError {
		return
	}
	breathe(ctx, 20*time.Millisecond)
}

// counts returns how much was answered so far.
func (l *load) counts() (answers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.seen {
		answers += n
	}
	return answers
}

// intents returns how many pays were sent and have ended, with any result.
func (l *load) intents() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pays)
}

// kept requires that each caller got a response or a 503, and that answered and acknowledged work is in the database afterwards.
func (l *load) kept(t *testing.T, r *rig) {
	t.Helper()
	for kind := range l.seen {
		what, rest, _ := strings.Cut(kind, " ")
		require.Contains(t, []string{
			"201 ", "409 payment-in-progress", "409 order-already-paid", "503 storage-unavailable", map[string]string{"webhook": "200 "}[what],
		}, rest, "%v", l.seen)
	}
	for id, a := range l.told {
		require.NoError(t, a.err, id)
	}
	t.Log(l.seen)

	for key, whose := range l.pays {
		user, order, _ := strings.Cut(whose, " ")
		c := l.service.as(token(user, "customer"))
		var a answer
		eventually(t, "an answer", func() bool {
			a = c.pay(t.Context(), order, key, "tok_success")
			return a.err == nil && a.status < http.StatusInternalServerError
		})
		if told, ok := l.paid[key]; ok {
			require.Equal(t, told, a.attempt(t, http.StatusCreated).ID, "an answer stays true")
		} else if a.status != http.StatusCreated {
			a.problem(t, http.StatusConflict, a.peekProblem().Code)
		}
	}
	r.consistent(t)
	acknowledged := append(l.heard, r.hooks.acknowledged()...) // before they are read: more may come
	stored := map[string]bool{}
	for _, id := range column[string](t, r, `SELECT provider_event_id FROM provider_events`) {
		stored[id] = true
	}
	for _, id := range acknowledged {
		require.True(t, stored[id], "an acknowledged event is lost")
	}
}
