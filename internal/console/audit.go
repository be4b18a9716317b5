package console

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/backoffice/support"
)

// auditView is the content of the page of the audit log.
type auditView struct {
	Frame
	support.AuditFilter
	List    []support.AuditEntry
	Further string
}

func (v *visit) showAudit() error {
	p, err := v.Page()
	if err != nil {
		return err
	}
	f := support.AuditFilter{Actor: v.Query("actor"), Action: v.Query("action"), Target: v.Query("target")}
	list, next, err := v.Support.Audit(v.R.Context(), v.Who, f, p)
	if err = v.Left(err); err != nil {
		return err
	}
	return v.Show(auditPage(auditView{v.Frame("Audit log"), f, list, v.Further(next)}))
}

// refusalOf is the reason of a refusal, and how many more without an entry there were.
func refusalOf(d support.AuditEntry) string {
	why, _ := d.Detail["refusal"].(string)
	if more, ok := d.Detail["more"].(float64); ok {
		return fmt.Sprintf("%.0f more since %v, from %v peers: %s", more, d.Detail["since"], d.Detail["peers"], why)
	}
	return why
}
