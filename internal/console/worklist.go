package console

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/commands"
	"github.com/paylatch/paylatch/internal/console/layout"
	"github.com/paylatch/paylatch/internal/console/session"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/review"
	"github.com/paylatch/paylatch/internal/support"
)

// worklistView is the content of the page of the worklist.
type worklistView struct {
	layout.Frame
	List    []support.Discrepancy
	Foreign []string
	Status  string
	Further string
}

func (v *visit) showWorklist() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	status := v.Query("status")
	if status == "" {
		status = "open"
	}
	list, next, err := v.Support.Discrepancies(v.R.Context(), v.Who, status, v.Query("kind"), p)
	if err != nil {
		return err
	}
	top, err := v.warned("Worklist")
	if err != nil {
		return err
	}
	counts, err := v.Payments.ForeignLastDay(v.R.Context())
	if err != nil {
		return err
	}
	return v.Show(worklistPage(worklistView{top, list, foreign(counts), status, v.Further(next)}))
}

// resolveView is a discrepancy and the form that resolves it.
type resolveView struct {
	layout.Frame
	layout.Form
	support.Discrepancy
	Resolution, PaymentID string
}

// choice is a possibility in words.
func choice(p review.Possibility) string {
	words := resolutionWords(p.Resolution)
	return strings.ToUpper(words[:1]) + words[1:] + ", if " + p.When + ". " + p.Effect
}

// NeedsID reports whether one of the possibilities takes the provider's id.
func (r resolveView) NeedsID() bool {
	return slices.ContainsFunc(r.Possible(), func(p review.Possibility) bool { return p.Resolution == review.ResolvedPaid })
}

func (v *visit) askResolve() error {
	id, err := session.IDOf(v.Visit, support.ViewedDiscrepancy, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	d, err := v.Support.Discrepancy(v.R.Context(), v.Who, id)
	if err != nil {
		return err
	}
	return v.Show(resolvePage(resolveView{Frame: v.Frame("Resolve"), Form: v.Form(worklistPath), Discrepancy: d}))
}

func (v *visit) resolve() error {
	id, err := session.IDOf(v.Visit, support.Resolved, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	cmd := commands.Resolve{
		ID: id, Resolution: review.Resolution(v.R.PostFormValue("resolution")), Reason: v.R.PostFormValue("reason"),
		ProviderPaymentID: v.R.PostFormValue("provider_payment_id"),
	}
	again := func(f layout.Form) templ.Component {
		d, err := v.Support.Discrepancy(v.R.Context(), v.Who, id)
		if err != nil {
			d.ID = id
		}
		return resolvePage(resolveView{v.Frame("Resolve"), f, d, string(cmd.Resolution), cmd.ProviderPaymentID})
	}
	return v.Once(v.Sent(worklistPath), worklistPath, again, func() (string, error) {
		d, err := v.Support.Resolve(v.R.Context(), v.Who, cmd)
		if err != nil {
			return "", err
		}
		if d.Awaits() {
			return "The provider can't be asked. This stays here until a second person resolves it as paid by the same payment.", nil
		}
		return "Resolved: " + kindWords(d.Kind) + ", as " + resolutionWords(d.Resolved.Resolution) + ".", nil
	})
}
