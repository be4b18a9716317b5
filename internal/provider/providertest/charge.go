package providertest

import (
	"net/url"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

func success(r *rig) {
	o := r.charged(charge(r.Tokens.Success))
	require.Equal(r, fsm.EventSucceeded, o.Event)
	require.Equal(r, euro(price), *o.Money)
	require.Nil(r, o.Failure)
	require.False(r, o.Refused)
	require.Nil(r, o.NextAction)
}

// decline tests that a decline is an answer. A soft decline must name the payment, because that payment is then to be
// cancelled.
func decline(r *rig) {
	if r.Tokens.Decline == "" {
		return
	}
	o, err := r.Charge(r.Context(), charge(r.Tokens.Decline))
	require.NoError(r, err)
	require.Equal(r, r.Declined, o.Event)
	require.Equal(r, "card_declined", o.Failure.Code)
	require.Equal(r, payment.NewFailure("card_declined", "").Message, o.Failure.Message)
	require.NotEmpty(r, o.Failure.ProviderCode)
	if r.Declined != fsm.EventSoftFailed {
		return
	}
	require.NotEmpty(r, o.ProviderPaymentID)
	over, err := r.Cancel(r.Context(), cancelOf(o.ProviderPaymentID))
	require.NoError(r, err)
	require.Equal(r, fsm.EventFailed, over.Event)
}

// invalid tests a charge that the provider refuses without trying it.
func invalid(r *rig) {
	if r.Tokens.None == "" {
		return
	}
	o, err := r.Charge(r.Context(), charge(r.Tokens.None))
	require.NoError(r, err)
	require.Equal(r, fsm.EventFailed, o.Event)
	require.True(r, o.Refused)
	require.Equal(r, "provider_rejected", o.Failure.Code)
	require.Equal(r, r.Codeless, o.Failure.ProviderCode == "")
}

func redirect(r *rig) {
	if r.Tokens.Redirect == "" {
		return
	}
	o, err := r.Charge(r.Context(), charge(r.Tokens.Redirect))
	require.NoError(r, err)
	require.Equal(r, fsm.EventActionRequired, o.Event)
	to, err := url.Parse(o.NextAction.URL)
	require.NoError(r, err)
	require.NotEmpty(r, to.Host)
	if r.can.Blind() || r.ForgetsPages {
		return
	}
	waits, err := r.Lookup(r.Context(), lookedUp(o))
	require.NoError(r, err)
	require.Equal(r, fsm.EventActionRequired, waits.Event, "nobody would give it up before its customer were long gone")
}

// names tests that the provider gets the attempt's id and the unchanged idempotency key. Its webhooks name the attempt
// by this id.
func names(r *rig) {
	c := charge(r.Tokens.Success)
	r.charged(c)
	r.bore(c.IdempotencyKey)
	var all strings.Builder
	for _, sent := range r.requests() {
		all.WriteString(string(sent.Body) + sent.Query + sent.Path)
		require.NotContains(r, sent.Query+sent.Path, c.Token, "addresses are written into logs")
	}
	require.Contains(r, all.String(), c.Attempt.String())
}

func lookup(r *rig) {
	c := charge(r.Tokens.Success)
	made := r.charged(c)
	now, err := r.Lookup(r.Context(), made.ProviderPaymentID)
	if r.can.Blind() {
		require.ErrorIs(r, err, gateway.ErrUnsupported)
		return
	}
	require.NoError(r, err)
	require.Equal(r, byPayment(made, now), now)
	if !r.can.Finds() {
		return
	}
	found, err := r.Find(r.Context(), c.Attempt)
	require.NoError(r, err)
	if r.Order != nil {
		require.Equal(r, made.ProviderPaymentID, r.ordered(lookedUp(found)))
		require.Equal(r, fsm.EventActionRequired, found.Event, "an order that is not shown is no failure")
		return
	}
	require.Equal(r, byPayment(made, found), found)
}

// nobody tests lookups of payments and refunds that were never made.
func nobody(r *rig) {
	made := r.charged(charge(r.Tokens.Success))
	for _, q := range r.searches(made.ProviderPaymentID) {
		require.ErrorIs(r, q.do(r.Context()), gateway.ErrNoSuchPayment, q.name)
	}
	if r.Links {
		r.unvisited()
		return
	}
	for _, q := range r.lookups(r.NoPayment) {
		require.ErrorIs(r, q.do(r.Context()), gateway.ErrNoSuchPayment, q.name)
	}
	for _, c := range r.commands(r.NoPayment, permit())[1:] {
		before := len(r.requests())
		err := c.do(r.Context())
		if c.name == "refund" {
			r.unsent(err, before)
			continue
		}
		require.ErrorIs(r, err, gateway.ErrNoSuchPayment, c.name)
	}
}

// paths tests that an id is escaped in an address, so that it can't lead to another address.
func paths(r *rig) {
	_, err := r.Lookup(r.Context(), astray)
	require.Error(r, err)
	if r.can.RefundLookup > payment.RefundLookupNone {
		_, err = r.LookupRefund(r.Context(), gateway.RefundRef{ProviderRefundID: astray})
		require.Error(r, err)
	}
	for _, c := range r.commands(astray, permit())[len(r.charges(permit())):] {
		_ = c.do(r.Context()) // only the addresses of the requests matter
	}
	for _, sent := range r.requests() {
		require.NotContains(r, sent.Path+"/", "/../")
		require.NotContains(r, sent.Query, "y=z")
	}
}

func atOnce(r *rig) {
	var all sync.WaitGroup
	made := make(chan string, 16)
	for range cap(made) {
		all.Go(func() {
			if o, err := r.Charge(r.Context(), charge(r.Tokens.Success)); err == nil {
				made <- lookedUp(o)
			}
		})
	}
	all.Wait()
	close(made)
	different := map[string]bool{}
	for id := range made {
		different[id] = true
	}
	require.Len(r, different, cap(made))
}

// otherAmount tests that an outcome has the amount that the provider reports, even if the charge had another amount.
func otherAmount(r *rig) {
	if r.can.Blind() {
		r.falsifies(strings.NewReplacer("1999", "2001", "19.99", "20.01", "EUR", "USD"))
		o := r.charged(charge(r.Tokens.Success))
		require.Equal(r, payment.Money{Minor: 2001, Currency: "USD"}, *o.Money)
		return
	}
	id := r.charged(charge(r.Tokens.Success)).ProviderPaymentID
	r.falsifies(strings.NewReplacer("1999", "2001", "19.99", "20.01"))
	o, err := r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, euro(2001), *o.Money)
	require.Equal(r, fsm.EventSucceeded, o.Event)
	if r.NoCurrency {
		return
	}
	r.falsifies(strings.NewReplacer("EUR", "USD", "eur", "usd"))
	o, err = r.Lookup(r.Context(), id)
	require.NoError(r, err)
	require.Equal(r, payment.Money{Minor: price, Currency: "USD"}, *o.Money)
}

// sameKey sends a charge again, as a second runner does when it takes over.
func sameKey(r *rig) {
	if r.can.KeyLife == 0 {
		return
	}
	c := charge(r.Tokens.Success)
	first := r.charged(c)
	require.Equal(r, first, r.charged(c))
	sent := r.commanded()
	require.Len(r, sent, 2)
	require.Equal(r, r.Key(sent[0]), r.Key(sent[1]))
	require.Equal(r, sent[0].Body, sent[1].Body, "providers refuse a key that comes with another body")

	c.Money = euro(price + 1)
	if o, err := r.Charge(r.Context(), c); err != nil {
		r.unknown(err, "the key is another payment's")
	} else {
		require.Equal(r, first, r.settled(c, o))
	}
}
