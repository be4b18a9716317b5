package engine_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/engine/intake"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/cloudpayments"
	"github.com/paylatch/paylatch/webhooks"
	cloudhooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

func TestTransactions(t *testing.T) {
	t.Parallel()
	t.Run("refund_of_the_captured_one", transactionsRefundOfTheCapturedOne)
	t.Run("confirm_of_the_one_on_hold", transactionsConfirmOfTheOneOnHold)
	t.Run("decline_waits_for_the_other_tab", transactionsDeclineWaitsForTheOtherTab)
	t.Run("hold_outlives_the_other_tries", transactionsHoldOutlivesTheOtherTries)
	t.Run("hold_after_the_failure_is_released", transactionsHoldAfterTheFailureIsReleased)
	t.Run("decline_after_a_release", transactionsDeclineAfterARelease)
	t.Run("paid_twice", transactionsPaidTwice)
	t.Run("reported_together", transactionsReportedTogether)
}

// tabs is CloudPayments as far as a page needs it on which a customer pays in several tabs. Its
// transactions stand as the test sets them, the last one last.
type tabs struct {
	*env

	mu   sync.Mutex
	made []*transaction
	// commands are the commands that moved money, with the transaction.
	commands []string
}

type transaction struct {
	ID              int
	Invoice, Status string
}

func newTabs(t *testing.T) *tabs {
	t.Helper()
	tab := &tabs{}
	s := httptest.NewServer(tab)
	t.Cleanup(s.Close)
	tab.env = newEnv(t, setup{silent: true, provider: func(gateway.Provider) gateway.Provider {
		return cloudpayments.New(s.URL, "public", secret, s.Client())
	}})
	return tab
}

func (p *tabs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	id, _ := in["TransactionId"].(float64)
	invoice, _ := in["InvoiceId"].(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *transaction
	for _, tx := range p.made {
		if tx.ID == int(id) || r.URL.Path == "/payments/find" && tx.Invoice == invoice {
			found = tx
		}
	}
	becomes := map[string][2]string{"/payments/confirm": {"Authorized", "Completed"}, "/payments/void": {"Authorized", "Cancelled"}, "/payments/refund": {"Completed", "Completed"}}
	switch status, command := becomes[r.URL.Path]; {
	case r.URL.Path == "/orders/create":
		_, _ = fmt.Fprintf(w, `{"Success":true,"Model":{"Id":"order-of-%s","Url":"https://orders.example"}}`, invoice)
	case r.URL.Path == "/orders/cancel":
		_, _ = fmt.Fprint(w, `{"Success":true}`)
	case found == nil:
		_, _ = fmt.Fprint(w, `{"Success":false,"Message":"Not found"}`)
	case command && found.Status != status[0]:
		_, _ = fmt.Fprintf(w, `{"Success":false,"Message":"It is %s"}`, found.Status)
	default:
		if command {
			p.commands = append(p.commands, fmt.Sprint(r.URL.Path[len("/payments/"):], " ", found.ID))
			found.Status = status[1]
		}
		_, _ = fmt.Fprintf(w, `{"Success":true,"Model":{"TransactionId":%d,"Amount":19.99,"Currency":"EUR","Status":%q,"ReasonCode":5051,"InvoiceId":%q}}`,
			found.ID, found.Status, found.Invoice)
	}
}

// page begins a payment on the page of an order.
func (p *tabs) page(t *testing.T, order payment.OrderID, mode payment.CaptureMode) payment.AttemptID {
	t.Helper()
	p.order(t, order)
	made, err := p.Pay(t.Context(), customer, request("pay "+string(order), "first-key", "m"), commands.Pay{OrderID: order, Details: gateway.Details{Token: "redirect"}, Capture: mode})
	require.NoError(t, err)
	require.Equal(t, fsm.AwaitingCustomer, made.State)
	return made.ID
}

// stands makes a transaction of a payment, or changes how it stands.
func (p *tabs) stands(id payment.AttemptID, tx int, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, made := range p.made {
		if made.ID == tx {
			made.Status = status
			return
		}
	}
	p.made = append(p.made, &transaction{tx, id.String(), status})
}

// reports makes a transaction and delivers the notice of it.
func (p *tabs) reports(t *testing.T, id payment.AttemptID, topic string, tx int, status string) fsm.Verdict {
	t.Helper()
	p.stands(id, tx, status)
	v, err := cloudhooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	d := webhooks.Delivery{Topic: topic, Method: http.MethodPost, Body: []byte(url.Values{
		"TransactionId": {strconv.Itoa(tx)}, "Amount": {"19.99"}, "Currency": {"EUR"}, "InvoiceId": {id.String()}, "OperationType": {"Payment"},
		"Status": {status}, "ReasonCode": {"5051"}, "DateTime": {time.Now().UTC().Format(time.DateTime)},
	}.Encode())}
	require.NoError(t, v.Sign(&d))
	return p.notify(t, v, d)[0]
}

// done are the commands so far that moved money.
func (p *tabs) done() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commands
}

// A failed try in a second tab after the capture is not the payment that is refunded.
func transactionsRefundOfTheCapturedOne(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.page(t, "A-1", payment.CaptureAutomatic)
	require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 11, "Completed"))
	p.stands(id, 12, "Declined")
	require.Equal(t, fsm.RefundSucceeded, p.refund(t, id, "refund-key").State)
	require.Equal(t, []string{"refund 11"}, p.done())
	require.Empty(t, p.verify(t))
}

// Nor is it confirmed, looked up or released.
func transactionsConfirmOfTheOneOnHold(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.page(t, "A-1", payment.CaptureManual)
	require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 21, "Authorized"))
	p.stands(id, 22, "Declined")
	require.Equal(t, fsm.Authorized, p.recheck(t, id).State)
	require.Equal(t, payment.OperationKind(""), p.attempt(t, id).Intent.Kind)
	_, err := p.Confirm(t.Context(), customer, request("confirm", "confirm-key", ""), commands.Confirm{AttemptID: id})
	require.NoError(t, err)
	require.Equal(t, succeeded, standingOf(p.attempt(t, id).Attempt))

	id = p.page(t, "A-2", payment.CaptureManual)
	require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 31, "Authorized"))
	p.stands(id, 32, "Declined")
	_, err = p.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.Equal(t, standing{"failed", "final", "canceled"}, standingOf(p.attempt(t, id).Attempt))
	require.Equal(t, []string{"confirm 21", "void 31"}, p.done())
	require.Empty(t, p.verify(t))
}

// A decline in one tab is no end: the customer may try again, and be at the bank's check in the other tab. Once the page
// is closed it takes no new try, and the attempt waits for the pending ones.
func transactionsDeclineWaitsForTheOtherTab(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	paid, nobody := p.page(t, "A-1", payment.CaptureAutomatic), p.page(t, "A-2", payment.CaptureAutomatic)
	for tx, id := range map[int]payment.AttemptID{2: paid, 4: nobody} {
		require.Equal(t, fsm.Applied, p.reports(t, id, "fail", tx, "Declined"))
		p.recheck(t, id)
		require.Equal(t, fsm.AwaitingCustomer, p.attempt(t, id).State)
	}
	for _, id := range []payment.AttemptID{paid, nobody} {
		_, err := p.Cancel(t.Context(), customer, request("cancel", "cancel-"+id.String(), ""), id)
		require.NoError(t, err)
		require.Equal(t, fsm.AwaitingCustomer, p.attempt(t, id).State)
	}
	require.Equal(t, fsm.Applied, p.reports(t, paid, "pay", 1, "Completed"))
	require.Equal(t, succeeded, standingOf(p.attempt(t, paid).Attempt))
	p.exec(t, "UPDATE operations SET created_at = created_at - interval '11 minutes', first_sent_at = first_sent_at - interval '11 minutes' WHERE kind IN ('capture', 'cancel') AND attempt_id = $1", nobody.String())
	p.recheck(t, nobody)
	require.Equal(t, standing{"failed", "final", "insufficient_funds"}, standingOf(p.attempt(t, nobody).Attempt))
	require.Empty(t, append(p.discrepancies(t, paid), p.discrepancies(t, nobody)...))
	require.Empty(t, p.verify(t))
}

// A failure, or a release, beside the transaction that holds the money does not change that transaction, in any order of
// reports.
func transactionsHoldOutlivesTheOtherTries(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	held := func(order payment.OrderID, tx int) payment.AttemptID {
		id := p.page(t, order, payment.CaptureManual)
		require.Equal(t, fsm.Applied, p.reports(t, id, "pay", tx, "Authorized"))
		return id
	}
	stays := func(id payment.AttemptID) {
		t.Helper()
		a := p.attempt(t, id)
		require.Equal(t, fsm.Authorized, a.State)
		require.Equal(t, payment.OperationKind(""), a.Intent.Kind)
	}
	id := held("A-1", 51)
	require.Equal(t, fsm.Applied, p.reports(t, id, "fail", 52, "Declined"), "another payment is over")
	stays(id)
	for _, held := range []int{53, 54} {
		p.reports(t, id, "pay", held, "Authorized")
		require.Equal(t, fsm.Applied, p.reports(t, id, "cancel", held, "Cancelled"))
		stays(id)
	}
	require.Equal(t, fsm.Applied, p.reports(t, id, "cancel", 51, "Cancelled"))
	require.True(t, p.attempt(t, id).Failed())

	id = held("A-2", 61)
	require.Equal(t, fsm.Applied, p.reports(t, id, "cancel", 62, "Cancelled"), "its own notice is late")
	p.reports(t, id, "pay", 62, "Authorized")
	require.Equal(t, fsm.Authorized, p.attempt(t, id).State)
	require.Equal(t, []string{"62"}, p.wantedCancels(t, id), "if it is a hold after all, it is a second one")
	require.Empty(t, p.done())
	require.Empty(t, p.verify(t))
}

// A hold that is reported after the failure is released, after any later tries.
func transactionsHoldAfterTheFailureIsReleased(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.page(t, "A-1", payment.CaptureManual)
	_, err := p.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.True(t, p.attempt(t, id).Failed())
	require.Equal(t, fsm.Stale, p.reports(t, id, "pay", 41, "Authorized"))
	p.stands(id, 42, "Declined")
	p.recheck(t, id)
	require.Equal(t, []string{"void 41"}, p.done())
	require.Nil(t, p.attempt(t, id).NextCheckAt)
}

// So is a hold that was released before a decline in another tab. The decline reports nothing of it, and a released hold
// is not looked up.
func transactionsDeclineAfterARelease(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	id := p.page(t, "A-1", payment.CaptureManual)
	require.Equal(t, fsm.Applied, p.reports(t, id, "pay", 71, "Authorized"))
	p.stands(id, 72, "Declined")
	_, err := p.Cancel(t.Context(), customer, request("cancel", "cancel-key", ""), id)
	require.NoError(t, err)
	require.True(t, p.attempt(t, id).Failed())
	p.recheck(t, id)
	require.Nil(t, p.attempt(t, id).NextCheckAt)
	require.Equal(t, []string{"void 71"}, p.done())
	require.Empty(t, p.discrepancies(t, id))
	require.Empty(t, p.verify(t))
}

// The page of one payment takes money twice where both tabs were let through before either paid:
// a discrepancy is opened, once, of each time but the first.
func transactionsPaidTwice(t *testing.T) {
	t.Parallel()
	p := newTabs(t)
	for mode, status := range map[payment.CaptureMode]string{payment.CaptureAutomatic: "Completed", payment.CaptureManual: "Authorized"} {
		id := p.page(t, payment.OrderID("A-"+status), mode)
		about := func() []string {
			t.Helper()
			require.Empty(t, p.verify(t))
			return rows[string](t, p.env, "SELECT concat_ws(' ', kind, nullif(about, ''), nullif(about_id, '')) FROM discrepancies WHERE attempt_id = $1 ORDER BY discrepancy_id", id.String())
		}
		first := 100 * len(status)
		require.Equal(t, fsm.Applied, p.reports(t, id, "pay", first+2, status))
		require.Equal(t, payment.VerdictDuplicate, p.reports(t, id, "pay", first+2, status))
		p.reports(t, id, "fail", first+3, "Declined")
		require.Empty(t, about())
		second := []string{fmt.Sprint("needs_review second_payment ", first+1)}
		if mode == payment.CaptureManual {
			second = nil // the second hold is cancelled
		}
		for range 2 {
			p.reports(t, id, "pay", first+1, status)
			require.ElementsMatch(t, second, about())
		}
		a := p.attempt(t, id)
		require.EqualValues(t, 2*price, max(a.Authorized, a.Captured), "the money is there twice")
		if mode == payment.CaptureManual {
			require.Equal(t, []string{strconv.Itoa(first + 1)}, rows[string](t, p.env, "SELECT payment FROM operations WHERE attempt_id = $1 AND kind = 'cancel' AND open", id.String()))
			continue
		}
		require.Contains(t, p.verdicts(t, id), "conflict")
		p.reports(t, id, "pay", first+4, status)
		for _, d := range p.open(t, id) {
			_, err := p.Resolve(t.Context(), sam, because(d, payment.ResolvedAccepted))
			require.NoError(t, err)
		}
		for _, e := range rows[[16]byte](t, p.env, "SELECT event_id FROM provider_events WHERE attempt_id = $1", id.String()) {
			_, err := p.Replay(t.Context(), intake.Replay{ID: e})
			require.NoError(t, err)
		}
		require.Len(t, about(), 2)
		require.Empty(t, p.open(t, id))
	}
}

// The same if both are reported at once, or before their attempt is found.
func transactionsReportedTogether(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	told := func(name, first, second string) []webhooks.Event {
		all := []webhooks.Event{event(webhooks.KindSucceeded, name), event(webhooks.KindSucceeded, name)}
		all[0].ProviderPaymentID, all[1].ProviderPaymentID = first, second
		return all
	}
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{fsm.Applied, fsm.Conflict}, r.tell(t, told(id.String(), "1", "2")...))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 2*price, r.attempt(t, id).Captured)

	id = r.paid(t, "A-2", "tok_never").ID
	require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched, payment.VerdictUnmatched}, r.tell(t, told("ch_new", "3", "4")...))
	r.tell(t, event(webhooks.KindProcessing, id.String(), "ch_new"))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, id))
	require.EqualValues(t, 2*price, r.attempt(t, id).Captured)
	require.Empty(t, r.verify(t))
}
