package sandbox

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

type status string

const (
	pending    status = "pending"
	authorized status = "authorized"
	succeeded  status = "succeeded"
	failed     status = "failed"
	canceled   status = "canceled"
)

// charge is a charge as callers see it.
type charge struct {
	ID             string      `json:"id"`
	Reference      string      `json:"reference"`
	Status         status      `json:"status"`
	Amount         int64       `json:"amount"`
	AmountCaptured int64       `json:"amount_captured"`
	AmountRefunded int64       `json:"amount_refunded"`
	Currency       string      `json:"currency"`
	Capture        string      `json:"capture"`
	FailureCode    *string     `json:"failure_code"`
	FailureMessage *string     `json:"failure_message"`
	NextAction     *nextAction `json:"next_action"`
	Saved          *method     `json:"saved_payment_method"`
	Created        string      `json:"created"`
}

type nextAction struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// chargeRecord is a charge with what only the journal knows of it.
type chargeRecord struct {
	charge

	Key       string `json:"key"`
	PageURL   string `json:"page_url,omitempty"`
	ReturnURL string `json:"return_url,omitempty"`
	Copies    int    `json:"copies,omitempty"`
	Plan      *plan  `json:"plan,omitempty"`
}

// plan is what a charge will do by itself.
type plan struct {
	Do step      `json:"do"`
	At time.Time `json:"at"`
}

func (s *Server) createCharge(t *tx, c call, in chargeRequest) result {
	b, refused := s.behaviourOf(t, in)
	if refused != nil {
		return result{err: refused}
	}
	if b.uncharged && !c.retried {
		return result{fault: b.fault, again: true}
	}
	rec := newCharge(t, c, in, b)
	if b.webhookFirst {
		t.lag = 0
	}
	t.perform(&rec, b.now)
	if b.later != stepNone {
		rec.Plan = &plan{Do: b.later, At: t.now.Add(b.after)}
	}
	if b.save {
		saved := newMethod(in.Customer)
		t.entry.Methods = append(t.entry.Methods, saved)
		rec.Saved = &saved.method
	}
	t.putCharge(rec)
	res := result{value: rec.charge}
	if !b.uncharged {
		res.fault = b.fault
	}
	if b.webhookFirst && len(t.entry.Events) > 0 {
		res.await = t.entry.Events[0].ID
	}
	return res
}

func newCharge(t *tx, c call, in chargeRequest, b behaviour) chargeRecord {
	rec := chargeRecord{
		charge: charge{
			ID: newID("ch_"), Reference: in.Reference, Status: pending,
			Amount: in.Amount + b.surplus, Currency: in.Currency, Capture: in.Capture,
			Created: stamp(t.now),
		},
		Key: c.key, ReturnURL: in.ReturnURL, Copies: b.copies,
	}
	if b.hosted {
		rec.PageURL = c.base + "/pay/" + rec.ID
		rec.NextAction = &nextAction{Type: "redirect", URL: rec.PageURL}
	}
	return rec
}

func (s *Server) showCharge(w http.ResponseWriter, r *http.Request) {
	var found *charge
	s.store.view(func(st *state) {
		if rec, ok := st.charges[r.PathValue("id")]; ok {
			found = &rec.charge
		}
	})
	if found == nil {
		write(w, errorReply(noCharge()))
		return
	}
	write(w, jsonReply(http.StatusOK, found))
}

func (s *Server) listCharges(w http.ResponseWriter, r *http.Request) {
	found := []charge{}
	if !listed(w, r, func(reference string) {
		s.store.view(func(st *state) {
			for _, id := range st.chargesByReference[reference] {
				found = append(found, st.charges[id].charge)
			}
		})
	}) {
		return
	}
	write(w, jsonReply(http.StatusOK, list[charge]{Items: found}))
}

func noCharge() *apiError {
	return &apiError{status: http.StatusNotFound, Code: "not_found", Message: "There is no such charge."}
}

func newID(prefix string) string {
	return prefix + strings.ReplaceAll(uuid.NewString(), "-", "")
}

// stamp writes a time as the contract wants it: UTC, always with microseconds.
func stamp(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}
