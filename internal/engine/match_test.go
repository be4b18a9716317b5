package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	t.Run("provider_name_where_ours_is_unknown", matchProviderNameWhereOursIsUnknown)
	t.Run("name_of_another_attempt", matchNameOfAnotherAttempt)
	t.Run("learns_a_new_name", matchLearnsANewName)
	t.Run("each_name_of_an_attempt", matchEachNameOfAnAttempt)
	t.Run("name_of_another_attempt_needs_review", matchNameOfAnotherAttemptNeedsReview)
}

// Where an event has an id of this side that no attempt has, the provider's id leads to the
// attempt.
func matchProviderNameWhereOursIsUnknown(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_never")
	elsewhere := uuid.Must(uuid.NewV7()).String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, elsewhere, paid.ProviderPaymentID)))
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID).Attempt))
}

// A name that another attempt has stays there, and a discrepancy is opened, even beside an id of
// this side.
func matchNameOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	one, two := r.paid(t, "A-1", "tok_never"), r.paid(t, "A-2", "tok_never")
	e := event(webhooks.KindSucceeded, one.ID.String(), two.ProviderPaymentID)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, succeeded, standingOf(r.attempt(t, one.ID).Attempt))
	require.Equal(t, requested, standingOf(r.attempt(t, two.ID).Attempt))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, one.ID))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, two.ProviderPaymentID)))
	require.Equal(t, succeeded, standingOf(r.attempt(t, two.ID).Attempt))
}

// A name that comes with an id of this side leads to the attempt by itself afterwards.
func matchLearnsANewName(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, id.String(), "ch_new")))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, "ch_new")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id).Attempt))
}

// One attempt with several ids of the provider: each finds it (craft commerce-stripe #318),
// within its own account only.
func matchEachNameOfAnAttempt(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	p := r.paid(t, "A-1", "tok_never")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, p.ID.String(), "cs_1", "pi_1", "ch_1")))
	for _, name := range []string{"cs_1", "pi_1", "ch_1", p.ProviderPaymentID} {
		require.Equal(t, []fsm.Verdict{fsm.Repeat}, r.tell(t, event(webhooks.KindAuthorized, name)), name)
		elsewhere := received(nil, event(webhooks.KindSucceeded, name))
		elsewhere[0].Account = "other"
		verdicts, err := r.Intake(t.Context(), elsewhere)
		require.NoError(t, err)
		require.Equal(t, []fsm.Verdict{payment.VerdictUnmatched}, verdicts)
	}
}

// A name that another attempt has is a discrepancy of both payments that are
// concerned, each time, and not an error.
func matchNameOfAnotherAttemptNeedsReview(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_never")
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, first.ID.String(), "ch_shared", "ch_also")))
	for i, name := range []string{"ch_shared", "ch_also"} {
		order := payment.OrderID(fmt.Sprintf("B-%d", i))
		other := r.paid(t, order, "tok_never")
		require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, other.ID.String(), name)))
		require.Equal(t, []string{"needs_review"}, r.discrepancies(t, other.ID))
	}
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, "ch_shared")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, first.ID).Attempt), "the name stays with whom it was given to first")
}
