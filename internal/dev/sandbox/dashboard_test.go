package sandbox_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

// dispute is a dispute in responses.
type dispute struct {
	ID, Status, Reason, Currency, Created, Updated string

	ChargeID  string `json:"charge_id"`
	Amount    int64
	DueBy     string `json:"due_by"`
	Movements []struct {
		EntryID  string `json:"entry_id"`
		Kind, At string
		Amount   int64
	}
}

// shown is a charge as a lookup shows it.
type shown struct {
	charge

	OrderID        string `json:"order_id"`
	AmountDisputed int64  `json:"amount_disputed"`
	Refunds        []refund
	Disputes       []dispute
}

func (r *env) shown(t *testing.T, id string) shown {
	t.Helper()
	return parse[shown](t, r.get(t, "/v1/charges/"+id).body)
}

func (r *env) disputed(t *testing.T, charge, body string) dispute {
	t.Helper()
	a := r.post(t, "/v1/dashboard/charges/"+charge+"/dispute", "", body)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	return parse[dispute](t, a.body)
}

func (r *env) decided(t *testing.T, id, act string) dispute {
	t.Helper()
	a := r.post(t, "/v1/dashboard/disputes/"+id+"/"+act, "", "")
	require.Equal(t, http.StatusOK, a.status, a.body)
	return parse[dispute](t, a.body)
}

// kinds are those of the ledger's entries, in their order.
func (r *env) kinds(t *testing.T) (kinds []string) {
	t.Helper()
	for _, m := range r.ledger(t) {
		kinds = append(kinds, m.Kind)
	}
	return kinds
}

func TestRefundInDashboard(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("att-1", "tok_success"))
	rec.gets(t, "charge.succeeded")
	path := "/v1/dashboard/charges/" + c.ID + "/refund"
	var made []refund
	for range 2 {
		a := r.post(t, path, "", `{"amount":500}`)
		require.Equal(t, http.StatusCreated, a.status, a.body)
		made = append(made, a.refund(t))
	}
	require.NotEqual(t, made[0].ID, made[1].ID, "without a key each call is one more")
	require.Empty(t, made[0].Reference)
	require.Equal(t, made, r.shown(t, c.ID).Refunds)
	requireRefused(t, r.post(t, path, "", `{"amount":1000}`), "refund_exceeds_charge", "succeeded")
	requireNotFound(t, r.post(t, "/v1/dashboard/charges/ch_0/refund", "", ""))
	require.Equal(t, []string{"charge", "refund", "refund"}, r.kinds(t))
	require.Empty(t, r.ledger(t)[1].IdempotencyKey)
	rec.gets(t, "charge.succeeded", "refund.succeeded", "refund.succeeded")
}

func TestDisputeTakesMoneyAndWinsItBack(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", strings.Replace(order("att-1", "tok_success"), "{", `{"order_id":"A-1",`, 1))
	rec.gets(t, "charge.succeeded")
	d := r.disputed(t, c.ID, `{"amount":1500,"reason":"product_not_received","due_by":"2030-01-02T03:04:05Z"}`)
	require.Equal(t, []any{"open", "product_not_received", int64(1500), "2030-01-02T03:04:05.000000Z"}, []any{d.Status, d.Reason, d.Amount, d.DueBy})
	require.Equal(t, int64(1500), r.shown(t, c.ID).AmountDisputed)
	requireRefused(t, r.post(t, "/v1/charges/"+c.ID+"/refunds", "key-2", `{"amount":500}`), "refund_exceeds_charge", "succeeded")

	require.Equal(t, "under_review", r.decided(t, d.ID, "evidence").Status)
	won := r.decided(t, d.ID, "win")
	require.Equal(t, "won", won.Status)
	require.Equal(t, []string{"charge", "chargeback", "chargeback_reversal"}, r.kinds(t))
	entries := r.ledger(t)
	require.Equal(t, []any{c.ID, "att-1", "", int64(1500)}, []any{entries[1].ChargeID, entries[1].Reference, entries[1].IdempotencyKey, entries[1].Amount})
	now := r.shown(t, c.ID)
	require.Equal(t, "A-1", now.OrderID)
	require.Zero(t, now.AmountDisputed)
	require.Equal(t, []dispute{won}, now.Disputes)
	require.Len(t, won.Movements, 2)
	for i, m := range won.Movements {
		require.Equal(t, []any{entries[i+1].EntryID, entries[i+1].Kind, entries[i+1].At}, []any{m.EntryID, m.Kind, m.At})
	}

	require.Eventually(t, func() bool { return len(rec.all()) == 4 }, patience, tick)
	told := map[string]arrival{}
	for _, a := range rec.all() {
		told[a.Type] = a
	}
	require.JSONEq(t, `{"id":"`+told["dispute.opened"].ID+`","type":"dispute.opened","created":"`+d.Created+`","data":{"charge_id":"`+c.ID+
		`","refund_id":null,"reference":"att-1","amount":1500,"currency":"EUR","failure_code":null,"order_id":"A-1","dispute_id":"`+d.ID+
		`","dispute_status":"open","reason":"product_not_received","due_by":"2030-01-02T03:04:05.000000Z","entry_id":"`+entries[1].EntryID+`"}}`,
		told["dispute.opened"].raw)
	require.Contains(t, told["dispute.won"].raw, entries[2].EntryID)
	require.NotContains(t, told["dispute.updated"].raw, "entry_id")
}

func TestDisputeActs(t *testing.T) {
	t.Parallel()
	const body = `{"amount":1000}`
	for name, tt := range map[string]struct {
		open    string
		acts    []string
		status  string
		money   []string
		refused []string
	}{
		"lost":           {body, []string{"evidence", "lose"}, "lost", []string{"chargeback"}, []string{"lose", "accept", "evidence", "open"}},
		"accepted":       {body, []string{"accept"}, "accepted", []string{"chargeback"}, []string{"win", "lose", "accept", "evidence", "open"}},
		"lost, then won": {body, []string{"lose", "win"}, "won", []string{"chargeback", "chargeback_reversal"}, []string{"win", "accept"}},
		"won, then lost": {body, []string{"win", "lose"}, "lost", []string{"chargeback", "chargeback_reversal", "chargeback"}, nil},
		"warning":        {`{"warning":true}`, nil, "warning", nil, []string{"lose", "accept", "evidence"}},
		"warning, won":   {`{"warning":true}`, []string{"win"}, "won", nil, []string{"open"}},
		"warning, real":  {`{"warning":true}`, []string{"open", "lose"}, "lost", []string{"chargeback"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, sandbox.Options{})
			c := r.pay(t, "key-1", order("att-1", "tok_success"))
			d := r.disputed(t, c.ID, tt.open)
			for _, act := range tt.acts {
				d = r.decided(t, d.ID, act)
			}
			require.Equal(t, tt.status, d.Status)
			require.Equal(t, append([]string{"charge"}, tt.money...), r.kinds(t))
			for _, act := range tt.refused {
				a := r.post(t, "/v1/dashboard/disputes/"+d.ID+"/"+act, "", "")
				require.Equal(t, http.StatusConflict, a.status, act)
				require.Equal(t, "dispute_status", a.failure(t).Code)
			}
			require.Equal(t, []dispute{d}, r.shown(t, c.ID).Disputes)
		})
	}
}

func TestDisputeRefused(t *testing.T) {
	t.Parallel()
	r := start(t, sandbox.Options{})
	pending := r.pay(t, "key-1", order("att-1", "tok_never"))
	requireRefused(t, r.post(t, "/v1/dashboard/charges/"+pending.ID+"/dispute", "", ""), "charge_not_disputable", "pending")
	paid := r.pay(t, "key-2", order("att-2", "tok_success"))
	path := "/v1/dashboard/charges/" + paid.ID + "/dispute"
	requireRefused(t, r.post(t, path, "", `{"amount":2000}`), "charge_not_disputable", "succeeded")
	d := r.disputed(t, paid.ID, "")
	require.Equal(t, int64(1999), d.Amount)
	requireRefused(t, r.post(t, path, "", `{"amount":1}`), "charge_not_disputable", "succeeded")
	require.Equal(t, http.StatusUnprocessableEntity, r.post(t, path, "", `{"amount":0}`).status)
	require.Equal(t, http.StatusBadRequest, r.post(t, path, "", `{"due_by":"tomorrow"}`).status)
	requireNotFound(t, r.post(t, "/v1/dashboard/charges/ch_0/dispute", "", ""))
	requireNotFound(t, r.post(t, "/v1/dashboard/disputes/dp_0/win", "", ""))
	requireNotFound(t, r.post(t, "/v1/dashboard/disputes/"+d.ID+"/forget", "", ""))
	require.Equal(t, []string{"charge", "chargeback"}, r.kinds(t))
}

func TestDisputesSurviveARestart(t *testing.T) {
	t.Parallel()
	opts := sandbox.Options{StateFile: filepath.Join(t.TempDir(), "state")}
	before := start(t, opts)
	c := before.pay(t, "key-1", order("att-1", "tok_success"))
	refunded := before.post(t, "/v1/dashboard/charges/"+c.ID+"/refund", "", `{"amount":99}`)
	require.Equal(t, http.StatusCreated, refunded.status)
	d := before.disputed(t, c.ID, "")
	before.decided(t, d.ID, "evidence")
	was := []string{before.get(t, "/v1/charges/"+c.ID).body, before.get(t, "/v1/ledger").body, before.get(t, "/v1/balance").body, before.get(t, "/v1/events").body}
	before.stop()

	after := start(t, opts)
	now := []string{after.get(t, "/v1/charges/"+c.ID).body, after.get(t, "/v1/ledger").body, after.get(t, "/v1/balance").body, after.get(t, "/v1/events").body}
	require.Equal(t, was, now)
	require.Equal(t, "won", after.decided(t, d.ID, "win").Status)
	require.Equal(t, []string{"charge", "refund", "chargeback", "chargeback_reversal"}, after.kinds(t))
	_, err := time.Parse(time.RFC3339, after.shown(t, c.ID).Disputes[0].DueBy)
	require.NoError(t, err)
}
