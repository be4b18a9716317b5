package checkout_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/checkout"
	"github.com/paylatch/paylatch/internal/provider/providertest"
)

// inFlow returns a charge of a payment session.
func inFlow() gateway.Charge {
	ch := charge("flow")
	ch.Customer = gateway.Customer{Email: "jane@shop.example", Billing: &gateway.Address{Line1: "Street 1", Country: "DE"}}
	return ch
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// opened returns a client and its fake, with an open payment session.
func opened(t *testing.T) (*checkout.Client, *fake, gateway.Charge, gateway.Outcome, <-chan request) {
	t.Helper()
	f := newFake()
	c, seen := serve(t, f.handler(f))
	c.Now = func() time.Time { return noon }
	ch := inFlow()
	require.NoError(t, c.Accepts(ch))
	return c, f, ch, charged(t, c, ch), seen
}

// The description is older than payment sessions: the request is that of Checkout.com's Java SDK.
func TestAPaymentSession(t *testing.T) {
	t.Parallel()
	_, f, ch, o, seen := opened(t)
	r := <-seen
	require.Equal(t, "POST /payment-sessions", r.line)
	require.Empty(t, r.header.Get("Cko-Idempotency-Key"), "the call takes none")
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(r.body), &body))
	providertest.RequireMembers(t, map[string]string{
		"amount": "1999", "currency": `"EUR"`, "capture": "true", "success_url": `"https://shop.example/back"`, "failure_url": `"https://shop.example/back"`,
		"metadata": `{"payment_attempt_id":"` + ch.Attempt.String() + `","order_id":"A-1"}`, "source": "", "payment_ip": "",
		"billing": `{"address":{"address_line1":"Street 1","country":"DE"}}`, "customer": `{"email":"jane@shop.example"}`, "expires_on": `"2026-03-14T13:00:00Z"`,
		"3ds": `{"enabled":true,"attempt_n3d":true}`,
	}, body)
	require.Regexp(t, `^"[a-z0-9]{1,30}"$`, string(body["reference"]), "the limits of iDEAL and of American Express")

	id := f.sessions[0].id
	raw, err := json.Marshal(f.sessions[0].response())
	require.NoError(t, err)
	require.JSONEq(t, `{"payment_session":`+string(raw)+`}`, string(o.NextAction.Data), "Flow takes the response unchanged")
	o.NextAction.Data = nil
	require.Equal(t, gateway.Outcome{
		Event: fsm.EventActionRequired, Container: id, References: []string{id},
		NextAction: &payment.NextAction{Type: payment.ActionSDK, ExpiresAt: noon.Add(time.Hour)},
	}, o)
}

func TestASessionWithoutItsSecretIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"id":"ps_1","payment_session_token":"t"}`, `{"id":"ps_1","payment_session_secret":"s"}`, `{"payment_session_token":"t","payment_session_secret":"s"}`,
		`{"id":"pay_1","payment_session_token":"t","payment_session_secret":"s"}`, `[]`, ``,
	} {
		_, err := says(t, http.StatusCreated, body).Charge(t.Context(), inFlow())
		unknown(t, err)
	}
	_, err := says(t, http.StatusBadGateway, ``).Charge(t.Context(), inFlow())
	unknown(t, err)
	o := charged(t, says(t, http.StatusUnprocessableEntity, `{"error_type":"request_invalid","error_codes":["billing_required"]}`), inFlow())
	require.Equal(t, gateway.Outcome{Event: fsm.EventFailed, Refused: true, Failure: payment.NewFailure("provider_rejected", "billing_required")}, o)
}

// A decline is followed by a success: the lookups by reference and by id name the session, and leave it to its customer
// until the success.
func TestPaymentsOfASessionAreFoundByReference(t *testing.T) {
	t.Parallel()
	c, f, ch, o, _ := opened(t)
	_, err := c.Find(t.Context(), ch.Attempt)
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)

	for _, status := range []string{"Declined", "Canceled", "Expired"} {
		id := f.tries(t, status)
		now, err := c.Lookup(t.Context(), id)
		require.Equal(t, providertest.Named{Payment: id, Container: o.Container}, providertest.ByOutcome(t, now, err))
		require.Equal(t, fsm.EventFailed, now.Event)
		require.True(t, now.PageOpen, "%s: the customer may try again", status)
	}
	now, err := c.Lookup(t.Context(), f.tries(t, "Voided"))
	require.NoError(t, err)
	require.False(t, now.PageOpen, "we voided it")

	found, err := c.Find(t.Context(), ch.Attempt)
	require.NoError(t, err)
	require.Equal(t, fsm.EventFailed, found.Event)
	paid := f.tries(t, "Captured")
	f.tries(t, "Declined")
	found, err = c.Find(t.Context(), ch.Attempt)
	require.Equal(t, providertest.Named{Payment: paid, Container: o.Container}, providertest.ByOutcome(t, found, err))
	require.Equal(t, fsm.EventSucceeded, found.Event)
	require.Equal(t, euro(1999), *found.Money)
	_, err = c.Find(t.Context(), payment.AttemptID(uuid.New()))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment, "another attempt's")
}

// A session can't be closed. The wait for it ends with the session, and not while money is held or under way in it.
func TestTheWaitForASessionEndsWithIt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status  string
		quiet   time.Duration
		clock   bool
		event   fsm.Event
		refused bool
	}{
		"open":                    {"", time.Hour, true, fsm.EventActionRequired, false},
		"expired":                 {"", time.Hour + time.Minute, true, fsm.EventFailed, false},
		"of no known end":         {"", 48 * time.Hour, false, fsm.EventActionRequired, false},
		"open after a decline":    {"Declined", time.Minute, true, fsm.EventActionRequired, false},
		"expired after a decline": {"Declined", 2 * time.Hour, true, fsm.EventFailed, false},
		"expired, 3-D Secure":     {"Pending", 2 * time.Hour, true, fsm.EventActionRequired, false},
		"expired, paid":           {"Captured", 2 * time.Hour, true, fsm.EventSucceeded, true},
		"expired, held":           {"Authorized", 2 * time.Hour, true, fsm.EventFailed, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, f, ch, o, _ := opened(t)
			if !tt.clock {
				c.Now = nil
			}
			var id string
			if tt.status != "" {
				id = f.tries(t, tt.status)
			}
			over, err := c.Cancel(t.Context(), gateway.Cancel{Attempt: ch.Attempt, Container: o.Container, Quiet: tt.quiet, IdempotencyKey: "c", Permit: permit()})
			require.NoError(t, err)
			require.Equal(t, tt.event, over.Event)
			require.Equal(t, tt.refused, over.Refused)
			require.Equal(t, o.Container, over.Container)
			require.False(t, over.PageOpen)
			if tt.status == "Authorized" {
				require.Equal(t, "Voided", f.payments[id].status)
				require.Equal(t, id, over.ProviderPaymentID)
			}
		})
	}
	_, err := says(t, http.StatusBadGateway, "").Cancel(t.Context(), gateway.Cancel{Container: "ps_1", Quiet: 2 * time.Hour, Permit: permit()})
	unknown(t, err)
}

func TestLocalMethods(t *testing.T) {
	t.Parallel()
	lines := []gateway.Line{{Description: "Ticket", Quantity: "1", UnitAmount: 1999, Amount: 1999}}
	for method, want := range map[string]string{
		"ideal": `{"type":"ideal","description":"A-1"}`, "bancontact": `{"type":"bancontact","payment_country":"BE","account_holder_name":"Jane Doe"}`,
		"eps": `{"type":"eps","purpose":"A-1"}`, "paypal": `{"type":"paypal"}`,
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			h := f.handler(f)
			if method == "paypal" { // the description is older than the others: it requires a bank of iDEAL
				h = f.handler(providertest.Described(t, document, "", f))
			}
			c, seen := serve(t, h)
			ch := charge(method)
			ch.Customer.Name, ch.Lines = "Jane Doe", lines
			require.NoError(t, c.Accepts(ch))
			o := charged(t, c, ch)
			var body map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte((<-seen).body), &body))
			providertest.RequireMembers(t, map[string]string{"source": want, "3ds": "", "capture": "true", "success_url": `"https://shop.example/back"`}, body)
			require.Regexp(t, `^"[a-z0-9]{1,35}"$`, string(body["reference"]))
			require.Equal(t, payment.Redirect("https://"+method+".example/"+o.ProviderPaymentID), o.NextAction)
			payable, ends := c.Unseen(ch.Details)
			require.True(t, ends, "nobody else has the page's address")
			require.Zero(t, payable)

			now, err := c.Lookup(t.Context(), o.ProviderPaymentID)
			require.NoError(t, err)
			require.Equal(t, fsm.EventActionRequired, now.Event, "the customer has not paid")
			f.pays(o.ProviderPaymentID)
			now, err = c.Find(t.Context(), ch.Attempt)
			require.NoError(t, err)
			require.Equal(t, o.ProviderPaymentID, now.ProviderPaymentID)
			require.Equal(t, fsm.EventSucceeded, now.Event)
		})
	}
}

func TestALongDescriptionIsCut(t *testing.T) {
	t.Parallel()
	f := newFake()
	body, _ := sent(t, f.handler(f), "ideal", func(c *gateway.Charge) {
		c.StatementDescriptor = "ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ"
	})
	require.JSONEq(t, `{"type":"ideal","description":"ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ"}`, string(body["source"]))
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	c := checkout.New("", secret, nil)
	for token, want := range map[string]bool{"flow": true, "ideal": true, cardRedirect: false, instrument: false} {
		payable, ends := c.Unseen(gateway.Details{Token: token})
		require.Equal(t, want, ends, token)
		require.Zero(t, payable)
	}
}
