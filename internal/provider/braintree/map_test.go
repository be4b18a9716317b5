package braintree_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/braintree"
	"github.com/paylatch/paylatch/internal/provider/kit"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/braintree"
)

func looked(t *testing.T, one *transaction) gateway.Outcome {
	t.Helper()
	o, err := answers(t, http.StatusOK, one.xml()).Lookup(t.Context(), one.id)
	require.NoError(t, err)
	return o
}

func TestHowAPaymentStands(t *testing.T) {
	t.Parallel()
	rejected := func(code webhooks.FailureCode, reason string) *payment.Failure {
		return payment.NewFailure(code, reason)
	}
	for is, want := range map[[2]string]gateway.Outcome{
		{"authorizing"}:              {Event: fsm.EventProcessing},
		{"settlement_pending"}:       {Event: fsm.EventProcessing},
		{"marinating"}:               {Event: fsm.EventProcessing},
		{"authorized"}:               {Event: fsm.EventAuthorized, Money: new(euro(1999))},
		{"submitted_for_settlement"}: {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		{"settling"}:                 {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		{"settlement_confirmed"}:     {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		{"settled"}:                  {Event: fsm.EventSucceeded, Money: new(euro(1999))},
		{"authorization_expired"}:    {Event: fsm.EventFailed, Failure: rejected("expired", "")},
		{"failed"}:                   {Event: fsm.EventFailed, Failure: rejected("provider_rejected", "failed")},
		{"settlement_declined"}:      {Event: fsm.EventFailed, Reverses: true, Failure: rejected("provider_rejected", "settlement_declined")},
		{"voided"}:                   {Event: fsm.EventFailed, Reverses: true, Failure: rejected("canceled", "")},

		{"gateway_rejected", "cvv"}:            {Event: fsm.EventFailed, Failure: rejected("card_declined", "cvv")},
		{"gateway_rejected", "risk_threshold"}: {Event: fsm.EventFailed, Failure: rejected("fraud_suspected", "risk_threshold")},
		{"gateway_rejected", "duplicate"}:      {Event: fsm.EventFailed, Failure: rejected("provider_rejected", "duplicate")},
		{"processor_declined", "2001"}:         {Event: fsm.EventFailed, Failure: rejected("insufficient_funds", "2001")},
		{"processor_declined", "2014"}:         {Event: fsm.EventFailed, Failure: rejected("fraud_suspected", "2014")},
		{"processor_declined", "2046"}:         {Event: fsm.EventFailed, Failure: rejected("card_declined", "2046")},
		{"processor_declined", "2099"}:         {Event: fsm.EventFailed, Failure: rejected("authentication_failed", "2099")},
		{"processor_declined", "3000"}:         {Event: fsm.EventFailed, Failure: rejected("provider_rejected", "3000")},
	} {
		one := &transaction{id: "bt1", kind: "sale", status: is[0], amount: 1999, response: is[1]}
		if is[0] == "gateway_rejected" {
			one.rejection = is[1]
		}
		want.ProviderPaymentID, want.Payee = "bt1", "shop_eur"
		require.Equal(t, want, looked(t, one), "%v", is)
	}
}

// A lookup and a webhook give a payment and its refund the same names and the same money.
func TestLookupsAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{private}, Params: map[string]string{"public_key": public}})
	require.NoError(t, err)
	sale := &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, order: "attempt-1"}
	back := &transaction{id: "bt2", kind: "credit", status: "settled", amount: 700, of: "bt1", order: "refund-1"}
	e := delivered(t, v, "transaction_settled", sale.xml())
	o := looked(t, sale)
	require.Equal(t, webhooks.KindSucceeded, e.Kind)
	require.Equal(t, o.ProviderPaymentID, e.ProviderPaymentID)
	require.Equal(t, []string{"attempt-1", "bt1"}, e.References)
	require.Equal(t, []string{"attempt-1"}, o.References)
	require.Equal(t, &webhooks.Money{Minor: o.Money.Minor, Currency: string(o.Money.Currency)}, e.Money)

	e = delivered(t, v, "transaction_settled", back.xml())
	r, err := answers(t, http.StatusOK, back.xml()).LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "bt2"})
	require.NoError(t, err)
	require.Equal(t, webhooks.KindRefundSucceeded, e.Kind)
	require.Equal(t, []string{r.ProviderRefundID, r.ProviderPaymentID}, []string{e.RefundID, e.ProviderPaymentID})
}

func delivered(t *testing.T, v *hooks.Verifier, kind, subject string) webhooks.Event {
	t.Helper()
	d := webhooks.Delivery{Body: []byte(`<notification><timestamp type="datetime">2026-01-01T00:00:00Z</timestamp><kind>` + kind + `</kind><subject>` + subject + `</subject></notification>`)}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	require.Len(t, events, 1)
	return events[0]
}

func dispute(kind, status, rest string) string {
	return `<dispute><id>dp1</id><amount>19.99</amount><amount-disputed>12.99</amount-disputed>` + rest + `<currency-iso-code>EUR</currency-iso-code><kind>` + kind +
		`</kind><status>` + status + `</status><reason>fraud</reason><reply-by-date type="date">2026-03-21</reply-by-date><updated-at type="datetime">2026-03-14T15:09:26Z</updated-at></dispute>`
}

// The disputes of a payment have the same states and movements as in their webhooks.
func TestDisputesOfALookup(t *testing.T) {
	t.Parallel()
	v, err := hooks.New(webhooks.Config{Secrets: []string{private}, Params: map[string]string{"public_key": public}})
	require.NoError(t, err)
	at, due := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), time.Date(2026, 3, 21, 0, 0, 0, 0, time.UTC)
	taken := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: "dp1", Money: euro(1299)}
	back := payment.MovementReport{Kind: payment.MovementChargebackReversal, Dispute: "dp1", Money: euro(1000), At: at}
	for is, want := range map[[3]string]struct {
		state fsm.DisputeState
		moved []payment.MovementReport
	}{
		{"chargeback", "open", "dispute_opened"}:                 {fsm.DisputeOpen, []payment.MovementReport{taken}},
		{"chargeback", "under_review", "dispute_under_review"}:   {fsm.DisputeUnderReview, []payment.MovementReport{taken}},
		{"chargeback", "disputed", "dispute_disputed"}:           {fsm.DisputeUnderReview, []payment.MovementReport{taken}},
		{"chargeback", "won", "dispute_won"}:                     {fsm.DisputeWon, []payment.MovementReport{taken, back}},
		{"pre_arbitration", "lost", "dispute_lost"}:              {fsm.DisputeLost, []payment.MovementReport{taken}},
		{"chargeback", "expired", "dispute_expired"}:             {fsm.DisputeLost, []payment.MovementReport{taken}},
		{"chargeback", "accepted", "dispute_accepted"}:           {fsm.DisputeAccepted, []payment.MovementReport{taken}},
		{"chargeback", "auto_accepted", "dispute_auto_accepted"}: {fsm.DisputeAccepted, []payment.MovementReport{taken}},
		{"retrieval", "open", "dispute_opened"}:                  {fsm.DisputeWarning, nil},
		{"retrieval", "expired", "dispute_expired"}:              {fsm.DisputeWarning, nil},
		{"retrieval", "won", "dispute_won"}:                      {fsm.DisputeWon, nil},
	} {
		one := dispute(is[0], is[1], `<amount-won>10.00</amount-won>`)
		o := looked(t, &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, disputes: one})
		require.Equal(t, []payment.DisputeReport{{ProviderID: "dp1", Status: want.state, Reason: "fraud", Money: new(euro(1299)), DueBy: due, At: at}}, o.Disputes, is)
		require.Equal(t, want.moved, o.Movements, is)
		e := delivered(t, v, is[2], one)
		require.Equal(t, want.state, fsm.DisputeState(e.Dispute.Status), is)
		require.Equal(t, "dp1", e.Dispute.ID)
		if e.Kind.IsMovement() {
			last := want.moved[len(want.moved)-1]
			require.Equal(t, []any{last.Dispute, last.Money.Minor}, []any{e.MovementID, e.Money.Minor}, is)
		}
	}
	o := looked(t, &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, disputes: dispute("chargeback", "levitating", "")})
	require.Empty(t, o.Disputes)
	require.Empty(t, o.Movements)
	whole := looked(t, &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, disputes: `<dispute><id>dp1</id><amount>19.99</amount><kind>chargeback</kind><status>won</status></dispute>`})
	require.Equal(t, []payment.MovementReport{
		{Kind: payment.MovementChargeback, Dispute: "dp1", Money: euro(1999)}, {Kind: payment.MovementChargebackReversal, Dispute: "dp1", Whole: true, Money: euro(1999)},
	}, whole.Movements, "the currency is the payment's")
}

// An unreadable dispute or a missing refund makes the lookup fail. It must not return the payment without them.
func TestALookupOfWhatCantBeRead(t *testing.T) {
	t.Parallel()
	for _, one := range []string{
		`<dispute><amount>19.99</amount><kind>chargeback</kind><status>open</status></dispute>`,
		`<dispute><id>dp1</id><amount>x</amount><kind>chargeback</kind><status>open</status></dispute>`,
		dispute("chargeback", "won", `<amount-won>x</amount-won>`),
	} {
		paid := &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, disputes: one}
		_, err := answers(t, http.StatusOK, paid.xml()).Lookup(t.Context(), "bt1")
		require.Error(t, err, one)
	}
	f := serving()
	f.transactions["bt1"] = &transaction{id: "bt1", kind: "sale", status: "settled", amount: 1999, refunds: []string{"gone"}}
	c, _ := serve(t, f)
	_, err := c.Lookup(t.Context(), "bt1")
	require.Error(t, err)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A local payment has no transaction yet. It can't be looked up, and that is no proof that it was never paid.
func TestALocalPaymentCantBeLookedUp(t *testing.T) {
	t.Parallel()
	c, got := serve(t, serving())
	_, err := c.Lookup(t.Context(), "PAY-1AB")
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.Empty(t, got)
}

// A PayPal account is stored like a card.
func TestAStoredWallet(t *testing.T) {
	t.Parallel()
	one := &transaction{id: "bt1", kind: "sale", status: "settling", amount: 1999, token: "wallet1", instrument: "paypal_account"}
	customer := []byte(`<customer><id>jane-1</id></customer>`)
	c, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		if strings.HasSuffix(r.URL.Path, "/customers") {
			_, _ = w.Write(customer)
			return
		}
		_, _ = w.Write([]byte(one.xml()))
	}))
	ch := charge(good)
	ch.Save, ch.Customer.Reference = true, "jane-1"
	require.Equal(t, &payment.SavedMethod{Token: "wallet1", Type: "paypal_account", Display: "jane@shop.example"}, charged(t, c, ch).Saved)
}

func TestAnAccountsKeys(t *testing.T) {
	t.Parallel()
	for keys, keyless := range map[string]bool{"": false, "on": false, "off": true} {
		p, err := braintree.Adapter().New(kit.Settings{Params: map[string]string{"api_request_keys": keys, "currency": "EUR", "merchant_account_id": "shop_eur"}})
		require.NoError(t, err)
		c, ok := p.(*braintree.Client)
		require.True(t, ok)
		require.Equal(t, []any{keyless, payment.Currency("EUR"), "shop_eur"}, []any{c.Keyless, c.Currency, c.MerchantAccount})
	}
	_, err := braintree.Adapter().New(kit.Settings{Params: map[string]string{"api_request_keys": "no"}})
	require.ErrorIs(t, err, webhooks.ErrConfig)
}

// The first public key of a list belongs to the first secret.
func TestTheFirstPairOfKeysCalls(t *testing.T) {
	t.Parallel()
	var user, password string
	p, err := braintree.Adapter().New(kit.Settings{
		Params: map[string]string{"public_key": " one , two", "webhook_secret": "secret-one", "merchant_id": "m"},
		Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			user, password, _ = r.BasicAuth()
			return nil, http.ErrServerClosed
		})},
	})
	require.NoError(t, err)
	_, err = p.Lookup(t.Context(), "bt1")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret-one")
	require.Equal(t, []string{"one", "secret-one"}, []string{user, password})
}
