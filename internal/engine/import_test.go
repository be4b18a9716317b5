package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/changeset"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/ledger/imports"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/platform/current"
	"github.com/paylatch/paylatch/webhooks"
)

func TestImport(t *testing.T) {
	t.Parallel()
	t.Run("again", importAgain)
	t.Run("contradictions", importContradictions)
	t.Run("reports_find_it", importReportsFindIt)
	t.Run("refund_by_the_provider", importRefundByTheProvider)
	t.Run("refund_of_ours", importRefundOfOurs)
	t.Run("parked_event", importParkedEvent)
	t.Run("beside_a_pay", importBesideAPay)
	t.Run("contradicts_the_attempt", importContradictsTheAttempt)
	t.Run("again_after_an_amendment", importAgainAfterAnAmendment)
	t.Run("dry_across_batches", importDryAcrossBatches)
	t.Run("merchant", importMerchant)
}

// importMerchant: an imported payment belongs to the merchant that is behind its account now.
func importMerchant(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true, change: func(o *options) {
		o.Accounts["sandbox"] = gateway.Account{Provider: o.Accounts["sandbox"].Provider, Merchant: 2}
	}})
	_, refused := r.imported(t, false, past("A-1", "ch_1", paidThen))
	require.Empty(t, refused)
	require.Equal(t, 2, r.one(t, "A-1").Merchant)
}

// past is a line of a payment of 19.99 EUR.
func past(order, name, more string) string {
	return fmt.Sprintf(`{"order_id":%q,"user_id":"u1","provider_payment_id":%q,"amount":1999,"currency":"EUR","created_at":"2024-01-02T03:04:05Z",%s}`+"\n", order, name, more)
}

const (
	paidThen   = `"status":"succeeded"`
	failedThen = `"status":"failed"`
)

// imported imports lines and returns the counts, with the refused lines.
func (r *env) imported(t *testing.T, dry bool, lines ...string) (imports.Count, []string) {
	t.Helper()
	return r.importedBy(t, 100, dry, lines...)
}

// importedBy is imported in batches of a size.
func (r *env) importedBy(t *testing.T, batch int, dry bool, lines ...string) (imports.Count, []string) {
	t.Helper()
	var refused []string
	count, err := imports.Run(t.Context(), strings.NewReader(strings.Join(lines, "")), imports.Options{
		Store: r.store.(imports.Store), Account: "sandbox", Now: time.Now, DryRun: dry, Batch: batch,
		Rules:   changeset.Rules{Accounts: current.Of(r.opts.Accounts), Schedule: payment.Schedule{First: time.Second, Lease: lease}},
		Refused: func(wrong *imports.RefusalError) { refused = append(refused, wrong.Error()) }, Progress: func(imports.Count) {},
	})
	require.NoError(t, err)
	return count, refused
}

// one is the attempt of an order.
func (r *env) one(t *testing.T, order string) attempt {
	t.Helper()
	ids := rows[string](t, r, "SELECT attempt_id::text FROM payment_attempts WHERE order_id = $1", order)
	require.Len(t, ids, 1)
	id, err := payment.ParseAttemptID(ids[0])
	require.NoError(t, err)
	return r.attempt(t, id)
}

func importAgain(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	var lines []string
	for i := range 2000 {
		order, name := fmt.Sprintf("A-%d", i), fmt.Sprintf("ch_%d", i)
		more := paidThen + `,"references":["ref_` + name + `"],"finalized_at":"2024-01-02T03:05:00Z"`
		switch i % 10 {
		case 1:
			more = failedThen
		case 2:
			more = paidThen + `,"amount_captured":1500,"amount_refunded":500`
		case 3:
			more = `"status":"pending"`
		case 4:
			order = fmt.Sprintf("A-%d", i-3) // of the failed one
		}
		lines = append(lines, past(order, name, more))
	}
	dry, _ := r.imported(t, true, lines...)
	require.Equal(t, imports.Count{Lines: 2000, Made: 1800, Refused: 200}, dry)
	require.Empty(t, rows[string](t, r, "SELECT order_id FROM orders"))

	_, err := r.db.Exec(t.Context(), "UPDATE search_cursors SET at = now()")
	require.NoError(t, err)
	made, refused := r.imported(t, false, lines...)
	require.Equal(t, dry, made)
	require.Equal(t, []string{"attempts 2024-01-02 03:04:05+00 ", "orders 2024-01-02 03:04:05+00 "},
		rows[string](t, r, "SELECT source || ' ' || at || ' ' || id FROM search_cursors WHERE source <> 'events' ORDER BY source"), "they are copied for the search, too")
	require.Contains(t, refused[0], "line 4: status: must be succeeded or failed")
	again, _ := r.imported(t, false, lines...)
	require.Equal(t, imports.Count{Lines: 2000, There: 1800, Refused: 200}, again)

	require.Empty(t, r.verify(t))
	require.Equal(t, []int64{1800}, rows[int64](t, r, "SELECT count(*) FROM payment_attempts WHERE origin = 'imported' AND version = 2"))
	require.Equal(t, []int64{1600}, rows[int64](t, r, "SELECT count(*) FROM orders WHERE created_by = 'service'"))
	for _, empty := range []string{"outbox", "operations", "discrepancies", "refunds"} {
		require.Equal(t, []int64{0}, rows[int64](t, r, "SELECT count(*) FROM "+empty), empty)
	}
	a := r.one(t, "A-2")
	require.Equal(t, fsm.Succeeded, a.State)
	require.EqualValues(t, 1500, a.Captured)
	require.EqualValues(t, 1000, a.Held())
	require.Equal(t, time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), a.CreatedAt.UTC())
	require.Equal(t, a.CreatedAt, *a.FinalizedAt)
	require.Equal(t, []string{a.ID.String(), "ch_2"}, rows[string](t, r, "SELECT reference FROM attempt_references WHERE attempt_id = $1 ORDER BY 1", a.ID.String()))
}

func importContradictions(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.order(t, "made-here")
	first := []string{past("A-1", "ch_1", paidThen), past("A-2", "ch_2", failedThen)}
	count, _ := r.imported(t, false, first...)
	require.Equal(t, 2, count.Made)
	one := r.one(t, "A-1").ID.String()
	for name, tt := range map[string]struct{ line, refusal string }{
		"other_content":    {past("A-1", "ch_1", paidThen+`,"amount_refunded":1`), "client_request_id: import:ch_1 belongs to attempt " + one},
		"second_success":   {past("A-1", "ch_9", paidThen), "status: order A-1 is paid by attempt " + one},
		"name_of_another":  {past("A-9", "ch_1", failedThen), "provider_payment_id: ch_1 belongs to attempt " + one},
		"reference":        {past("A-9", "ch_9", failedThen+`,"references":["ch_1"]`), "references: ch_1 belongs to attempt " + one},
		"another_user":     {strings.Replace(past("A-1", "ch_9", failedThen), `"u1"`, `"u2"`, 1), "user_id: order A-1"},
		"another_amount":   {strings.Replace(past("A-1", "ch_9", failedThen), `1999`, `2000`, 1), "amount: order A-1"},
		"another_currency": {strings.Replace(past("A-1", "ch_9", failedThen), `EUR`, `USD`, 1), "currency: order A-1"},
	} {
		for _, dry := range []bool{true, false} {
			count, refused := r.imported(t, dry, tt.line)
			require.Equal(t, imports.Count{Lines: 1, Refused: 1}, count, name)
			require.Contains(t, refused[0], "line 1: "+tt.refusal, name)
		}
	}
	count, refused := r.imported(t, false, past("A-3", "ch_3", paidThen), past("A-3", "ch_3", paidThen), past("A-3", "ch_4", paidThen), past("A-4", "ch_3", failedThen))
	require.Equal(t, imports.Count{Lines: 4, Made: 1, There: 1, Refused: 2}, count)
	require.Contains(t, refused[0], "line 3: status: order A-3 is paid by attempt ")
	require.Contains(t, refused[1], "line 4: provider_payment_id: ")
	count, _ = r.imported(t, false, past("A-2", "ch_5", failedThen), past("A-2", "ch_6", paidThen), past("A-2", "ch_8", failedThen), past("made-here", "ch_7", paidThen))
	require.Equal(t, 4, count.Made, "several failed ones, one success, and an order that was made here")
	require.Empty(t, r.verify(t))
	require.Equal(t, []int64{4}, rows[int64](t, r, "SELECT count(*) FROM orders"))
}

func importReportsFindIt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.imported(t, false, past("A-1", "ch_1", paidThen+`,"references":["pay_1"]`))
	back := event(webhooks.KindChargeback, "ch_1")
	back.ProviderPaymentID, back.MovementID, back.Money = "ch_1", "dp_1", &webhooks.Money{Minor: 700, Currency: "EUR"}
	again := event(webhooks.KindSucceeded, "pay_1")
	again.ProviderPaymentID, again.Money = "ch_1", &webhooks.Money{Minor: 1999, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Repeat}, r.tell(t, back, again))
	a := r.one(t, "A-1")
	require.EqualValues(t, 700, a.Disputed)
	require.Equal(t, []string{"payment_attempt.updated 3"}, rows[string](t, r, "SELECT type || ' ' || version FROM outbox WHERE type LIKE 'payment_attempt.%'"))
	require.Empty(t, r.verify(t))
}

// A refund after the import adds to the imported total, a refund before the import is part of it, in any order of
// reports. The same is true for a later total.
func importRefundByTheProvider(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.imported(t, false, past("A-1", "ch_1", paidThen+`,"amount_refunded":500`))
	refund := func(id string, at time.Time) webhooks.Event {
		e := event(webhooks.KindRefundSucceeded, "ch_1")
		e.ProviderPaymentID, e.RefundID, e.Money, e.OccurredAt = "ch_1", id, &webhooks.Money{Minor: 500, Currency: "EUR"}, at
		return e
	}
	r.tell(t, refund("re_new", time.Now().Add(time.Minute)))
	require.EqualValues(t, 1000, r.one(t, "A-1").Refunded)
	r.tell(t, refund("re_old", time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)))
	require.EqualValues(t, 1000, r.one(t, "A-1").Refunded)
	r.tell(t, refund("re_newest", time.Now().Add(2*time.Minute)))
	require.EqualValues(t, 1500, r.one(t, "A-1").Refunded)
	require.Empty(t, r.verify(t))
}

func importRefundOfOurs(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	body := strings.NewReader(`{"reference":"old-shop-1","amount":1999,"currency":"EUR","token":"tok_success"}`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.box+"/v1/charges", body)
	require.NoError(t, err)
	req.Header.Set("Idempotency-Key", "old-shop-key-1")
	req.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var charge struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&charge))
	require.NotEmpty(t, charge.ID)
	r.imported(t, false, past("A-1", charge.ID, paidThen+`,"amount_refunded":500`))
	a := r.one(t, "A-1")
	made := r.refundOf(t, a.ID, "refund-of-the-past", 300)
	require.Equal(t, fsm.RefundSucceeded, made.State)
	require.EqualValues(t, 800, r.one(t, "A-1").Refunded, "ours is not in what was imported")
	require.Empty(t, r.verify(t))
}

func importParkedEvent(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	back := event(webhooks.KindChargeback, "ch_1")
	back.ProviderPaymentID, back.MovementID, back.Money = "ch_1", "dp_1", &webhooks.Money{Minor: 700, Currency: "EUR"}
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, r.tell(t, back))
	r.imported(t, false, past("A-1", "ch_1", paidThen))
	a := r.one(t, "A-1")
	require.EqualValues(t, 700, a.Disputed)
	require.Equal(t, []string{"applied"}, r.verdicts(t, a.ID))
	require.Zero(t, r.parked(t))
	require.Equal(t, []string{"payment_attempt.updated 3"}, rows[string](t, r, "SELECT type || ' ' || version FROM outbox WHERE type LIKE 'payment_attempt.%'"))
	require.Empty(t, r.verify(t))
}

// A dry run reports for each line the result of the import, with any lines between contradicting ones.
func importDryAcrossBatches(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	r.imported(t, false, past("stored", "ch_stored", failedThen))
	lines := []string{
		past("A-1", "ch_1", failedThen+`,"references":["ref_1"]`),
		past("A-1", "ch_2", paidThen),
		past("A-1", "ch_1", failedThen+`,"references":["ref_1"]`),
		past("A-1", "ch_1", failedThen),
		past("A-1", "ch_3", paidThen),
		past("A-2", "ch_2", failedThen),
		past("A-2", "ch_4", failedThen+`,"references":["ref_1"]`),
		strings.Replace(past("A-1", "ch_5", failedThen), `"u1"`, `"u2"`, 1),
		strings.Replace(past("A-1", "ch_5", failedThen), `1999`, `2000`, 1),
		past("stored", "ch_6", paidThen+`,"amount_captured":1500,"amount_refunded":500`),
		past("stored", "ch_7", paidThen),
		past("stored", "ch_6", paidThen+`,"amount_captured":1500,"amount_refunded":500`),
	}
	want, refusals := r.importedBy(t, len(lines), true, lines...)
	require.Equal(t, imports.Count{Lines: 12, Made: 3, There: 2, Refused: 7}, want)
	ids := regexp.MustCompile("attempt [0-9a-f-]{36}")
	for _, dry := range []bool{true, false} {
		count, refused := r.importedBy(t, 1, dry, lines...)
		require.Equal(t, want, count)
		for i := range refused {
			require.Equal(t, ids.ReplaceAllString(refusals[i], ""), ids.ReplaceAllString(refused[i], ""))
		}
		require.Equal(t, dry, len(rows[string](t, r, "SELECT order_id FROM orders")) == 1)
	}
	require.Empty(t, r.verify(t))
}

// A payment that was made here exists already, with any request id in the file.
func importBesideAPay(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	a := r.paid(t, "A-1", "tok_success")
	count, refused := r.imported(t, false, past("A-1", a.ProviderPaymentID, paidThen))
	require.Equal(t, imports.Count{Lines: 1, There: 1}, count, refused)
	require.Empty(t, r.verify(t))
}

// A line about a payment that was made here is skipped only if the attempt ended as the line says, whether the provider's id
// or the request id finds the attempt.
func importContradictsTheAttempt(t *testing.T) {
	t.Parallel()
	r := deaf(t)
	names := map[string]string{}
	for i, end := range []string{"expired", "pending", "paid", "late money"} {
		id := payment.OrderID(fmt.Sprintf("A-%d", i))
		names[end] = fmt.Sprintf("pi_%d", i)
		r.order(t, id)
		reply, err := r.Register(t.Context(), shop, request("attempts", "request-of-"+string(id), ""),
			commands.External{OrderID: id, Capture: payment.CaptureAutomatic, ProviderPaymentID: names[end]})
		require.NoError(t, err)
		if end == "expired" || end == "late money" {
			r.lateNow(t, reply.ID)
			require.True(t, r.recheck(t, reply.ID).Failed())
		}
		if end == "paid" || end == "late money" {
			e := event(webhooks.KindSucceeded, names[end])
			e.ProviderPaymentID, e.Money = names[end], &webhooks.Money{Minor: price, Currency: "EUR"}
			r.tell(t, e)
		}
	}
	const failed, partly = failedThen, paidThen + `,"amount_captured":1500`
	for i, tt := range []struct{ end, line, refusal string }{
		{"expired", paidThen, "failed here with 0 captured"},
		{"expired", failed, ""},
		{"pending", paidThen, "is not over"},
		{"pending", failed, "is not over"},
		{"paid", paidThen, ""},
		{"paid", partly, "succeeded here with 1999 captured"},
		{"paid", failed, "succeeded here with 1999 captured"},
		{"late money", paidThen, "failed here with 1999 captured"},
		{"late money", failed, "failed here with 1999 captured"},
	} {
		order := strings.Replace(names[tt.end], "pi_", "A-", 1)
		for _, by := range []string{"", `,"client_request_id":"request-of-` + order + `"`} {
			for _, dry := range []bool{true, false} {
				count, refused := r.imported(t, dry, past(order, names[tt.end], tt.line+by))
				if tt.refusal == "" {
					require.Equal(t, imports.Count{Lines: 1, There: 1}, count, "%d %v", i, refused)
					continue
				}
				require.Equal(t, imports.Count{Lines: 1, Refused: 1}, count, "%d %s", i, by)
				require.Contains(t, refused[0], tt.refusal)
			}
		}
	}
	require.Empty(t, r.verify(t))
}

// An amendment of an order changes no payment: the lines of its imported payments are skipped as before.
func importAgainAfterAnAmendment(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	line := past("A-1", "ch_1", failedThen)
	made, refused := r.imported(t, false, line)
	require.Equal(t, imports.Count{Lines: 1, Made: 1}, made, refused)
	r.amend(t, "amend-key", commands.AmendOrder{Amount: new(int64(dearer))})
	again, refused := r.imported(t, false, line)
	require.Equal(t, imports.Count{Lines: 1, There: 1}, again, refused)
	more, refused := r.imported(t, false, past("A-1", "ch_2", failedThen))
	require.Equal(t, imports.Count{Lines: 1, Refused: 1}, more)
	require.Contains(t, refused[0], "amount: order A-1 is for 2500")
	require.Empty(t, r.verify(t))
}

// The same file by two processes at the same time is made once.
func TestImport_twiceAtOnce(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	lines := make([]string, 600)
	for i := range lines {
		lines[i] = past(fmt.Sprintf("A-%d", i), fmt.Sprintf("ch_%d", i), paidThen)
	}
	done := make(chan imports.Count)
	for range 2 {
		go func() {
			count, err := imports.Run(context.WithoutCancel(t.Context()), strings.NewReader(strings.Join(lines, "")), imports.Options{
				Store: r.store.(imports.Store), Account: "sandbox", Now: time.Now, Batch: 100,
				Refused: func(*imports.RefusalError) {}, Progress: func(imports.Count) {},
			})
			if err != nil {
				count.Refused = -1
			}
			done <- count
		}()
	}
	a, b := <-done, <-done
	require.Equal(t, 600, a.Made+b.Made)
	require.Equal(t, 600, a.There+b.There)
	require.Zero(t, a.Refused+b.Refused)
	require.Empty(t, r.verify(t))
}
