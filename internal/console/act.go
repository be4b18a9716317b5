package console

import (
	"net/url"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/idempotency"
	"github.com/paylatch/paylatch/internal/backoffice/support"
	"github.com/paylatch/paylatch/internal/backoffice/worklist"
	"github.com/paylatch/paylatch/internal/engine/commands"
	"github.com/paylatch/paylatch/internal/payment"
)

// oneView is the page of one discrepancy, and of the form that resolves it.
type oneView struct {
	Frame
	card

	// Resolution, PaymentID and Comment are the typed values.
	Resolution, PaymentID, Comment string
}

// read returns the card of a discrepancy.
func (v worklistVisit) read(id payment.DiscrepancyID, f Form) (card, error) {
	e, err := v.o.Entry(v.R.Context(), v.Who, id)
	return v.card(e, f, back(v.R.FormValue("back"))), err
}

// back returns the query of the list that a form names; empty if it can't be parsed.
func back(query string) string {
	q, err := url.ParseQuery(query)
	if err != nil {
		return ""
	}
	return q.Encode()
}

// list is the address of the list that a form came from.
func (v worklistVisit) list() string {
	if q := back(v.R.FormValue("back")); q != "" {
		return WorklistPath + "?" + q
	}
	return WorklistPath
}

func (v worklistVisit) showOne() error {
	id, err := IDOf(v.Visit, support.ViewedDiscrepancy, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	c, err := v.read(id, v.Form(v.list()))
	if err != nil {
		return err
	}
	return v.Show(onePage(oneView{Frame: v.Frame("Needs review"), card: c}))
}

func (v worklistVisit) askResolve() error {
	id, err := IDOf(v.Visit, support.ViewedDiscrepancy, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	c, err := v.read(id, v.Form(v.list()))
	if err != nil {
		return err
	}
	return v.Show(resolvePage(oneView{Frame: v.Frame("Resolve"), card: c}))
}

func (v worklistVisit) resolve() error {
	id, err := IDOf(v.Visit, support.Resolved, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	cmd := worklist.Resolve{Expected: v.seen(), Resolve: commands.Resolve{
		ID: id, Resolution: payment.Resolution(v.R.PostFormValue("resolution")), Reason: v.R.PostFormValue("reason"),
		ProviderPaymentID: v.R.PostFormValue("provider_payment_id"),
	}}
	f := v.Sent(v.list())
	again := func(f Form) templ.Component {
		c, err := v.read(id, f)
		if err != nil {
			c.ID = id
		}
		return resolvePage(oneView{Frame: v.Frame("Resolve"), card: c, Resolution: string(cmd.Resolution), PaymentID: cmd.ProviderPaymentID})
	}
	return v.Once(f, v.list(), again, func() (string, error) {
		e, err := v.o.Resolve(v.R.Context(), v.Who, cmd)
		if err != nil {
			return "", err
		}
		return v.outcome(e), nil
	})
}

// outcome describes the outcome of a resolution. It does not credit this person with an equal resolution that another person made before.
func (v worklistVisit) outcome(e worklist.Entry) string {
	text := kindWords(e.Kind)
	switch {
	case e.Awaits():
		return "A second person must agree to this resolution. The case stays open until a second person resolves it in the same way."
	case e.Resolved == nil:
		return "This case is still open: " + text + "."
	case e.Resolved.By != v.Who.Subject:
		return e.Resolved.By + " has already resolved this case in the same way: " + text + ", as " + resolutionWords(e.Resolved.Resolution) + "."
	}
	return "Resolved: " + text + ", as " + resolutionWords(e.Resolved.Resolution) + "."
}

// seen returns the assignee that the form's page showed; nil if the form does not name an assignee.
func (v worklistVisit) seen() *string {
	if !v.R.PostForm.Has("expected") {
		return nil
	}
	name := v.R.PostFormValue("expected")
	return &name
}

func (v worklistVisit) assign() error {
	id, err := IDOf(v.Visit, support.Assigned, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	cmd := worklist.Assign{ID: id, Expected: v.seen()}
	if v.R.PostForm.Has("assignee") {
		name := v.R.PostFormValue("assignee")
		cmd.Assignee = &name
	}
	return v.Once(v.Sent(v.list()), v.list(), v.again(id, ""), func() (string, error) {
		e, err := v.o.Assign(v.R.Context(), v.Who, cmd)
		switch {
		case err != nil:
			return "", err
		case e.Assignee == "":
			return "This case is now unassigned: " + kindWords(e.Kind) + ".", nil
		case e.Assignee == v.Who.Subject:
			return "This case is now assigned to you: " + kindWords(e.Kind) + ".", nil
		}
		return "This case is now assigned to " + e.Assignee + ": " + kindWords(e.Kind) + ".", nil
	})
}

func (v worklistVisit) comment() error {
	id, err := IDOf(v.Visit, support.Commented, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	text := v.R.PostFormValue("text")
	f := v.Sent(v.list())
	return v.Keyed(f, v.list(), v.again(id, text), func() (string, error) {
		_, _, err := v.o.Comment(v.R.Context(), v.Who, worklist.AddComment{ID: id, Text: text, Key: idempotency.Key(f.Key)})
		return "Your comment is stored.", err
	})
}

// again shows the page of a discrepancy again after a refusal, with the typed values.
func (v worklistVisit) again(id payment.DiscrepancyID, comment string) func(f Form) templ.Component {
	return func(f Form) templ.Component {
		c, err := v.read(id, f)
		if err != nil {
			c.ID = id
		}
		return onePage(oneView{Frame: v.Frame("Needs review"), card: c, Comment: comment})
	}
}
