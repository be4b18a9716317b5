package console

import (
	"context"
	"time"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/backoffice/lists"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/payment"
)

// Disputes lists disputes; *lists.Service in the program.
type Disputes interface {
	// Disputes returns the newest first. DisputesDue returns open disputes by the deadline of their evidence.
	Disputes(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Dispute], error)
	DisputesDue(ctx context.Context, actor authz.Actor, q lists.Query) (lists.Page[payment.Dispute], error)
}

// disputesView is the content of the page of the disputes.
type disputesView struct {
	Frame
	List            []payment.Dispute
	Status, Account string
	Now             time.Time
	// Provider and Clocks are those of Options.
	Provider func(account string) support.Provider
	Clocks   support.Clocks
	Further  string
}

// showDisputes shows open disputes by deadline, and closed disputes newest first.
func (v *visit) showDisputes() error {
	view := disputesView{Frame: v.Frame("Disputes"), Status: v.Query("status"), Account: v.Query("account"), Now: v.Now(), Provider: v.Provider, Clocks: v.Clocks}
	q, err := lists.Parse(lists.Disputes, map[string]string{"status": view.Status, "account": view.Account, "cursor": v.Query("cursor")})
	if err != nil {
		return err
	}
	list := v.Disputes.DisputesDue
	if fsm.DisputeState(view.Status).Closed() {
		list = v.Disputes.Disputes
	}
	var page lists.Page[payment.Dispute]
	err = v.AuditLog.Watch(v.R.Context(), v.Who, support.ViewedDisputes, "filter", v.R.URL.RawQuery, func() (err error) {
		page, err = list(v.R.Context(), v.Who.Actor, q)
		return err
	})
	if err != nil {
		return err
	}
	view.List, view.Further = page.Items, v.Further(page.Next)
	return v.Show(disputesPage(view))
}

// answerWords say how long there is to answer a dispute.
func answerWords(d payment.Dispute, now time.Time) string {
	switch {
	case d.State.Closed():
		return "closed"
	case d.State == fsm.DisputeUnderReview:
		return "the provider decides"
	case d.DueBy.IsZero():
		return "no date is known"
	case !now.Before(d.DueBy):
		return "overdue for " + Age(now.Sub(d.DueBy))
	}
	return Age(d.DueBy.Sub(now)) + " left"
}
