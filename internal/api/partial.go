package api

import (
	"context"
	"errors"

	"github.com/paylatch/paylatch/internal/api/exchange"
	"github.com/paylatch/paylatch/internal/parts"
)

// incomplete is the header of a response that lacks what a cell has, with what that is in words.
const incomplete = "Incomplete"

// partial returns an error of a read, but has the response name the cells that were left out of it where it is only that.
func partial(ctx context.Context, err error) error {
	left, some := errors.AsType[*parts.OmittedError](err)
	if !some {
		return err
	}
	exchange.Of(ctx).Header().Set(incomplete, left.Without())
	return nil
}
