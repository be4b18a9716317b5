package providertest

import (
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func manualCapture(r *rig) {
	if r.can.Captures == payment.CapturesNone {
		return
	}
	o := r.held()
	require.Equal(r, fsm.EventAuthorized, o.Event)
	require.Equal(r, euro(price), *o.Money)
	c := captureOf(o.ProviderPaymentID, price)
	for range 2 {
		taken, err := r.Capture(r.Context(), c)
		require.NoError(r, err)
		require.False(r, taken.Refused)
		if r.can.Blind() {
			require.Equal(r, fsm.EventProcessing, taken.Event)
			continue
		}
		require.Equal(r, fsm.EventSucceeded, taken.Event)
		require.Equal(r, euro(price), *taken.Money)
	}
	r.bore(c.IdempotencyKey)
}

func partialCapture(r *rig) {
	if r.can.Captures == payment.CapturesNone || r.can.Blind() {
		return
	}
	o := r.held()
	taken, err := r.Capture(r.Context(), captureOf(o.ProviderPaymentID, 500))
	if r.can.Captures < payment.CapturesOnce {
		require.ErrorIs(r, err, gateway.ErrUnsupportedRequest)
		return
	}
	require.NoError(r, err)
	require.Equal(r, fsm.EventSucceeded, taken.Event)
	require.Equal(r, euro(500), *taken.Money)
	now, err := r.Lookup(r.Context(), o.ProviderPaymentID)
	require.NoError(r, err)
	require.Equal(r, euro(500), *now.Money)
}

// inParts holds money for several captures, and captures some parts. It returns the payment's id, and the captures.
func (r *rig) inParts(parts ...int64) (id string, all []gateway.Outcome) {
	r.Helper()
	c := charge(r.Tokens.Success)
	c.Capture, c.Several = payment.CaptureManual, true
	id = r.charged(c).ProviderPaymentID
	var sum int64
	for _, minor := range parts {
		taken := r.part(id, minor, false)
		sum += minor
		require.Equal(r, euro(sum), *taken.Money, "the sum so far")
		all = append(all, taken)
	}
	return id, all
}

// partsNamed asserts that a lookup names each of several captures as the response to it did, if the provider names them.
func (r *rig) partsNamed(now gateway.Outcome, taken ...gateway.Outcome) {
	r.Helper()
	names := map[string]bool{}
	for _, o := range taken {
		names[o.ProviderRef] = true
	}
	if names[""] {
		require.Len(r, names, 1, "all of them, or none")
		return
	}
	var sum int64
	for _, m := range now.Movements {
		if m.Kind == payment.MovementCapture {
			require.True(r, names[m.ID], m.ID)
			delete(names, m.ID)
			sum += m.Money.Minor
		}
	}
	require.Empty(r, names)
	require.Equal(r, now.Money.Minor, sum)
	if r.can.Refunds != payment.RefundsOfCaptures {
		return
	}
	for i, o := range taken { // each has its own money
		c := refundOf(now.ProviderPaymentID, 300)
		c.Capture = o.ProviderRef
		back, err := r.Refund(r.Context(), c)
		require.NoError(r, err)
		require.NotEqual(r, fsm.EventFailed, back.Event, i)
	}
	more := refundOf(now.ProviderPaymentID, taken[0].Money.Minor)
	more.Capture = taken[0].ProviderRef
	back, err := r.Refund(r.Context(), more)
	require.NoError(r, err)
	require.True(r, back.Refused, "another capture has the money")
}

func (r *rig) part(id string, minor int64, last bool) gateway.Outcome {
	r.Helper()
	c := captureOf(id, minor)
	c.Several, c.Final = true, last
	taken, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
	require.False(r, taken.Refused)
	require.Equal(r, fsm.EventSucceeded, taken.Event)
	again, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
	require.Equal(r, taken.Money, again.Money, "the same key captures once")
	require.Equal(r, taken.ProviderRef, again.ProviderRef)
	return taken
}

// released is how much of a hold was released, as an outcome has it.
func released(o gateway.Outcome) (sum int64) {
	for _, m := range o.Movements {
		if m.Kind == payment.MovementRelease {
			sum += m.Money.Minor
		}
	}
	return sum
}

// partsReceived makes several captures at a provider that only receives them. Each has a name of its own, and a repetition
// has the name of the first call.
func partsReceived(r *rig) {
	c := charge(r.Tokens.Success)
	c.Capture, c.Several = payment.CaptureManual, true
	id := r.charged(c).ProviderPaymentID
	names := map[string]bool{}
	for _, last := range []bool{false, false, true} {
		c := captureOf(id, 500)
		c.Several, c.Final = true, last
		for range 2 {
			taken, err := r.Capture(r.Context(), c)
			require.NoError(r, err)
			require.False(r, taken.Refused)
			require.Equal(r, fsm.EventProcessing, taken.Event)
			require.NotEmpty(r, taken.ProviderRef)
			names[taken.ProviderRef] = true
		}
		r.bore(c.IdempotencyKey)
		requests := r.commanded()
		require.Contains(r, string(requests[len(requests)-1].Body), c.IdempotencyKey, "its webhooks may carry it")
	}
	require.Len(r, names, 3)
	over, err := r.Cancel(r.Context(), cancelOf(id))
	require.NoError(r, err)
	require.Equal(r, fsm.EventProcessing, over.Event)
}

func severalCaptures(r *rig) {
	switch {
	case r.can.Captures < payment.CapturesSeveral:
		return
	case r.can.Blind():
		partsReceived(r)
		return
	}
	id, taken := r.inParts(500, 700)
	now, err := r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, fsm.EventSucceeded, now.Event)
	require.Equal(r, euro(1200), *now.Money)
	require.Zero(r, released(now))
	r.partsNamed(now, taken...)

	for range 2 {
		ended, err := r.Cancel(r.Context(), cancelOf(id))
		require.NoError(r, err)
		require.Equal(r, fsm.EventSucceeded, ended.Event, "captured money stays")
		require.Equal(r, euro(1200), *ended.Money)
		require.EqualValues(r, price-1200, released(ended))
	}
	c := captureOf(id, 1)
	c.Several = true
	refused, err := r.Capture(r.Context(), c)
	require.NoError(r, err)
	require.True(r, refused.Refused, "nothing is on hold any more")
}

func lastOfSeveral(r *rig) {
	if r.can.Captures < payment.CapturesSeveral || r.can.Blind() {
		return
	}
	id, _ := r.inParts(500)
	r.part(id, 700, true)
	now, err := r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, euro(1200), *now.Money)
	require.EqualValues(r, price-1200, released(now))

	id, _ = r.inParts(500)
	require.Zero(r, released(r.part(id, price-500, false)), "all of it")
}

func captureRefused(r *rig) {
	if r.can.Captures == payment.CapturesNone || r.can.Blind() {
		return
	}
	o := r.held()
	more := captureOf(o.ProviderPaymentID, price+1)
	more.Whole = r.can.Captures < payment.CapturesOnce // otherwise the adapter does not send it
	refused, err := r.Capture(r.Context(), more)
	require.NoError(r, err)
	require.True(r, refused.Refused)
	require.Equal(r, fsm.EventAuthorized, refused.Event)
	if r.can.Cancels == payment.CancelsNone {
		return
	}
	_, err = r.Cancel(r.Context(), cancelOf(o.ProviderPaymentID))
	require.NoError(r, err)
	refused, err = r.Capture(r.Context(), captureOf(o.ProviderPaymentID, price))
	require.NoError(r, err)
	require.True(r, refused.Refused)
	require.Equal(r, fsm.EventFailed, refused.Event)
}

func cancel(r *rig) {
	if r.can.Cancels == payment.CancelsNone {
		return
	}
	var all []gateway.Outcome
	if r.Tokens.Redirect != "" && !r.can.Blind() {
		waits := r.charged(charge(r.Tokens.Redirect))
		switch {
		case r.CancelsOnlyHeld:
			r.waitsOn(waits)
		case r.Abandons:
			r.abandons(waits)
		default:
			all = append(all, waits)
		}
	}
	if r.can.Captures > payment.CapturesNone {
		all = append(all, r.held())
	}
	for i, o := range all {
		c := cancelOpen(o)
		for range 2 {
			over, err := r.Cancel(r.Context(), c)
			require.NoError(r, err)
			require.False(r, over.Refused)
			if r.can.Blind() {
				require.Equal(r, fsm.EventProcessing, over.Event)
				continue
			}
			require.Equal(r, fsm.EventFailed, over.Event)
			require.Equal(r, "canceled", over.Failure.Code)
		}
		r.bore(c.IdempotencyKey)
		if r.can.Blind() || i == 0 && r.ForgetsPages {
			continue
		}
		now, err := r.Lookup(r.Context(), lookedUp(o))
		require.NoError(r, err)
		require.Equal(r, fsm.EventFailed, now.Event)
	}
}

// waitsOn asserts that the provider refuses to cancel a payment that is not confirmed yet.
func (r *rig) waitsOn(o gateway.Outcome) {
	r.Helper()
	refused, err := r.Cancel(r.Context(), cancelOpen(o))
	require.NoError(r, err)
	require.True(r, refused.Refused)
	require.Contains(r, []fsm.Event{fsm.EventActionRequired, fsm.EventProcessing}, refused.Event)
}

// abandons asserts that Cancel fails a payment without a call to the provider.
func (r *rig) abandons(o gateway.Outcome) {
	before := len(r.commanded())
	over, err := r.Cancel(r.Context(), cancelOpen(o))
	require.NoError(r, err)
	require.Equal(r, fsm.EventFailed, over.Event)
	require.Equal(r, "canceled", over.Failure.Code)
	require.False(r, over.Refused)
	require.Len(r, r.commanded(), before)
}

func cancelRefused(r *rig) {
	if r.can.Cancels == payment.CancelsNone || r.can.Blind() {
		return
	}
	paid := r.charged(charge(r.Tokens.Success))
	refused, err := r.Cancel(r.Context(), cancelOf(paid.ProviderPaymentID))
	require.NoError(r, err)
	require.True(r, refused.Refused)
	require.Equal(r, fsm.EventSucceeded, refused.Event)
	require.Equal(r, euro(price), *refused.Money)
}

func refundCall(r *rig) {
	if r.can.Refunds == payment.RefundsNone {
		return
	}
	paid := r.charged(charge(r.Tokens.Success))
	var back []gateway.RefundCall
	var made []gateway.RefundOutcome
	for _, minor := range parts(r.can) {
		c := refundOf(paid.ProviderPaymentID, minor)
		o, err := r.Refund(r.Context(), c)
		require.NoError(r, err)
		require.Contains(r, []fsm.Event{fsm.EventSucceeded, fsm.EventProcessing}, o.Event)
		require.NotEmpty(r, o.ProviderRefundID)
		require.Equal(r, euro(minor), *o.Money)
		back, made = append(back, c), append(made, o)
	}
	if r.can.KeyLife > 0 {
		again, err := r.Refund(r.Context(), back[0])
		require.NoError(r, err)
		require.Equal(r, made[0], again)
	}
	if r.can.RefundLookup == payment.RefundLookupNone {
		return
	}
	for i, c := range back {
		nameless := gateway.RefundRef{Refund: c.Refund, ProviderPaymentID: c.ProviderPaymentID}
		named := nameless
		named.ProviderRefundID = made[i].ProviderRefundID
		all := []gateway.RefundRef{nameless, named}
		if r.Unmarked {
			r.untold(nameless)
			all = all[1:]
		}
		for _, ref := range all {
			found, err := r.LookupRefund(r.Context(), ref)
			require.NoError(r, err)
			require.Equal(r, made[i], found)
		}
	}
}

// parts returns the amounts of refunds that add up to the price.
func parts(can payment.Capabilities) []int64 {
	if can.Refunds < payment.RefundsParts {
		return []int64{price}
	}
	return []int64{700, 500, 300, price - 1500}
}

func refundRefused(r *rig) {
	if r.can.Refunds == payment.RefundsNone || r.can.Blind() {
		return
	}
	paid := r.charged(charge(r.Tokens.Success))
	o, err := r.Refund(r.Context(), refundOf(paid.ProviderPaymentID, price+1))
	require.NoError(r, err)
	require.Equal(r, fsm.EventFailed, o.Event)
	require.True(r, o.Refused, "an earlier call may have paid back")
	require.Equal(r, "provider_rejected", o.Failure.Code)
	require.NotEmpty(r, o.Failure.Message)
	require.Empty(r, o.ProviderRefundID)
	nameless := gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID}
	switch {
	case r.can.RefundLookup > payment.RefundLookupNone && r.Unmarked:
		r.untold(nameless)
	case r.can.RefundLookup > payment.RefundLookupNone:
		_, err = r.LookupRefund(r.Context(), nameless)
		require.ErrorIs(r, err, gateway.ErrNoSuchPayment)
	}
}

// untold asserts that a refund without the provider's id is not looked up.
func (r *rig) untold(nameless gateway.RefundRef) {
	r.Helper()
	before := len(r.requests())
	_, err := r.LookupRefund(r.Context(), nameless)
	require.ErrorIs(r, err, gateway.ErrInconclusive)
	require.Len(r, r.requests(), before)
}
