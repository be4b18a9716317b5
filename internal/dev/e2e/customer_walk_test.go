package e2e_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	contractfile "github.com/paylatch/paylatch/api"
	"github.com/paylatch/paylatch/internal/api/contract"
)

var (
	walkSteps = flag.Int("walk-steps", 3000, "steps of TestCustomerWalk")
	walkSeed  = flag.Uint64("walk-seed", 1, "seed of TestCustomerWalk; a failure is found again by it, as far as the machine's timing allows")
)

const (
	walkers = 8
	// walkEpisode is how many steps are made with one order.
	walkEpisode = 12
)

// TestCustomerWalk sends all requests that a customer can send: each call of the contract with each member, in random order and
// for orders that the shop has priced. For some of these orders the shop holds money or has registered attempts. No order is
// paid by less than its price; the provider's ledger is the judge.
func TestCustomerWalk(t *testing.T) {
	t.Parallel()
	for name, may := range map[string]string{"without_rights": "[]", "with_rights": "[capture_manual, cancel_hold, confirm]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			s := r.serve("PAYLATCH_ORDERS_CUSTOMERS_MAY="+may, "PAYLATCH_PROVIDER_TIMEOUT=1500ms", "PAYLATCH_IDEMPOTENCY_WAIT=300ms",
				"PAYLATCH_IDEMPOTENCY_LEASE=5s")
			doc, err := contract.Load(contractfile.Document)
			require.NoError(t, err)
			w := &walk{rig: r, service: s, doc: doc, orders: map[string]int64{}, sent: map[string]int{}, answers: map[string]int{}}
			began := time.Now()
			var all sync.WaitGroup
			for n := range uint64(walkers) {
				all.Go(func() { w.wander(t, n, *walkSteps/2/walkers) })
			}
			all.Wait()
			w.judge(t)
			w.report(t, began)
		})
	}
}

// walk is shared by all walkers.
type walk struct {
	*rig

	service *service
	doc     *contract.Document

	mu sync.Mutex
	// orders are the prices, sent how often each call and member was, answers the statuses.
	orders        map[string]int64
	sent, answers map[string]int
}

// wander makes steps as one customer.
func (w *walk) wander(t *testing.T, n uint64, steps int) {
	t.Helper()
	u := &walker{walk: w, t: t, random: rand.New(rand.NewPCG(*walkSeed, n)), user: fmt.Sprintf("u%d-%s", n, uuid.NewString())}
	for step := range steps {
		if step%walkEpisode == 0 {
			u.begin()
		}
		u.step()
	}
}

// walker is one customer, with the shop that serves them.
type walker struct {
	*walk

	t      *testing.T
	random *rand.Rand
	user   string
	// order is the order to pay now. The other fields are the customer's knowledge: ids, keys, tokens of attempts, pages at the
	// provider, and the results of these pages.
	order string
	price int64
	// onHold is set once an attempt of the order was seen on hold.
	onHold bool

	attempts, refunds, keys, tokens, pages, results []string
}

func (u *walker) customer() client { return u.service.as(token(u.user, "customer")) }

func (u *walker) shop() client { return u.service.shop(u.user) }

// begin creates an order as the shop, and at times begins a payment of it.
func (u *walker) begin() {
	u.order, u.price = unique("o"), 2+u.random.Int64N(5000)
	u.onHold, u.attempts, u.refunds, u.tokens, u.pages, u.results = false, nil, nil, nil, nil, nil
	u.shop().send(u.t.Context(), http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_id":%q,"amount":%d,"currency":"EUR"}`, u.order, u.price),
		"Idempotency-Key: "+unique("order")).is(u.t, http.StatusCreated)
	u.mu.Lock()
	u.orders[u.order] = u.price
	u.mu.Unlock()
	switch u.random.IntN(6) {
	case 0, 1:
		u.learn(u.shop().send(u.t.Context(), http.MethodPost, "/v1/orders/"+u.order+"/pay",
			`{"payment_method":{"token":"`+u.one("tok_success", "tok_redirect", "tok_3ds", "tok_disorder")+`"},"capture":"manual","return_url":"https://shop.example/"}`, "Idempotency-Key: "+unique("pay")))
	case 2:
		u.learn(u.shop().send(u.t.Context(), http.MethodPost, "/v1/orders/"+u.order+"/attempts", `{"capture":"`+u.one("manual", "automatic")+`"}`, "Idempotency-Key: "+unique("pay")))
	}
}

func (u *walker) one(of ...string) string { return of[u.random.IntN(len(of))] }

// step is one thing that the customer does. At times the shop captures all of a hold, or the customer is at the
// provider's page.
func (u *walker) step() {
	switch n := u.random.IntN(100); {
	case n < 4 && len(u.attempts) > 0:
		u.shop().send(u.t.Context(), http.MethodPost, "/v1/payment-attempts/"+u.one(u.attempts...)+"/confirm", "", "Idempotency-Key: "+unique("confirm"))
	case n < 12 && len(u.pages) > 0:
		u.decide(u.one(u.pages...))
	case n < 40 && u.onHold:
		u.send(u.operation("confirm"))
	case n < 50:
		u.send(u.operation("pay"))
	case n < 65:
		u.send(u.operation(u.one("confirm", "cancelAttempt", "cancelOrder", "complete", "checkAttempt")))
	default:
		ops := slices.DeleteFunc(u.doc.Operations(), func(op *contract.Operation) bool {
			return slices.Contains(op.Tags, "webhooks") || slices.Contains(op.Tags, "operations") || op.ID == "streamAttempt"
		})
		u.send(ops[u.random.IntN(len(ops))])
	}
}

func (u *walker) operation(id string) *contract.Operation {
	all := u.doc.Operations()
	return all[slices.IndexFunc(all, func(op *contract.Operation) bool { return op.ID == id })]
}

// decide approves or declines at the provider's page.
func (u *walker) decide(page string) {
	resp, err := plain.PostForm(page, url.Values{"decision": {u.one("approve", "approve", "decline")}})
	require.NoError(u.t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(u.t, resp.Body.Close())
	if back, err := resp.Location(); err == nil && back.Query().Has("sandbox_result") {
		u.results = append(u.results, back.Query().Get("sandbox_result"))
	}
}

// send makes a call with a random body.
func (u *walker) send(op *contract.Operation) {
	ids := strings.NewReplacer("{order_id}", u.order, "{payment_attempt_id}", u.known(u.attempts), "{refund_id}", u.known(u.refunds), "{endpoint}", "shop")
	path := ids.Replace(op.Path)
	if before, after, found := strings.Cut(path, "{"); found {
		_, after, _ = strings.Cut(after, "}")
		path = before + uuid.NewString() + after
	}
	body := ""
	counted := []string{op.ID}
	if s := op.JSON(); s != nil && (op.RequestBody.Required || u.random.IntN(4) > 0) {
		var members []string
		text, err := json.Marshal(u.value(s, "", u.random.IntN(4) > 0, &members))
		require.NoError(u.t, err)
		body = string(text)
		for _, m := range members {
			counted = append(counted, op.ID+" "+m)
		}
	}
	key := unique("walk")
	if len(u.keys) > 0 && u.random.IntN(5) == 0 {
		key = u.one(u.keys...)
	}
	u.keys = append(u.keys, key)
	headers := []string{"Idempotency-Key: " + key}
	c := u.customer()
	switch u.random.IntN(20) {
	case 0:
		headers = append(headers, "On-Behalf-Of: "+u.user)
	case 1:
		if len(u.tokens) > 0 {
			c.token = u.one(u.tokens...)
		}
	}
	got := c.send(u.t.Context(), op.Method, path, body, headers...)
	require.NoError(u.t, got.err)
	require.Less(u.t, got.status, http.StatusInternalServerError, "%s %s %s: %s", op.Method, path, body, got.text)
	u.learn(got)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers[fmt.Sprintf("%s %d", op.ID, got.status)]++
	for _, of := range counted {
		u.sent[of]++
	}
}

// known returns one of the customer's ids, or at times a made-up one.
func (u *walker) known(ids []string) string {
	if len(ids) == 0 || u.random.IntN(30) == 0 {
		return uuid.NewString()
	}
	return u.one(ids...)
}

// learn keeps the ids and tokens in a response.
func (u *walker) learn(a answer) {
	var of struct {
		attempt

		Refund string `json:"refund_id"`
	}
	if a.status >= http.StatusMultipleChoices || json.Unmarshal(a.text, &of) != nil {
		return
	}
	keep := func(all *[]string, one string) {
		if one != "" && !slices.Contains(*all, one) {
			*all = append(*all, one)
		}
	}
	keep(&u.attempts, of.ID)
	u.onHold = u.onHold || of.Stage == "authorized"
	keep(&u.refunds, of.Refund)
	keep(&u.tokens, of.StatusToken)
	if of.NextAction != nil && strings.HasPrefix(of.NextAction.URL, u.sandbox+"/pay/") {
		keep(&u.pages, of.NextAction.URL)
	}
}

// value is a random value of a schema. If careful is set, it leaves out members that no customer may send.
func (u *walker) value(s *contract.Schema, field string, careful bool, members *[]string) any {
	own := u.doc.Resolved(s)
	switch own.Type[0] {
	case "array":
		return []any{u.value(own.Items, field, careful, members)}
	case "object":
		value := map[string]any{}
		if field == "details" && len(u.results) > 0 && u.random.IntN(3) > 0 {
			return map[string]any{"sandbox_result": u.one(u.results...)}
		}
		if !own.Additional.Forbidden {
			return map[string]any{u.one("a", "sandbox_result", "amount"): u.one("b", "approved", "1")}
		}
		for _, p := range own.Properties {
			never := len(p.Value.CustomersMay) == 0 && len(p.Value.Roles) > 0 && !slices.Contains(p.Value.Roles, "customer")
			left := u.random.IntN(max(5, len(own.Properties))) > 2 // of a few members most are sent, of many some
			if required := own.Requires(p.Name); !required && (left || careful && never) {
				continue
			}
			path := strings.TrimPrefix(field+"."+p.Name, ".")
			*members = append(*members, path)
			value[p.Name] = u.value(p.Value, path, careful, members)
		}
		return value
	case "boolean":
		return u.random.IntN(2) == 0
	case "integer":
		return u.amount(own, field)
	}
	return u.text(own, field)
}

// amount is the price, more, or less.
func (u *walker) amount(s *contract.Schema, field string) json.Number {
	n := u.price
	if !strings.Contains(field, "lines") && u.random.IntN(2) == 0 {
		n = []int64{1, u.price / 2, u.price - 1, u.price + 1}[u.random.IntN(4)]
	}
	return json.Number(strconv.FormatInt(min(max(n, cmp.Or(*s.Minimum, 1)), *s.Maximum), 10))
}

func (u *walker) text(s *contract.Schema, field string) string {
	switch {
	case len(s.Enum) > 0:
		return u.one(s.Enum...)
	case strings.HasSuffix(field, "token"):
		return u.one("tok_success", "tok_decline", "tok_async_success", "tok_redirect", "tok_webhook_first", "tok_twice", "tok_disorder", "tok_500_charged",
			"tok_500_once", "tok_never", "tok_3ds", "tok_save", "tok_late_success", "tok_wrong_amount", "tok_success", "tok_hang_charged", "tok_hang_not_charged")
	case strings.HasSuffix(field, "supersedes"), strings.HasSuffix(field, "payment_attempt_id"):
		return u.known(u.attempts)
	case strings.HasSuffix(field, "account"):
		return "sandbox"
	case strings.HasSuffix(field, "reference"):
		return u.user
	case s.Format == "date-time":
		return "2026-03-01T09:30:00Z"
	}
	for _, text := range []string{"EUR", "DE", "de-DE", "1", "0.5", "a@shop.example", "+4930123456", "203.0.113.9", "https://shop.example/back", "commodity"} {
		if len(u.doc.Check(s, text).Invalid) == 0 {
			return text
		}
	}
	return "x"
}

// judge compares each paid order with the provider's charges for its attempts by then.
func (w *walk) judge(t *testing.T) {
	t.Helper()
	statuses := w.statuses(t)
	paid := slices.DeleteFunc(slices.Collect(maps.Keys(w.orders)), func(order string) bool { return statuses[order] != "paid" })
	require.NotEmpty(t, paid, "a walk on which nothing is paid shows nothing")
	orders := map[string]string{}
	for _, row := range column[string](t, w.rig, `SELECT attempt_id || ' ' || order_id FROM payment_attempts`) {
		id, order, _ := strings.Cut(row, " ")
		orders[id] = order
	}
	charged := map[string]int64{}
	for _, m := range w.movements(t) {
		if m.Kind == "charge" {
			charged[orders[m.Reference]] += m.Amount
		}
	}
	for _, order := range paid {
		require.GreaterOrEqual(t, charged[order], w.orders[order], "order %s is paid by less than its price", order)
	}
	t.Logf("%d orders, %d paid", len(w.orders), len(paid))
}

// statuses reads how each order stands, as the shop sees it.
func (w *walk) statuses(t *testing.T) map[string]string {
	t.Helper()
	all := w.service.shop("").send(t.Context(), http.MethodGet, "/v1/orders", "", "Accept: application/x-ndjson")
	all.is(t, http.StatusOK)
	of := map[string]string{}
	for line := range strings.Lines(string(all.text)) {
		var o struct {
			ID     string `json:"order_id"`
			Status string `json:"status"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &o), line)
		of[o.ID] = o.Status
	}
	require.Len(t, of, len(w.orders))
	return of
}

// report logs the coverage of the walk, and requires that it covered each call and member of the contract.
func (w *walk) report(t *testing.T, began time.Time) {
	t.Helper()
	steps := 0
	for _, n := range w.answers {
		steps += n
	}
	t.Logf("%d calls in %s, seed %d", steps, time.Since(began).Round(time.Second), *walkSeed)
	var never []string
	fewest, rarest := steps, ""
	for _, op := range w.doc.Operations() {
		if slices.Contains(op.Tags, "webhooks") || slices.Contains(op.Tags, "operations") || op.ID == "streamAttempt" {
			continue
		}
		for _, of := range append([]string{op.ID}, memberPaths(w.doc, op.ID, op.JSON(), "")...) {
			if n := w.sent[of]; n == 0 {
				never = append(never, of)
			} else if n < fewest {
				fewest, rarest = n, of
			}
		}
	}
	t.Logf("each call and member was sent %d times or more (%s), but for %d: %v", fewest, rarest, len(never), never)
	for _, answer := range slices.Sorted(maps.Keys(w.answers)) {
		if strings.HasPrefix(answer, "pay ") || strings.HasPrefix(answer, "confirm ") || strings.HasPrefix(answer, "cancel") || strings.HasPrefix(answer, "complete ") {
			t.Logf("%s: %d", answer, w.answers[answer])
		}
	}
	if *walkSteps >= 100_000 {
		require.Empty(t, never)
	}
}

func memberPaths(doc *contract.Document, of string, s *contract.Schema, field string) (all []string) {
	if s == nil {
		return nil
	}
	own := doc.Resolved(s)
	if own.Items != nil {
		return memberPaths(doc, of, own.Items, field)
	}
	for _, p := range own.Properties {
		path := strings.TrimPrefix(field+"."+p.Name, ".")
		all = append(append(all, of+" "+path), memberPaths(doc, of, p.Value, path)...)
	}
	return all
}
