package auth

import (
	"errors"
	"fmt"

	"github.com/paylatch/paylatch/internal/authz"
)

// The errors that refuse a bearer, beside payment.ErrForbidden for a bearer that is authenticated and lacks the role. Their
// texts are safe to show to the caller.
var (
	// ErrUnauthenticated is returned when the token proves nothing; the wrapping
	// text is the reason.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrUnavailable is returned when the token can't be checked now, because the
	// keys can't be fetched. The same request may be sent again.
	ErrUnavailable = errors.New("the keys that check tokens are not available")
	// ErrSealed is returned when a sealed text was changed, belongs to another
	// attempt or was sealed under a key that is not in the ring.
	ErrSealed = errors.New("sealed text can't be opened")
)

func refuse(reason string) error { return fmt.Errorf("%w: %s", ErrUnauthenticated, reason) }

func forbid(reason string, why authz.RoleError) error { return fmt.Errorf("%w: %s", &why, reason) }
