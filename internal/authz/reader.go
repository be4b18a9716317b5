package authz

import (
	"context"

	"github.com/paylatch/paylatch/internal/payment"
)

// Reader is the caller of an expensive read: a list, a search, an export, an overview or a metric. Each role and each person has only
// a share of the database connections for such reads.
type Reader struct {
	// Role is service or staff; empty for the process itself, such as its metrics.
	Role string
	// Name is the token's subject.
	Name string
}

// The roles of a Reader.
const (
	ReadsForService = "service"
	ReadsForStaff   = "staff"
)

type readerKey struct{}

// WithReader returns a context for the expensive reads of r.
func WithReader(ctx context.Context, r Reader) context.Context {
	return context.WithValue(ctx, readerKey{}, r)
}

// ReaderOf returns the reader of ctx; the process itself without one.
func ReaderOf(ctx context.Context) Reader {
	r, _ := ctx.Value(readerKey{}).(Reader)
	return r
}

// Reader returns the actor as a reader. A token with roles of both kinds reads as a service.
func (a Actor) Reader() Reader {
	if a.Has(payment.RoleService) {
		return Reader{ReadsForService, a.Subject}
	}
	return Reader{ReadsForStaff, a.Subject}
}
