package console

import "github.com/paylatch/paylatch/internal/support"

// auditView is what the page of the audit log shows.
type auditView struct {
	frame
	support.DeedFilter
	List    []support.Deed
	Further string
}

func (v *visit) showAudit() error {
	p, err := v.page()
	if err != nil {
		return err
	}
	f := support.DeedFilter{Actor: v.query("actor"), Action: v.query("action"), Target: v.query("target")}
	list, next, err := v.Support.Audit(v.r.Context(), v.who, f, p)
	if err != nil {
		return err
	}
	return v.show(auditPage(auditView{v.frame("Audit log"), f, list, v.further(next)}))
}
