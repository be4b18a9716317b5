package cloudpayments_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
	hooks "github.com/paylatch/paylatch/webhooks/cloudpayments"
)

// notify returns the event of a genuine notification on a topic.
func notify(t *testing.T, topic string, fields map[string]string) webhooks.Event {
	t.Helper()
	v, err := hooks.New(webhooks.Config{Secrets: []string{secret}})
	require.NoError(t, err)
	form := url.Values{}
	for name, value := range fields {
		form.Set(name, value)
	}
	d := webhooks.Delivery{Method: http.MethodPost, Topic: topic, Header: http.Header{}, Body: []byte(form.Encode())}
	require.NoError(t, v.Sign(&d))
	events, err := v.Verify(t.Context(), d)
	require.NoError(t, err)
	return events[0]
}

// The adapter and a notification must read a status and a reason in the same way. A declined transaction is final; only
// its page may stay open.
func TestLookupsAndWebhooksAgree(t *testing.T) {
	t.Parallel()
	news := map[webhooks.Kind]fsm.Event{
		webhooks.KindAuthorized: fsm.EventAuthorized, webhooks.KindSucceeded: fsm.EventSucceeded, webhooks.KindFailed: fsm.EventFailed,
		webhooks.KindActionRequired: fsm.EventActionRequired,
		webhooks.KindIgnored:        fsm.EventProcessing, // an unknown status
	}
	for status, topic := range map[string]string{
		"Completed": "pay", "Authorized": "pay", "AwaitingAuthentication": "pay", "Cancelled": "cancel", "Declined": "fail", "Marinating": "pay",
	} {
		for _, reason := range []string{
			"0", "5001", "5005", "5014", "5034", "5041", "5043", "5051", "5054", "5057", "5059", "5061", "5062", "5082", "5096", "5206", "5207", "5300", "6001",
		} {
			if status != "Declined" && reason != "0" {
				continue
			}
			e := notify(t, topic, map[string]string{
				"TransactionId": "504", "Amount": "19.99", "Currency": "RUB", "Status": status, "ReasonCode": reason, "InvoiceId": "i",
			})
			c := says(t, http.StatusOK, `{"Success":`+map[bool]string{true: "false", false: "true"}[status == "Declined"]+`,"Model":{"TransactionId":504,
				"Amount":19.99000,"Currency":"RUB","Status":"`+status+`","ReasonCode":`+reason+`,"InvoiceId":"i"}}`)
			o, err := c.Lookup(t.Context(), "o:i")
			require.NoError(t, err)
			require.Equal(t, news[e.Kind], o.Event, "%s %s", status, reason)
			alone, err := c.Lookup(t.Context(), "504")
			require.NoError(t, err)
			require.Equal(t, o.Event, alone.Event)
			require.Equal(t, e.PageOpen, o.PageOpen)
			require.Equal(t, []string{"504", "504"}, []string{o.ProviderPaymentID, alone.ProviderPaymentID})
			if o.Failure != nil {
				want := payment.NewFailure(e.FailureCode, e.ProviderCode)
				if reason == "0" {
					want.ProviderCode = ""
				}
				require.Equal(t, want, o.Failure, "%s %s", status, reason)
			}
			if o.Money != nil {
				require.Equal(t, webhooks.Money{Minor: o.Money.Minor, Currency: string(o.Money.Currency)}, *e.Money)
			}
		}
	}
}

// A notification names the attempt by the charge's data and the refund by the refund's data. It names both by the number
// of the transaction.
func TestAWebhookNamesWhatWasCharged(t *testing.T) {
	t.Parallel()
	f := serving()
	c, _ := serve(t, f)
	ch := charge(good)
	made := charged(t, c, ch)
	e := notify(t, "pay", map[string]string{
		"TransactionId": made.ProviderPaymentID, "InvoiceId": f.transactions[0].invoice, "Data": string(f.transactions[0].data),
		"Amount": "19.99", "Currency": "RUB", "Status": "Completed",
	})
	require.Equal(t, []string{ch.Attempt.String(), made.ProviderPaymentID}, e.References)

	r := gateway.RefundCall{
		Refund: payment.RefundID(uuid.New()), Attempt: ch.Attempt, ProviderPaymentID: made.ProviderPaymentID, Money: rub(700),
		IdempotencyKey: "r", Permit: permit(),
	}
	back, err := c.Refund(t.Context(), r)
	require.NoError(t, err)
	e = notify(t, "refund", map[string]string{
		"TransactionId": back.ProviderRefundID, "PaymentTransactionId": made.ProviderPaymentID, "Amount": "7.00",
		"Data": string(f.transactions[1].data),
	})
	require.Equal(t, back.ProviderRefundID, e.RefundID)
	require.Equal(t, r.Refund.String(), e.RefundReference)
	require.Contains(t, e.References, ch.Attempt.String())
}

func TestOnlyNotFoundIsNoSuchPayment(t *testing.T) {
	t.Parallel()
	for body, missing := range map[string]bool{
		`{"Success":false,"Message":"Not found"}`:              true,
		`{"Success":false,"Message":"Not found","Model":null}`: true,
		`{"Success":false,"Message":"Try again later"}`:        false,
	} {
		c := says(t, http.StatusOK, body)
		_, err := c.Find(t.Context(), payment.AttemptID(uuid.New()))
		require.Error(t, err)
		require.Equal(t, missing, errors.Is(err, gateway.ErrNoSuchPayment), body)
		_, err = c.Lookup(t.Context(), "1")
		require.Equal(t, missing, errors.Is(err, gateway.ErrNoSuchPayment), body)
	}
}

func TestASecretThatIsTurnedAwayRefusesOneCall(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusUnauthorized, "")
	r, err := c.Refund(t.Context(), gateway.RefundCall{ProviderPaymentID: "1", Money: rub(1), Permit: permit()})
	require.NoError(t, err)
	require.Equal(t, gateway.RefusedRefund("401"), r)
	_, err = c.Cancel(t.Context(), gateway.Cancel{ProviderPaymentID: "1", Permit: permit()})
	require.ErrorContains(t, err, "401")
	_, err = c.Lookup(t.Context(), "1")
	require.ErrorContains(t, err, "401")
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// A refund is a transaction. Our reference finds only the last operation of a payment.
func TestLookingForRefunds(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake(t))
	ch := charge(good)
	paid := charged(t, c, ch)
	var made []gateway.RefundOutcome
	var refs []gateway.RefundRef
	for _, minor := range []int64{700, 500} {
		r := gateway.RefundCall{
			Refund: payment.RefundID(uuid.New()), ProviderPaymentID: paid.ProviderPaymentID, Money: rub(minor), IdempotencyKey: uuid.NewString(), Permit: permit(),
		}
		o, err := c.Refund(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, fsm.EventSucceeded, o.Event)
		made, refs = append(made, o), append(refs, gateway.RefundRef{Refund: r.Refund, ProviderPaymentID: paid.ProviderPaymentID})
	}
	found, err := c.LookupRefund(t.Context(), refs[1])
	require.NoError(t, err)
	require.Equal(t, made[1], found)
	_, err = c.LookupRefund(t.Context(), refs[0])
	require.ErrorIs(t, err, gateway.ErrInconclusive)
	require.NotErrorIs(t, err, gateway.ErrNoSuchPayment)
	refs[0].ProviderRefundID = made[0].ProviderRefundID
	found, err = c.LookupRefund(t.Context(), refs[0])
	require.NoError(t, err)
	require.Equal(t, made[0], found)
	// A search by our reference must not return the refund as the payment.
	for _, look := range []func() (gateway.Outcome, error){
		func() (gateway.Outcome, error) { return c.Lookup(t.Context(), paid.ProviderPaymentID) },
		func() (gateway.Outcome, error) { return c.Find(t.Context(), ch.Attempt) },
	} {
		now, err := look()
		require.NoError(t, err)
		require.Equal(t, paid, now)
	}
}

func TestHowARefundStands(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]gateway.RefundOutcome{
		`"Status":"Completed"`:                  {Event: fsm.EventSucceeded},
		`"Status":"Marinating"`:                 {Event: fsm.EventProcessing},
		`"Status":"Cancelled"`:                  {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "")},
		`"Status":"Declined","ReasonCode":5051`: {Event: fsm.EventFailed, Failure: payment.NewFailure("provider_rejected", "5051")},
	} {
		c := says(t, http.StatusOK, `{"Success":true,"Model":{"TransactionId":568,"Amount":5.0,"Currency":"RUB",`+members+`}}`)
		got, err := c.LookupRefund(t.Context(), gateway.RefundRef{ProviderRefundID: "568"})
		require.NoError(t, err, members)
		want.ProviderRefundID, want.Money = "568", new(rub(500))
		require.Equal(t, want, got, members)
	}
}

// A payment that is not found is no proof that it was not refunded.
func TestAMissingPaymentIsNoMissingRefund(t *testing.T) {
	t.Parallel()
	c := says(t, http.StatusOK, `{"Success":false,"Message":"Not found"}`)
	for _, container := range []string{"", "o1:inv"} {
		_, err := c.LookupRefund(t.Context(), gateway.RefundRef{Refund: payment.RefundID(uuid.New()), ProviderPaymentID: "1", Container: container})
		require.ErrorIs(t, err, gateway.ErrInconclusive, container)
		require.NotErrorIs(t, err, gateway.ErrNoSuchPayment, container)
	}
}
