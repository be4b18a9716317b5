package standard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/providertest"
	client "github.com/paylatch/paylatch/internal/provider/standard"
	"github.com/paylatch/paylatch/webhooks"
	"github.com/paylatch/paylatch/webhooks/standard"
)

const hookSecret = "whsec_c2FuZGJveC10ZXN0LXNlY3JldC0wMTIzNDU2Nzg5"

func TestBooks(t *testing.T) {
	t.Parallel()
	providertest.Books(t, providertest.BooksSuite{
		New:      func(_ *testing.T, base string, c *http.Client) gateway.Books { return client.New(base, "", c) },
		Provider: func(_ *testing.T, base string, c *http.Client) gateway.Provider { return client.New(base, "", c) },
		Booked: func(t *testing.T) providertest.Booked {
			t.Helper()
			h := play(t)
			var events []webhooks.Event
			for _, d := range h.deliveries(t) {
				events = append(events, verifier(t).Read(d)...)
			}
			return providertest.Booked{Fake: h.box, Span: h.span(), Entries: h.entries(t), Webhooks: events}
		},
	})
}

// An entry with invalid money, or of a refund without an id, is not counted, because lookups would name it differently.
func TestAnEntryThatCannotBeCountedIsUnread(t *testing.T) {
	t.Parallel()
	entry := func(kind, refund, amount, currency string) string {
		return `{"items":[{"entry_id":"e_1","kind":"` + kind + `","charge_id":"ch_1","refund_id":"` + refund + `","dispute_id":"dp_1","amount":` + amount + `,"currency":"` + currency + `","at":"2026-03-14T18:00:00Z"}]}`
	}
	for body, want := range map[string]string{
		entry("charge", "", "5", "EUR"): "capture  ", entry("refund", "re_1", "5", "EUR"): "refund re_1 ", entry("chargeback", "re_1", "5", "EUR"): "chargeback e_1 dp_1",
		entry("chargeback_reversal", "", "5", "EUR"): "chargeback_reversal e_1 dp_1",
		entry("refund", "", "5", "EUR"):              "", entry("chargeback", "", "-5", "EUR"): "", entry("chargeback", "", "0", "EUR"): "", entry("charge", "", "5", "eur"): "",
	} {
		var got []string
		err := says(t, http.StatusOK, body).Entries(t.Context(), gateway.Span{}, func(e gateway.Entry) error {
			got = append(got, string(e.Movement.Kind)+" "+e.Movement.ID+" "+e.Movement.Dispute)
			return nil
		})
		if want == "" {
			require.ErrorIs(t, err, gateway.ErrUnreadable, body)
			require.Empty(t, got, body)
			continue
		}
		require.NoError(t, err, body)
		require.Equal(t, []string{want}, got, body)
	}
}

func TestEventLog(t *testing.T) {
	t.Parallel()
	providertest.EventLog(t, providertest.EventLogSuite{
		New:    func(_ *testing.T, base string, c *http.Client) gateway.EventLog { return client.New(base, "", c) },
		Reader: verifier(t),
		Listed: func(t *testing.T) providertest.Listed {
			t.Helper()
			h := play(t)
			var events []gateway.ListedEvent
			for _, d := range h.deliveries(t) {
				events = append(events, gateway.ListedEvent{Body: d.Body, At: verifier(t).Read(d)[0].OccurredAt})
			}
			return providertest.Listed{Fake: h.box, Span: h.span(), Events: events}
		},
	})
}

func verifier(t *testing.T) *standard.Verifier {
	t.Helper()
	v, err := standard.New(webhooks.Config{Secrets: []string{hookSecret}})
	require.NoError(t, err)
	return v
}

// history is a sandbox with many payments, refunds and disputes, and its webhooks.
type history struct {
	box               *sandbox.Server
	began             time.Time
	refunds, disputes map[string]string // their ids by charge
	acts              int

	mu       sync.Mutex
	now      time.Time
	received []webhooks.Delivery
}

// play creates more than a page of payments over two days. They are refunded by the shop, refunded in the dashboard,
// disputed and won, or disputed and lost.
func play(t *testing.T) *history {
	t.Helper()
	h := &history{began: time.Date(2026, 3, 14, 18, 0, 0, 0, time.UTC), refunds: map[string]string{}, disputes: map[string]string{}}
	h.now = h.began
	hook := httptest.NewServer(h)
	t.Cleanup(hook.Close)
	var err error
	h.box, err = sandbox.New(sandbox.Options{Now: h.clock, WebhookURL: hook.URL, WebhookSecret: hookSecret, Delays: sandbox.Delays{Webhook: 1}})
	require.NoError(t, err)
	running(t, h.box)
	for i := range 12 {
		for way, act := range []func(t *testing.T, charge string){h.refund, h.refundInDashboard, h.win, h.lose} {
			reference := fmt.Sprintf("att-%d-%d", i, way)
			body := fmt.Sprintf(`{"reference":"%s","order_id":"A-%d","amount":%d,"currency":"EUR","token":"tok_success"}`, reference, i, 1999+i)
			act(t, h.post(t, "/v1/charges", reference, body))
		}
	}
	return h
}

func (h *history) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// ServeHTTP receives the webhooks.
func (h *history) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received = append(h.received, webhooks.Delivery{Method: r.Method, Header: r.Header.Clone(), Body: body, ReceivedAt: h.now})
}

// post sends a request some minutes after the previous request, and returns the id of the created object.
func (h *history) post(t *testing.T, path, key, body string) string {
	t.Helper()
	h.mu.Lock()
	h.now = h.now.Add(7 * time.Minute)
	h.acts++
	h.mu.Unlock()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.box.ServeHTTP(w, r)
	require.Less(t, w.Code, 300, w.Body.String())
	var made struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &made))
	return made.ID
}

func (h *history) refund(t *testing.T, charge string) {
	t.Helper()
	h.refunds[charge] = h.post(t, "/v1/charges/"+charge+"/refunds", "refund-"+charge, `{"amount":500,"reference":"rf-`+charge+`"}`)
}

func (h *history) refundInDashboard(t *testing.T, charge string) {
	t.Helper()
	h.refunds[charge] = h.post(t, "/v1/dashboard/charges/"+charge+"/refund", "", `{"amount":700}`)
}

func (h *history) win(t *testing.T, charge string) {
	t.Helper()
	d := h.post(t, "/v1/dashboard/charges/"+charge+"/dispute", "", "")
	h.disputes[charge] = d
	h.post(t, "/v1/dashboard/disputes/"+d+"/evidence", "", "")
	h.post(t, "/v1/dashboard/disputes/"+d+"/win", "", "")
}

func (h *history) lose(t *testing.T, charge string) {
	t.Helper()
	d := h.post(t, "/v1/dashboard/charges/"+charge+"/dispute", "", `{"amount":1000}`)
	h.disputes[charge] = d
	h.post(t, "/v1/dashboard/disputes/"+d+"/lose", "", "")
}

func (h *history) span() gateway.Span {
	return gateway.Span{From: h.began, To: h.clock().Add(time.Hour)}
}

// deliveries waits until the webhooks of all requests were received.
func (h *history) deliveries(t *testing.T) []webhooks.Delivery {
	t.Helper()
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.received) == h.acts
	}, 2*time.Minute, 5*time.Millisecond)
	return slices.Clone(h.received)
}

// entries returns the ledger's movements as entries, each with its fee and its payout.
func (h *history) entries(t *testing.T) (all []gateway.Entry) {
	t.Helper()
	w := httptest.NewRecorder()
	h.box.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/ledger", http.NoBody))
	var ledger []struct {
		EntryID   string    `json:"entry_id"`
		Kind      string    `json:"kind"`
		ChargeID  string    `json:"charge_id"`
		Reference string    `json:"reference"`
		Amount    int64     `json:"amount"`
		At        time.Time `json:"at"`
	}
	require.NoError(t, json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&ledger))
	for _, m := range ledger {
		fee, net := int64(0), m.Amount
		told := payment.MovementReport{ID: m.EntryID, Money: euro(m.Amount), At: m.At}
		switch m.Kind {
		case "charge":
			fee = 28 + 25 // 1.4 % of 19.99 to 20.10
			net -= fee
			told.Kind, told.ID = payment.MovementCapture, ""
		case "refund":
			told.Kind, told.ID, net = payment.MovementRefund, h.refunds[m.ChargeID], -net
		case "chargeback":
			told.Kind, told.Dispute, net = payment.MovementChargeback, h.disputes[m.ChargeID], -net
		case "chargeback_reversal":
			told.Kind, told.Dispute = payment.MovementChargebackReversal, h.disputes[m.ChargeID]
		}
		order, _, _ := strings.Cut(strings.TrimPrefix(m.Reference, "att-"), "-")
		e := gateway.Entry{
			ID: m.EntryID, Payment: m.ChargeID, References: []string{m.Reference}, Order: payment.OrderID("A-" + order),
			Movement: told, Fee: new(euro(fee)), Net: new(euro(net)),
		}
		if m.At.Day() == 14 {
			e.Payout = "po_20260314_eur"
		}
		all = append(all, e)
	}
	require.Equal(t, 15, h.clock().Day(), "only the first day is paid out")
	return all
}
