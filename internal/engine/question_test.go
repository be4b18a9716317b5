package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

func TestQuestion(t *testing.T) {
	t.Parallel()
	t.Run("order_with_late_money", questionOrderWithLateMoney)
	t.Run("payment_on_hold", questionPaymentOnHold)
	t.Run("answers", questionAnswers)
	t.Run("unstorable_name", questionUnstorableName)
}

// A customer's browser may choose the name: the database can't store each.
func questionUnstorableName(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	for _, name := range []string{"ch_\x00", "ch_\xff", strings.Repeat("x", 1<<13)} {
		may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindQuestion, name))
		require.NoError(t, err)
		require.Equal(t, webhooks.AnswerUnknown, may)
	}
}

// The question of a provider before it takes a payment is refused where the order's money came
// late, by another attempt, while the customer was still at the page.
func questionOrderWithLateMoney(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	first := r.paid(t, "A-1", "tok_decline")
	second := r.pay(t, "A-1", "second-key", "tok_redirect")
	ask := func() webhooks.Answer {
		may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindSucceeded, second.ID.String()))
		require.NoError(t, err)
		return may
	}
	require.Equal(t, webhooks.AnswerAccept, ask())
	require.Equal(t, fsm.Conflict, r.say(t, first.ID, webhooks.KindSucceeded))
	require.Equal(t, webhooks.AnswerRefuse, ask())
}

// So is the question about a payment that holds the money already: the page is open in a second
// tab.
func questionPaymentOnHold(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	may, err := r.Question(t.Context(), "sandbox", event(webhooks.KindAuthorized, r.held(t, "A-1").ID.String()))
	require.NoError(t, err)
	require.Equal(t, webhooks.AnswerRefuse, may)
}

// The answer to a provider's question depends on the terms of the payment, and on whether it is still wanted.
func questionAnswers(t *testing.T) {
	t.Parallel()
	r := newEnv(t, setup{silent: true})
	failed, id := r.paid(t, "A-1", "tok_decline").ID, r.paid(t, "A-2", "tok_redirect").ID
	ask := func(id payment.AttemptID, money *webhooks.Money) webhooks.Answer {
		e := event(webhooks.KindQuestion, id.String())
		e.Money = money
		may, err := r.Question(t.Context(), "sandbox", e)
		require.NoError(t, err)
		return may
	}
	euros := &webhooks.Money{Minor: price, Currency: "EUR"}
	require.Equal(t, webhooks.AnswerAccept, ask(id, euros))
	require.Equal(t, webhooks.AnswerAccept, ask(id, nil))
	require.Equal(t, webhooks.AnswerAmount, ask(id, &webhooks.Money{Minor: price - 1, Currency: "EUR"}))
	require.Equal(t, webhooks.AnswerAmount, ask(id, &webhooks.Money{Minor: price, Currency: "USD"}))
	require.Equal(t, webhooks.AnswerExpired, ask(failed, euros))
	require.Equal(t, webhooks.AnswerUnknown, ask(payment.AttemptID{1}, euros))
	r.exec(t, wantCancel, id.String())
	require.Equal(t, webhooks.AnswerRefuse, ask(id, euros), "somebody has cancelled it")
}
