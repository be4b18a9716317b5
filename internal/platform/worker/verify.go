package worker

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
)

// A lap over a hundred thousand attempts takes about eight hours at this pace.
const (
	verifyEvery = time.Minute
	verifyBatch = 200
)

// Verify derives all attempts from their logs again, a portion at a time and lap after lap. It logs each difference. It
// passes the portion's number of attempts to verified, with the larger number of differences of the last lap and this
// lap. Only one replica reads at a time.
func Verify(from verify.Archive, verified func(attempts, differences int), log zerolog.Logger) Loop {
	var after payment.AttemptID
	var last, found int
	return Loop{Name: "verify", Every: verifyEvery, Do: func(ctx context.Context) (bool, error) {
		v, err := verify.Verify(ctx, from, after, verifyBatch, true)
		if errors.Is(err, payment.ErrBusy) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		for _, d := range v.Differences {
			log.Error().Str("order_id", string(d.OrderID)).Stringer("attempt_id", d.AttemptID).Str("check", d.Check).Msg(d.Text)
		}
		found += len(v.Differences)
		after = v.Last
		if v.End {
			after, last, found = payment.AttemptID{}, found, 0
		}
		verified(v.Attempts, max(last, found))
		return false, nil
	}}
}
