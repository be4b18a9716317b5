package payment_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/webhooks"
)

// An id of ours that nobody has leads nowhere, and then the provider's does.
func TestTheProvidersNameCountsWhereOursLeadsNowhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	paid := r.paid(t, "A-1", "tok_never")
	elsewhere := uuid.Must(uuid.NewV7()).String()
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, elsewhere, paid.ProviderPaymentID)))
	require.Equal(t, succeeded, standingOf(r.attempt(t, paid.ID)))
}

// A name that another attempt has stays there, and a person is told, even beside
// an id of ours.
func TestANameIsNotTakenFromAnotherAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	one, two := r.paid(t, "A-1", "tok_never"), r.paid(t, "A-2", "tok_never")
	e := event(webhooks.KindSucceeded, one.ID.String(), two.ProviderPaymentID)
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, e))
	require.Equal(t, succeeded, standingOf(r.attempt(t, one.ID)))
	require.Equal(t, requested, standingOf(r.attempt(t, two.ID)))
	require.Equal(t, []string{"needs_review"}, r.discrepancies(t, one.ID))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, two.ProviderPaymentID)))
	require.Equal(t, succeeded, standingOf(r.attempt(t, two.ID)))
}

// A name that comes with an id of ours leads to the attempt by itself afterwards.
func TestANewNameIsLearntBesideOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t, setup{silent: true})
	id := r.paid(t, "A-1", "tok_never").ID
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindAuthorized, id.String(), "ch_new")))
	require.Equal(t, []fsm.Verdict{fsm.Applied}, r.tell(t, event(webhooks.KindSucceeded, "ch_new")))
	require.Equal(t, succeeded, standingOf(r.attempt(t, id)))
}
