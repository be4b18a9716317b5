package authz

import (
	"strings"

	"github.com/paylatch/paylatch/internal/payment"
)

// RoleError is the ErrForbidden that another role would help against.
type RoleError struct {
	Needed []payment.Role
	// Or is another remedy; may be empty.
	Or string
	// Members are the members of the request that the role is needed for; nil for all of it.
	Members []string
}

// Error implements error.
func (e *RoleError) Error() string { return payment.ErrForbidden.Error() + ": it takes " + e.Roles() }

// Roles returns the allowed roles as a phrase, such as "the role support or admin".
func (e *RoleError) Roles() string {
	names := make([]string, len(e.Needed))
	for i, role := range e.Needed {
		names[i] = string(role)
	}
	if last := len(names) - 1; last > 0 {
		names = []string{strings.Join(names[:last], ", ") + " or " + names[last]}
	}
	return "the role " + strings.Join(names, "")
}

// Unwrap makes it an ErrForbidden.
func (*RoleError) Unwrap() error { return payment.ErrForbidden }
