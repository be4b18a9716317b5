package mollie_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func captureOf(o gateway.Outcome, minor int64) gateway.Capture {
	return gateway.Capture{ProviderPaymentID: o.ProviderPaymentID, Money: euro(minor), IdempotencyKey: o.ProviderPaymentID + "-capture-0", Permit: permit()}
}

func cancelOf(o gateway.Outcome) gateway.Cancel {
	return gateway.Cancel{ProviderPaymentID: o.ProviderPaymentID, IdempotencyKey: o.ProviderPaymentID + "-cancel-0", Permit: permit()}
}

// finish ends pending captures with this status.
func (f *fake) finish(id, status string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.payments[id]
	for _, c := range p.captures {
		if c.status == "pending" {
			if c.status = status; status == "succeeded" {
				p.settle(c)
			}
		}
	}
}

// A capture may take a while. Until it ends, the hold can't be captured again.
func TestACaptureUnderWay(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]fsm.Event{"succeeded": fsm.EventSucceeded, "failed": fsm.EventAuthorized} {
		f := newFake(t)
		f.slow = true
		c, got := serve(t, f)
		held := charged(t, c, manual(charge("cst_1")))
		o, err := c.Capture(t.Context(), captureOf(held, 1999))
		require.NoError(t, err)
		require.Equal(t, fsm.EventProcessing, o.Event)
		require.False(t, o.Refused)
		over, err := c.Cancel(t.Context(), cancelOf(held))
		require.NoError(t, err)
		require.True(t, over.Refused, "what is being taken can't be given up")
		require.Len(t, got, 4, "the charge, the capture and two questions: nothing is released or cancelled")

		f.finish(held.ProviderPaymentID, status)
		o, err = c.Capture(t.Context(), captureOf(held, 1999))
		require.NoError(t, err)
		require.Equal(t, want, o.Event, status)
		require.Equal(t, status == "failed", o.Refused, "the same key, the same capture: it can be asked for anew")
		now, err := c.Lookup(t.Context(), held.ProviderPaymentID)
		require.NoError(t, err)
		require.Equal(t, want, now.Event)
		require.Equal(t, euro(1999), *now.Money)
		if status == "failed" {
			again := captureOf(held, 1999)
			again.IdempotencyKey = "k-capture-1"
			o, err = c.Capture(t.Context(), again)
			require.NoError(t, err)
			require.Equal(t, fsm.EventProcessing, o.Event)
			require.False(t, o.Refused, "what failed was another one")
		}
	}
}

// If the method allows a later capture of the rest, Mollie continues to hold it.
func TestWhatIsNotCapturedIsReleased(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, got := serve(t, f)
	held := charged(t, c, manual(charge("cst_klarna")))
	o, err := c.Capture(t.Context(), captureOf(held, 500))
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
	require.Equal(t, euro(500), *o.Money)
	require.Len(t, got, 4)
	<-got
	require.Equal(t, "POST /v2/payments/"+held.ProviderPaymentID+"/captures", (<-got).line)
	require.Equal(t, "GET /v2/payments/"+held.ProviderPaymentID+"?embed=captures,refunds,chargebacks", (<-got).line)
	release := <-got
	require.Equal(t, "POST /v2/payments/"+held.ProviderPaymentID+"/release-authorization", release.line)
	require.Equal(t, held.ProviderPaymentID+"-capture-0-release", release.header.Get("Idempotency-Key"))
	now, err := c.Lookup(t.Context(), held.ProviderPaymentID)
	require.NoError(t, err)
	require.Equal(t, o, now)
	require.Equal(t, "paid", f.payments[held.ProviderPaymentID].status)
}

// The bank may take a while to release a hold.
func TestAReleaseUnderWayIsNoRefusal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.slow = true
	c, _ := serve(t, f)
	held := charged(t, c, manual(charge("cst_1")))
	o, err := c.Cancel(t.Context(), cancelOf(held))
	require.NoError(t, err)
	require.False(t, o.Refused)
	require.Equal(t, fsm.EventAuthorized, o.Event)
}

// Some methods don't allow the cancel of an open payment; it expires.
func TestAnOpenPaymentThatCannotBeCancelled(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	open := charged(t, c, charge("bancontact"))
	o, err := c.Cancel(t.Context(), cancelOf(open))
	require.NoError(t, err)
	require.True(t, o.Refused)
	require.Equal(t, fsm.EventActionRequired, o.Event)
	<-got
	<-got
	require.Equal(t, "DELETE /v2/payments/"+open.ProviderPaymentID, (<-got).line)
}

func TestACancelOfWhatIsOverAsksNobody(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	failed := charged(t, c, charge("cst_nomoney"))
	o, err := c.Cancel(t.Context(), cancelOf(failed))
	require.NoError(t, err)
	require.Equal(t, failed, o)
	<-got
	<-got
	require.Empty(t, got)
}

// Mollie makes no second refund of the same amount within an hour. The second refund is not under way and never will be.
func TestARefundThatLooksLikeAnotherIsRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	paid := charged(t, c, charge("cst_1"))
	back := func(minor int64) gateway.RefundOutcome {
		o, err := c.Refund(t.Context(), gateway.RefundCall{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Money: euro(minor),
			IdempotencyKey: uuid.NewString(), Permit: permit(),
		})
		require.NoError(t, err)
		return o
	}
	require.Equal(t, fsm.EventProcessing, back(500).Event)
	same := back(500)
	require.Equal(t, fsm.EventFailed, same.Event)
	require.True(t, same.Refused, "an earlier call of this refund may be the other one")
	require.Equal(t, "provider_rejected", same.Failure.Code)
	require.Equal(t, "Conflict", same.Failure.ProviderCode)
	require.Contains(t, same.Failure.Message, "Wait an hour, or refund another amount.")
	require.Equal(t, fsm.EventProcessing, back(501).Event)
}

func TestARefundIsFoundOnALaterPage(t *testing.T) {
	t.Parallel()
	c, got := serve(t, newFake(t))
	paid := charged(t, c, charge("cst_1"))
	var first gateway.RefundRef
	for i := range 5 {
		back := gateway.RefundCall{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Money: euro(100 + int64(i)),
			Reason: "Damaged.", IdempotencyKey: uuid.NewString(), Permit: permit(),
		}
		_, err := c.Refund(t.Context(), back)
		require.NoError(t, err)
		if i == 0 {
			first = gateway.RefundRef{Refund: back.Refund, ProviderPaymentID: paid.ProviderPaymentID}
			<-got
			sent := <-got
			require.NotContains(t, sent.body, "Damaged", "the customer would read it")
			require.Contains(t, sent.body, back.Refund.String())
		}
	}
	found, err := c.LookupRefund(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, fsm.EventProcessing, found.Event)
}

// Until the money leaves, Mollie's dashboard can cancel a refund, and Mollie then deletes it. A payment that the key
// can't find is no evidence.
func TestARefundThatWasCancelledIsGone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, _ := serve(t, f)
	paid := charged(t, c, charge("cst_1"))
	made, err := c.Refund(t.Context(), gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Money: euro(500), IdempotencyKey: "k", Permit: permit(),
	})
	require.NoError(t, err)
	ref := gateway.RefundRef{ProviderPaymentID: paid.ProviderPaymentID, ProviderRefundID: made.ProviderRefundID, Age: 10 * time.Minute}
	f.withdraw(paid.ProviderPaymentID)
	_, err = c.LookupRefund(t.Context(), ref)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "Mollie may not have seen it everywhere")
	ref.Age++
	found, err := c.LookupRefund(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, gateway.RefundOutcome{
		Event: fsm.EventFailed, ProviderRefundID: made.ProviderRefundID, Failure: payment.NewFailure("canceled", ""),
	}, found)

	ref.ProviderPaymentID = "tr_WDqYK6vllg"
	_, err = c.LookupRefund(t.Context(), ref)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	ref.ProviderRefundID, ref.Refund = "", payment.RefundID(uuid.New())
	_, err = c.LookupRefund(t.Context(), ref)
	require.ErrorIs(t, err, gateway.ErrInconclusive, "a payment that nobody knows says nothing of its refunds")
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = says(t, 404, `{"message":"no Route matched"}`).LookupRefund(t.Context(), ref)
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// withdraw cancels all refunds of a payment.
func (f *fake) withdraw(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.payments[id].refunds, f.payments[id].refunded = nil, 0
}

// A link to another server's page is not followed.
func TestALinkIsNotFollowedElsewhere(t *testing.T) {
	t.Parallel()
	c := says(t, 200, `{"count":0,"_embedded":{"refunds":[]},"_links":{"next":{"href":"https://evil.example/?limit=1"}}}`)
	_, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderPaymentID: "tr_1", Refund: payment.RefundID(uuid.New())})
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}
