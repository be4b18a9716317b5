package api

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/backoffice/parts"
)

// incomplete is the header that names the omitted cells of a response.
const incomplete = "Incomplete"

// partial returns nil for a parts.OmittedError, and names the omitted cells in the response. It returns any other error.
func partial(ctx context.Context, err error) error {
	left, some := errors.AsType[*parts.OmittedError](err)
	if !some {
		return err
	}
	ExchangeOf(ctx).Header().Set(incomplete, left.Without())
	return nil
}
