package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/all"
)

// life is a payment that the shop begins by its own calls at a provider, as the provider's webhooks report it: to its capture,
// and on to a refund, a chargeback, or both.
//
// In all texts $n is the number that makes the provider's ids unique. $text and $metadata are the reference of the payment from
// paylatch, $query is the metadata as a query, and $mark the id in it.
type life struct {
	// name is the kind's name, with a suffix that distinguishes lives of the same kind.
	name string
	// currency is EUR if empty.
	currency string
	// captures is set if the money is on hold first.
	captures bool
	// ack is the body that the provider takes for "received".
	ack string
	// names are the provider's ids that the shop reports before the first webhook.
	names string
	tells []telling
	// moved are the movements at the end, open the discrepancies.
	moved, open []string
	// ordered is set if the last two deliveries contain no state of their own. Each causes a lookup of the payment, so their
	// order does not matter.
	ordered bool
	// nameless is set if the first delivery has no mark of paylatch. A lookup at the provider then finds the payment.
	nameless bool
}

// telling is one delivery.
type telling struct {
	// sample is the provider's documented body. The members of body replace its members of the same names.
	sample string
	// topic is the last segment of the address, if a provider has one address for each topic; query is the query of the address.
	topic, query string
	body         string
	// answers are the responses of the provider's API from now on, by the request's line.
	answers map[string]string
	// then is the attempt's state after the delivery: its stage while it is pending, else its status, and the captured, refunded
	// and charged back amounts.
	then string
}

// kind is the kind of the account.
func (l life) kind() string {
	kind, _, _ := strings.Cut(l.name, ":")
	return kind
}

// lives are the lives of all kinds.
func lives() []life {
	return slices.Concat(cardLives(), walletLives(), russianLives(), resellerLives())
}

// TestEveryKindFromFirstWebhookToRefund takes a payment that begins elsewhere through the life of each kind. It is registered
// over HTTP and reported by deliveries with its provider's own signature, each twice; and once more with the last two deliveries
// in the other order.
func TestEveryKindFromFirstWebhookToRefund(t *testing.T) { //nolint:tparallel // the group of lives ends with the last of them
	t.Parallel()
	r := newKindsRig(t)
	covered := map[string]bool{}
	t.Run("lives", func(t *testing.T) {
		for _, l := range lives() {
			covered[l.kind()] = true
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				p := r.register(t, l)
				for _, d := range l.tells {
					p.tell(t, d)
				}
				p.ends(t)
			})
			if l.ordered {
				continue
			}
			t.Run(l.name+" in another order", func(t *testing.T) {
				t.Parallel()
				p := r.register(t, l)
				last := len(l.tells) - 1
				for _, d := range l.tells[:last-1] {
					p.tell(t, d)
				}
				p.deliver(t, l.tells[last])
				p.deliver(t, l.tells[last-1])
				p.stands(t, l.tells[last].then)
				p.ends(t)
			})
		}
	})
	for _, about := range all.Abouts() {
		require.True(t, covered[about.Kind], "no life of %s", about.Kind)
	}
	require.Empty(t, r.api.unexpected())
	(&grid{rig: r.rig}).verifies(t)
}

// begun is a registered attempt of a life.
type begun struct {
	*kindsRig
	life

	id      string
	account kindAccount
	fill    *strings.Replacer
}

// register creates an order and registers its payment, as the shop's backend does.
func (r *kindsRig) register(t *testing.T, l life) *begun {
	t.Helper()
	account, known := r.accounts[l.kind()]
	require.True(t, known, l.name)
	currency := l.currency
	if currency == "" {
		currency = "EUR"
	}
	shop, order := r.service.customer().backend(), unique("o")
	a := shop.send(t.Context(), http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_id":%q,"amount":1999,"currency":%q}`, order, currency),
		"Idempotency-Key: "+order)
	a.is(t, http.StatusCreated)
	capture := "automatic"
	if l.captures {
		capture = "manual"
	}
	a = shop.send(t.Context(), http.MethodPost, "/v1/orders/"+order+"/attempts", fmt.Sprintf(`{"account":%q,"capture":%q}`, l.kind(), capture),
		"Idempotency-Key: attempt-"+order)
	a.is(t, http.StatusCreated)
	var made struct {
		ID        string `json:"payment_attempt_id"`
		Reference struct {
			Text     string            `json:"text"`
			Metadata map[string]string `json:"metadata"`
		} `json:"provider_reference"`
	}
	require.NoError(t, json.Unmarshal(a.text, &made), "%s", a.text)
	metadata, err := json.Marshal(made.Reference.Metadata)
	require.NoError(t, err)
	p := &begun{kindsRig: r, life: l, id: made.ID, account: account}
	query, mark := url.Values{}, made.Reference.Text
	for name, value := range made.Reference.Metadata {
		query.Set(name, value)
		mark = value
	}
	p.fill = strings.NewReplacer("$n", strconv.FormatInt(1e9+rand.N(int64(8e9)), 10), "$text", made.Reference.Text, "$metadata", string(metadata),
		"$query", query.Encode(), "$mark", mark)
	if l.names != "" {
		shop.send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+p.id+"/report", p.fill.Replace(l.names),
			"Idempotency-Key: report-"+order).is(t, http.StatusOK)
	}
	return p
}

// tell delivers twice, and looks each time how the attempt then stands.
func (p *begun) tell(t *testing.T, d telling) {
	t.Helper()
	for range 2 {
		p.deliver(t, d)
		p.stands(t, d.then)
	}
}

// deliver sends a delivery as its provider would, until it is acknowledged as that wants.
func (p *begun) deliver(t *testing.T, d telling) {
	t.Helper()
	for line, answer := range d.answers {
		p.api.answers(p.fill.Replace(line), p.fill.Replace(answer))
	}
	sent := webhooks.Delivery{
		Method: http.MethodPost, URL: p.account.PublicURL, Topic: d.topic, Header: http.Header{}, ReceivedAt: time.Now(),
		Body: p.body(t, d),
	}
	if d.query != "" {
		sent.Method, sent.Body = http.MethodGet, nil
	}
	require.NoError(t, p.account.sign(&sent))
	a := again(t.Context(), false, func() answer { return p.send(t.Context(), d, sent) })
	a.is(t, http.StatusOK)
	require.Equal(t, p.fill.Replace(p.ack), string(a.text), "the acknowledgement")
	lost := []string{"ignored", "unreadable", "foreign"}
	if !p.nameless {
		lost = append(lost, "unmatched")
	}
	require.NotContains(t, lost, a.header.Get("Webhook-Result"), "%s", sent.Body)
}

func (p *begun) send(ctx context.Context, d telling, sent webhooks.Delivery) answer {
	address := p.service.base + "/webhooks/" + p.kind()
	if d.topic != "" {
		address += "/" + d.topic
	}
	if d.query != "" {
		address += "?" + p.fill.Replace(d.query)
	}
	r, err := http.NewRequestWithContext(ctx, sent.Method, address, strings.NewReader(string(sent.Body)))
	if err != nil {
		return answer{err: err}
	}
	r.Header = sent.Header
	return exchange(r)
}

// stands waits until the attempt stands so: some deliveries have to be looked up first.
func (p *begun) stands(t *testing.T, want string) {
	t.Helper()
	var got string
	met := func() bool {
		got = p.standing(t)
		return got == want
	}
	for end := time.Now().Add(soon); !met() && time.Now().Before(end); {
		breathe(t.Context(), 20*time.Millisecond)
	}
	if got != want {
		require.Equal(t, want, got, "unexpected requests: %v; the events: %v", p.api.unexpected(), column[string](t, p.rig,
			`SELECT event_type || ' ' || verdict FROM provider_events WHERE account = $1 ORDER BY received_at`, p.kind()))
	}
}

func (p *begun) standing(t *testing.T) string {
	t.Helper()
	a := p.service.customer().read(t.Context(), p.id)
	a.is(t, http.StatusOK)
	var now struct {
		Status   string `json:"status"`
		Stage    string `json:"stage"`
		Captured int64  `json:"amount_captured"`
		Refunded int64  `json:"amount_refunded"`
		Disputed int64  `json:"amount_disputed"`
	}
	require.NoError(t, json.Unmarshal(a.text, &now))
	stage := now.Status
	if stage == "pending" {
		stage = now.Stage
	}
	return fmt.Sprintf("%s %d %d %d", stage, now.Captured, now.Refunded, now.Disputed)
}

// ends requires that the money moved as the life has it, and that nothing but that waits for a person.
func (p *begun) ends(t *testing.T) {
	t.Helper()
	moved := func() []string {
		return column[string](t, p.rig, `SELECT kind || ' ' || sum(amount) FROM money_movements WHERE attempt_id = $1 GROUP BY kind, provider_id ORDER BY 1`, p.id)
	}
	eventually(t, "the movements", func() bool { return len(moved()) >= len(p.moved) })
	require.ElementsMatch(t, p.moved, moved())
	open := func() []string {
		return column[string](t, p.rig, `SELECT kind FROM discrepancies WHERE attempt_id = $1 ORDER BY kind`, p.id)
	}
	eventually(t, "what waits for a person", func() bool { return len(open()) >= len(p.open) })
	require.Equal(t, append([]string{}, p.open...), open())
}
