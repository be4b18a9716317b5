package payment_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/tbank"
	"github.com/paylatch/paylatch/webhooks"
)

// later is a rig with T-Bank, which carries refunds out later (SBP's) and tells of a
// refund only by how its payment stands.
type later struct {
	*rig

	status, cancelled atomic.Pointer[string]
	amount            atomic.Int64
}

func newLater(t *testing.T) *later {
	t.Helper()
	l := &later{}
	body := func(status string) string {
		return fmt.Sprintf(`{"TerminalKey":"t","Success":true,"ErrorCode":"0","Status":%q,"PaymentId":"77","Amount":%d}`, status, l.amount.Load())
	}
	s := answers(t, map[string]func() string{
		"POST /v2/Init":        func() string { return body("NEW") },
		"POST /v2/GetCardList": func() string { return `[{"RebillId":"rebill","Status":"A"}]` },
		"POST /v2/Charge":      func() string { return body("CONFIRMED") },
		"POST /v2/GetState":    func() string { return body(*l.status.Load()) },
		"POST /v2/Cancel":      func() string { return *l.cancelled.Load() },
	})
	client, err := tbank.New(s.URL, "t", "secret", "EUR", s.Client())
	require.NoError(t, err)
	l.rig = newRig(t, setup{silent: true, provider: func(payment.Provider) payment.Provider { return client }})
	l.amount.Store(price)
	return l
}

// took is a refund that the bank has taken and not carried out; before is what its
// answer says was left of the payment.
func (l *later) took(t *testing.T, id payment.AttemptID, key string, amount, before int64) payment.Refund {
	t.Helper()
	l.says("ASYNC_REFUNDING", fmt.Sprintf(`{"Success":true,"ErrorCode":"0","Status":"ASYNC_REFUNDING","PaymentId":77,"OriginalAmount":%d,"NewAmount":%d}`, before, before-amount))
	r := l.refundOf(t, id, key, amount)
	require.Equal(t, fsm.RefundPending, r.State)
	return r
}

func (l *later) says(status, cancelled string) {
	l.status.Store(&status)
	l.cancelled.Store(&cancelled)
}

func (l *later) looked(t *testing.T, r payment.Refund) fsm.RefundState {
	t.Helper()
	now, err := l.RecheckRefund(t.Context(), r.ID, byTest)
	require.NoError(t, err)
	return now.State
}

// A part that the bank carries out later is known by the state of the payment, which
// says that a part was paid back: by the only refund that there is.
func TestAPartialRefundThatIsCarriedOutLaterEnds(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.RefundState{"PARTIAL_REFUNDED": fsm.RefundSucceeded, "CONFIRMED": fsm.RefundFailed} {
		l := newLater(t)
		id := l.paid(t, "A-1", "rebill").ID
		r := l.took(t, id, "refund-key", 700, price)
		for range 12 {
			require.Equal(t, fsm.RefundPending, l.looked(t, r))
		}
		require.Empty(t, l.discrepancies(t, id), "the bank is at work on it")
		l.says(status, "")
		if want == fsm.RefundFailed {
			require.Equal(t, fsm.RefundPending, l.looked(t, r), "it may not show yet")
			l.exec(t, "UPDATE refunds SET created_at = created_at - interval '11 minutes', updated_at = updated_at - interval '11 minutes'")
		}
		require.Equal(t, want, l.looked(t, r), status)
		require.Equal(t, map[fsm.RefundState]int64{fsm.RefundSucceeded: 700}[want], l.attempt(t, id).Refunded)
		require.Empty(t, l.discrepancies(t, id))
		require.Empty(t, l.verify(t))
	}
}

// Nor does one whose answer was lost have to show at once: were it called not made, the
// same money could be paid back twice.
func TestALostRefundMayShowLater(t *testing.T) {
	t.Parallel()
	l := newLater(t)
	id := l.paid(t, "A-1", "rebill").ID
	l.says("CONFIRMED", "")
	r := l.refundOf(t, id, "refund-key", 700)
	l.exec(t, "UPDATE refunds SET created_at = created_at - interval '9 minutes', updated_at = updated_at - interval '9 minutes'")
	require.Equal(t, fsm.RefundPending, l.looked(t, r))
	l.exec(t, "UPDATE refunds SET created_at = created_at - interval '2 minutes', updated_at = updated_at - interval '2 minutes'")
	require.Equal(t, fsm.RefundFailed, l.looked(t, r))
	require.Empty(t, l.discrepancies(t, id))
	require.Empty(t, l.verify(t))
}

// Which of several refunds was carried out the bank does not say, and so it is with one
// beside what was paid back in its cabinet.
func TestAPartialRefundThatMayBeAnotherOneIsNotTakenForPaid(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]func(l *later, id payment.AttemptID){
		"pending": func(l *later, id payment.AttemptID) { l.took(t, id, "another-key", 300, price) },
		"paid": func(l *later, id payment.AttemptID) {
			l.says("PARTIAL_REFUNDED", `{"Success":true,"ErrorCode":"0","Status":"PARTIAL_REFUNDED","PaymentId":77,"OriginalAmount":1999,"NewAmount":1699}`)
			require.Equal(t, fsm.RefundSucceeded, l.refundOf(t, id, "another-key", 300).State)
		},
		"in the cabinet, before": func(*later, payment.AttemptID) {},
		"in the cabinet, and told of in all": func(l *later, id payment.AttemptID) {
			total := cents(webhooks.KindRefundSucceeded, id, "", 1000)
			total.Cumulative = true
			l.tell(t, total)
			require.EqualValues(t, 300, l.attempt(t, id).Refunded)
		},
		"in the cabinet, meanwhile": func(l *later, _ payment.AttemptID) { l.amount.Store(price - 300) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLater(t)
			id := l.paid(t, "A-1", "rebill").ID
			before := int64(price)
			if name == "in the cabinet, before" {
				before -= 300
			}
			r := l.took(t, id, "refund-key", 700, before)
			another(l, id)
			l.says("PARTIAL_REFUNDED", "")
			require.Equal(t, fsm.RefundPending, l.looked(t, r))
			require.Empty(t, l.verify(t))
		})
	}
}

// An event of a refund that must be fetched is fetched as soon as ours has its name: it may
// be of another one.
func TestARefundToBeFetchedIsDueOnceOursHasItsName(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{}, errNoAnswer
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	ours := r.refundOf(t, id, "refund-1", 700)
	thin := cents(webhooks.KindRefundSucceeded, id, "re_2", 300)
	thin.NeedsFetch = true
	require.Equal(t, []fsm.Verdict{payment.Deferred}, r.tell(t, thin))
	r.exec(t, "UPDATE provider_events SET next_try_at = now() + interval '1 hour'")
	named := cents(webhooks.KindRefundPending, id, "re_1", 700)
	named.RefundReference = ours.ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, named))
	require.Equal(t, []bool{true}, rows[bool](t, r, "SELECT next_try_at <= now() FROM provider_events WHERE provider_event_id = $1", thin.ID))
}

// A refund that was taken for the dashboard's, and is ours by the answer to its call, is not
// given back to the dashboard if a webhook calls ours by another name still.
func TestARefundThatIsOursByItsAnswerStaysOurs(t *testing.T) {
	t.Parallel()
	p := &refunding{refund: func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
		return payment.RefundOutcome{News: fsm.NewsProcessing, ProviderRefundID: "re_1"}, nil
	}}
	r := newRig(t, setup{silent: true, provider: p.on})
	id := r.paid(t, "A-1", "tok_success").ID
	r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_1", 500))
	other := cents(webhooks.KindRefundSucceeded, id, "re_2", 500)
	other.RefundReference = r.refundOf(t, id, "refund-1", 500).ID.String()
	require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, other))
	require.EqualValues(t, 500, r.attempt(t, id).Refunded)
	require.Empty(t, r.verify(t))
}

// A refund of the dashboard's that was taken for ours, which has no name yet and is of the
// same amount, is another one once ours has its name: both count.
func TestARefundThatWasTakenForOursIsTheDashboards(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"a webhook names ours": false, "the answer names ours": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &refunding{refund: backLost}
			r := newRig(t, setup{silent: true, provider: p.on})
			id := r.paid(t, "A-1", "tok_success").ID
			theirs := func() {
				require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, cents(webhooks.KindRefundSucceeded, id, "re_theirs", 500)))
			}
			if answered {
				p.refund = func(func() (payment.RefundOutcome, error)) (payment.RefundOutcome, error) {
					theirs()
					return payment.RefundOutcome{News: fsm.NewsSucceeded, ProviderRefundID: "re_ours", Money: &payment.Money{Minor: 500, Currency: "EUR"}}, nil
				}
			}
			ours := r.refundOf(t, id, "refund-1", 500)
			if !answered {
				theirs()
			}
			named := cents(webhooks.KindRefundSucceeded, id, "re_ours", 500)
			named.RefundReference = ours.ID.String()
			require.Equal(t, []fsm.Verdict{map[bool]fsm.Verdict{false: fsm.Applied, true: fsm.Repeat}[answered]}, r.tell(t, named))
			require.Equal(t, []string{"u1 re_ours succeeded 500", "provider re_theirs succeeded 500"}, r.refunds(t, id))
			require.EqualValues(t, 1000, r.attempt(t, id).Refunded)
			require.Empty(t, r.discrepancies(t, id))
			require.Empty(t, r.verify(t))
		})
	}
}
