package braintree

import (
	"cmp"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/call"
)

// dispute is one of a transaction's (braintree_python, braintree/dispute.py; the elements are those of the webhooks
// that the official library makes).
type dispute struct {
	ID       string `xml:"id"`
	Kind     string `xml:"kind"`
	Status   string `xml:"status"`
	Reason   string `xml:"reason"`
	Amount   string `xml:"amount"`
	Disputed string `xml:"amount-disputed"`
	Won      string `xml:"amount-won"`
	Currency string `xml:"currency-iso-code"`
	ReplyBy  string `xml:"reply-by-date"`
	Created  string `xml:"created-at"`
	Changed  string `xml:"updated-at"`
	// History is that of its statuses (braintree_python, braintree/dispute_details/status_history.py).
	History []event `xml:"status-history>status-history"`
}

const (
	opened, won, expired = "open", "won", "expired"
	// retrieval requests papers: no money has moved.
	retrieval = "retrieval"
)

// disputeStates are the statuses of a dispute, which mean what the webhooks of these names mean. A status that is not
// listed is left out.
var disputeStates = map[string]fsm.DisputeState{ //nolint:gochecknoglobals // a table
	opened: fsm.DisputeOpen, "under_review": fsm.DisputeUnderReview, "disputed": fsm.DisputeUnderReview,
	won: fsm.DisputeWon, "lost": fsm.DisputeLost, expired: fsm.DisputeLost,
	"accepted": fsm.DisputeAccepted, "auto_accepted": fsm.DisputeAccepted,
}

// withDisputes adds the disputes of a transaction, and what they took and returned, named as their webhooks name it.
func (t transaction) withDisputes(o *gateway.Outcome) error {
	for _, d := range t.Disputes {
		d.Currency = cmp.Or(d.Currency, t.Currency)
		if err := d.add(o); err != nil {
			return err
		}
	}
	return nil
}

// add adds a dispute. Its amount is debited until it is resolved, and what of it is won is returned
// (https://developer.paypal.com/braintree/graphql/reference/types/dispute.md, amountDisputed and amountWon).
func (d dispute) add(o *gateway.Outcome) error {
	state, known := disputeStates[d.Status]
	if !known {
		return nil
	}
	sum, err := call.ReadDecimal(d.taken(), d.Currency)
	if err == nil && d.ID == "" {
		err = errNameless
	}
	if err != nil {
		return err
	}
	switch {
	case d.Kind != retrieval:
		if err := d.move(o, *sum); err != nil {
			return err
		}
	case !state.Closed() || d.Status == expired:
		state = fsm.DisputeWarning
	}
	told := payment.DisputeTold{ProviderID: d.ID, Status: state, Reason: d.Reason, Money: sum, At: d.changed()}
	if due, err := time.Parse(time.DateOnly, d.ReplyBy); err == nil {
		told.DueBy = due
	}
	o.Disputes = append(o.Disputes, told)
	return nil
}

// taken is what the dispute takes.
func (d dispute) taken() string { return cmp.Or(d.Disputed, d.Amount) }

func (d dispute) move(o *gateway.Outcome, taken payment.Money) error {
	o.Movements = append(o.Movements, payment.Told{Kind: payment.MovementChargeback, ID: d.ID, Money: taken})
	if d.Status != won {
		return nil
	}
	back := taken
	if d.Won != "" {
		read, err := call.ReadDecimal(d.Won, d.Currency)
		if err != nil {
			return err
		}
		back = *read
	}
	o.Movements = append(o.Movements, payment.Told{Kind: payment.MovementChargebackReversal, ID: d.ID, Money: back, At: d.changed()})
	return nil
}

// created is when a dispute was made, changed when it last changed; zero where no time is shown.
func (d dispute) created() time.Time { return shown(d.Created) }
func (d dispute) changed() time.Time { return shown(d.Changed) }

func shown(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at.UTC()
}
