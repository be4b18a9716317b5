package sandbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

var (
	errBusy     = errors.New("the sandbox is still busy with this key")
	errNameless = errors.New("the sandbox's answer names no object")
)

// charge is the sandbox's own view of a payment.
type charge struct {
	ID             string               `json:"id"`
	Status         string               `json:"status"`
	Amount         int64                `json:"amount"`
	AmountCaptured int64                `json:"amount_captured"`
	Currency       string               `json:"currency"`
	FailureCode    *string              `json:"failure_code"`
	FailureMessage *string              `json:"failure_message"`
	NextAction     *payment.NextAction  `json:"next_action"`
	Saved          *payment.SavedMethod `json:"saved_payment_method"`
	// Refunds and Disputes are there in lookups.
	Refunds  []refund  `json:"refunds"`
	Disputes []dispute `json:"disputes"`
}

// dispute is the sandbox's own view of a dispute. Each movement is named by its entry of the ledger,
// as in webhooks and in the books.
type dispute struct {
	ID        string    `json:"id"`
	Status    string    `json:"status"`
	Reason    string    `json:"reason"`
	Amount    int64     `json:"amount"`
	Currency  string    `json:"currency"`
	DueBy     time.Time `json:"due_by"`
	Updated   time.Time `json:"updated"`
	Movements []struct {
		EntryID string    `json:"entry_id"`
		Kind    string    `json:"kind"`
		Amount  int64     `json:"amount"`
		At      time.Time `json:"at"`
	} `json:"movements"`
}

// outcome returns errNameless for a response without an id: whether there is a payment
// is then unknown.
func outcome(c charge) (gateway.Outcome, error) {
	if c.ID == "" {
		return gateway.Outcome{}, errNameless
	}
	o := gateway.Outcome{ProviderPaymentID: c.ID, News: fsm.NewsProcessing, Saved: c.Saved}
	money := payment.Money{Minor: c.Amount, Currency: payment.Currency(c.Currency)}
	switch c.Status {
	case "pending":
		if c.NextAction != nil {
			o.News, o.NextAction = fsm.NewsActionRequired, c.NextAction
		}
	case "authorized":
		o.News, o.Money = fsm.NewsAuthorized, &money
	case "succeeded":
		money.Minor = c.AmountCaptured
		o.News, o.Money = fsm.NewsSucceeded, &money
	case "failed":
		o.News, o.Failure = fsm.NewsFailed, failure(c)
	case "canceled":
		o.News = fsm.NewsFailed
		o.Failure = payment.NewFailure("canceled", "")
	}
	return withLater(o, c)
}

// withLater adds what happened after the payment: its refunds and disputes.
func withLater(o gateway.Outcome, c charge) (gateway.Outcome, error) {
	for _, r := range c.Refunds {
		refunded, err := refundOutcome(r)
		if err != nil {
			return gateway.Outcome{}, err
		}
		refunded.Reference = r.Reference
		o.Refunds = append(o.Refunds, refunded)
	}
	for _, d := range c.Disputes {
		money := payment.Money{Minor: d.Amount, Currency: payment.Currency(d.Currency)}
		o.Disputes = append(o.Disputes, payment.DisputeTold{
			ProviderID: d.ID, Status: fsm.DisputeState(d.Status), Reason: d.Reason, Money: &money, DueBy: d.DueBy, At: d.Updated,
		})
		for _, m := range d.Movements {
			kind, err := movementKind(m.Kind)
			if err != nil {
				return gateway.Outcome{}, err
			}
			o.Movements = append(o.Movements, payment.Told{
				Kind: kind, ID: m.EntryID, Money: payment.Money{Minor: m.Amount, Currency: money.Currency}, At: m.At,
			})
		}
	}
	return o, nil
}

func movementKind(kind string) (payment.MovementKind, error) {
	switch kind {
	case "charge":
		return payment.MovementCapture, nil
	case "refund":
		return payment.MovementRefund, nil
	case "chargeback":
		return payment.MovementChargeback, nil
	case "chargeback_reversal":
		return payment.MovementChargebackReversal, nil
	}
	return "", fmt.Errorf("the sandbox moves money in an unfamiliar way: %q", kind)
}

func failure(c charge) *payment.Failure {
	if c.FailureCode == nil {
		return payment.NewFailure("", "")
	}
	return payment.NewFailure(*c.FailureCode, *c.FailureCode)
}
