package verify_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/ledger/verify"
	"github.com/paylatch/paylatch/internal/payment"
)

// slow has a few attempts, and can't answer in time for more than a number of them.
type slow struct {
	attempts, most int
	asked          []int
}

func (s *slow) Evidence(_ context.Context, after payment.AttemptID, limit int, _ bool) ([]verify.Evidence, error) {
	s.asked = append(s.asked, limit)
	if limit > s.most {
		return nil, payment.ErrUnavailable
	}
	var all []verify.Evidence
	for i := int(after[0]) + 1; i <= s.attempts && len(all) < limit; i++ {
		all = append(all, verify.Evidence{Attempt: payment.Attempt{ID: payment.AttemptID{byte(i)}}})
	}
	return all, nil
}

// A database that is too busy for a portion gets smaller ones, and no attempt is left out.
func TestSmallerPortionsOfABusyDatabase(t *testing.T) {
	t.Parallel()
	from := &slow{attempts: 5, most: 2}
	v, err := verify.Verify(t.Context(), from, payment.AttemptID{}, 8, false)
	require.NoError(t, err)
	require.Equal(t, []int{8, 4, 2}, from.asked)
	require.Equal(t, 2, v.Attempts)
	require.False(t, v.End, "attempts follow, although fewer came than were asked for")

	v, err = verify.Verify(t.Context(), from, payment.AttemptID{4}, 8, false)
	require.NoError(t, err)
	require.Equal(t, payment.AttemptID{5}, v.Last)
	require.True(t, v.End)

	from = &slow{attempts: 5}
	_, err = verify.Verify(t.Context(), from, payment.AttemptID{}, 8, false)
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Equal(t, []int{8, 4, 2, 1}, from.asked)

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	from.asked = nil
	_, err = verify.Verify(ctx, from, payment.AttemptID{}, 8, false)
	require.ErrorIs(t, err, payment.ErrUnavailable)
	require.Equal(t, []int{8}, from.asked, "a stopped command does not repeat")
}
