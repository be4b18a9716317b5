package support

import (
	"strings"
	"unicode/utf8"

	"github.com/paylatch/paylatch/internal/authz"
	"github.com/paylatch/paylatch/internal/payment"
)

// Staff is an actor with the origin of its request.
type Staff struct {
	authz.Actor

	// Address is the network address; RequestID, the request's, which the log of the
	// program has, too.
	Address, RequestID string
}

// may returns payment.ErrForbidden without one of the roles.
func (w Staff) may(roles ...payment.Role) error { return w.Require(roles...) }

// MayLook returns payment.ErrForbidden without one of the roles of staff.
func (w Staff) MayLook() error { return w.mayLook() }

func (w Staff) mayLook() error { return w.may(payment.RoleSupport, payment.RoleAdmin) }

// maxReason bounds a reason, in bytes.
const maxReason = 2000

func (w Staff) mayAct(reason string) error {
	return w.MayAct(reason, payment.RoleSupport, payment.RoleAdmin)
}

// MayAct returns payment.ErrForbidden without one of the roles, and a payment.ValidationError without a reason.
func (w Staff) MayAct(reason string, roles ...payment.Role) error {
	if err := w.may(roles...); err != nil {
		return err
	}
	if strings.TrimSpace(reason) == "" || len(reason) > maxReason || !storable(reason) {
		return invalid("reason", "give a reason of at most 2000 bytes; it is kept in the audit log")
	}
	return nil
}

func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func invalid(field, message string) error {
	return &payment.ValidationError{Fields: []payment.FieldError{{Field: field, Message: message}}}
}
