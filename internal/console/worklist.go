package console

import (
	"github.com/a-h/templ"

	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/internal/support"
)

// worklistView is what the page of the worklist shows.
type worklistView struct {
	frame
	List    []support.Discrepancy
	Status  string
	Further string
}

func (v *visit) showWorklist() error {
	p, err := v.page()
	if err != nil {
		return err
	}
	status := v.query("status")
	if status == "" {
		status = "open"
	}
	list, next, err := v.Support.Discrepancies(v.r.Context(), v.who, status, v.query("kind"), p)
	if err != nil {
		return err
	}
	top, err := v.warned("Worklist")
	if err != nil {
		return err
	}
	return v.show(worklistPage(worklistView{top, list, status, v.further(next)}))
}

// resolveView is a discrepancy and the form that settles it.
type resolveView struct {
	frame
	form
	support.Discrepancy
	Resolution, PaymentID string
}

// choice is a resolution in words.
type choice struct {
	resolution payment.Resolution
	text       string
}

func choices() []choice {
	return []choice{
		{payment.ResolvedPaid, "Paid: I found the payment, or the refund, at the provider. What was pending becomes succeeded."},
		{payment.ResolvedNotPaid, "Not paid: the provider says that there is no payment, or no refund. What was pending becomes failed."},
		{payment.ResolvedRefundedElsewhere, "Refunded elsewhere: the money went back another way. Nothing moves."},
		{payment.ResolvedAccepted, "Accepted: it is as it should be, or explained. Nothing moves."},
	}
}

func (v *visit) askResolve() error {
	id, err := idOf(v, support.ViewedDiscrepancy, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	d, err := v.Support.Discrepancy(v.r.Context(), v.who, id)
	if err != nil {
		return err
	}
	return v.show(resolvePage(resolveView{frame: v.frame("Resolve"), form: v.form(worklistPath), Discrepancy: d}))
}

func (v *visit) resolve() error {
	id, err := idOf(v, support.Resolved, "discrepancy", payment.ParseDiscrepancyID)
	if err != nil {
		return err
	}
	cmd := payment.Resolve{
		ID: id, Resolution: payment.Resolution(v.r.PostFormValue("resolution")), Reason: v.r.PostFormValue("reason"),
		ProviderPaymentID: v.r.PostFormValue("provider_payment_id"),
	}
	again := func(f form) templ.Component {
		d, err := v.Support.Discrepancy(v.r.Context(), v.who, id)
		if err != nil {
			d.ID = id
		}
		return resolvePage(resolveView{v.frame("Resolve"), f, d, string(cmd.Resolution), cmd.ProviderPaymentID})
	}
	return v.once(v.sent(worklistPath), worklistPath, again, func() (string, error) {
		d, err := v.Support.Resolve(v.r.Context(), v.who, cmd)
		if err != nil {
			return "", err
		}
		return "Resolved: " + kindWords(d.Kind) + ", as " + resolutionWords(d.Resolved.Resolution) + ".", nil
	})
}
