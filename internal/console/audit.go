package console

import (
	"fmt"

	"github.com/paylatch/paylatch/internal/support"
)

// auditView is the content of the page of the audit log.
type auditView struct {
	frame
	support.AuditFilter
	List    []support.AuditEntry
	Further string
}

func (v *visit) showAudit() error {
	p, err := v.page()
	if err != nil {
		return err
	}
	f := support.AuditFilter{Actor: v.query("actor"), Action: v.query("action"), Target: v.query("target")}
	list, next, err := v.Support.Audit(v.r.Context(), v.who, f, p)
	if err != nil {
		return err
	}
	return v.show(auditPage(auditView{v.frame("Audit log"), f, list, v.further(next)}))
}

// refusalOf is the reason of a refusal, and how many more without an entry there were.
func refusalOf(d support.AuditEntry) string {
	why, _ := d.Detail["refusal"].(string)
	if more, ok := d.Detail["more"].(float64); ok {
		return fmt.Sprintf("%.0f more since %v, from %v peers: %s", more, d.Detail["since"], d.Detail["peers"], why)
	}
	return why
}
