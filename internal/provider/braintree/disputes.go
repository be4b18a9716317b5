package braintree

import (
	"cmp"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/provider/kit"
)

// dispute is a dispute of a transaction (braintree_python, braintree/dispute.py). Its elements are from the webhooks
// that the official library generates.
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
	// History is the history of the dispute's statuses (braintree_python, braintree/dispute_details/status_history.py).
	History []event `xml:"status-history>status-history"`
}

const (
	opened, won, expired = "open", "won", "expired"
	// retrieval is a request for documents. It moves no money.
	retrieval = "retrieval"
)

// disputeStates maps a dispute's status to the state that the webhook of the same name reports. A dispute with an
// unlisted status is ignored.
var disputeStates = map[string]fsm.DisputeState{ //nolint:gochecknoglobals // a table
	opened: fsm.DisputeOpen, "under_review": fsm.DisputeUnderReview, "disputed": fsm.DisputeUnderReview,
	won: fsm.DisputeWon, "lost": fsm.DisputeLost, expired: fsm.DisputeLost,
	"accepted": fsm.DisputeAccepted, "auto_accepted": fsm.DisputeAccepted,
}

// withDisputes adds a transaction's disputes and their money movements, under the names that their webhooks use.
func (t transaction) withDisputes(o *gateway.Outcome) error {
	for _, d := range t.Disputes {
		d.Currency = cmp.Or(d.Currency, t.Currency)
		if err := d.add(o); err != nil {
			return err
		}
	}
	return nil
}

// add adds a dispute. Braintree debits the disputed amount until the resolution, and returns the won amount
// (https://developer.paypal.com/braintree/graphql/reference/types/dispute.md, amountDisputed and amountWon).
func (d dispute) add(o *gateway.Outcome) error {
	state, known := disputeStates[d.Status]
	if !known {
		return nil
	}
	sum, err := kit.ReadDecimal(d.taken(), d.Currency)
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
	told := payment.DisputeReport{ProviderID: d.ID, Status: state, Reason: d.Reason, Money: sum, At: d.changed()}
	if due, err := time.Parse(time.DateOnly, d.ReplyBy); err == nil {
		told.DueBy = due
	}
	o.Disputes = append(o.Disputes, told)
	return nil
}

// taken returns the amount that the dispute takes.
func (d dispute) taken() string { return cmp.Or(d.Disputed, d.Amount) }

func (d dispute) move(o *gateway.Outcome, taken payment.Money) error {
	rounds, err := d.rounds(taken)
	o.Movements = append(o.Movements, rounds...)
	return err
}

// rounds returns the dispute's chargebacks and their reversals, according to the history of its statuses. A dispute may
// be lost after it was won. Without a history, there is one chargeback, and one reversal if the dispute is won.
// Braintree states the won amount of the last win only, and never the amount of a second chargeback. Missing amounts are
// the dispute's amount.
func (d dispute) rounds(taken payment.Money) ([]payment.MovementReport, error) {
	past, err := history(d.History)
	if err != nil {
		return nil, err
	}
	took := payment.MovementReport{Kind: payment.MovementChargeback, Dispute: d.ID, Money: taken}
	all := []payment.MovementReport{took}
	if at := first(past, opened).at; !at.IsZero() {
		all[0].At = at
	}
	for _, e := range past {
		again := took
		switch again.At, again.Whole = e.at, true; e.Status {
		case won:
			again.Kind = payment.MovementChargebackReversal
		case "lost", expired, "accepted", "auto_accepted":
		default:
			continue
		}
		if all[len(all)-1].Kind != again.Kind {
			all = append(all, again)
		}
	}
	if last := all[len(all)-1]; d.Status == won && last.Kind == payment.MovementChargeback {
		last.Kind, last.Whole, last.At = payment.MovementChargebackReversal, true, d.changed()
		all = append(all, last)
	}
	return all, d.readWon(all)
}

// readWon fills in the amount that the last decision returned.
func (d dispute) readWon(all []payment.MovementReport) error {
	last := &all[len(all)-1]
	if d.Status != won || d.Won == "" {
		return nil
	}
	back, err := kit.ReadDecimal(d.Won, d.Currency)
	if err == nil {
		last.Money, last.Whole = *back, false
	}
	return err
}

// created and changed are the times of the dispute's creation and of its last change. They are zero if the time is
// missing.
func (d dispute) created() time.Time { return shown(d.Created) }
func (d dispute) changed() time.Time { return shown(d.Changed) }

func shown(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at.UTC()
}
