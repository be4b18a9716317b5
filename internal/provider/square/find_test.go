package square_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/fsm"
	"github.com/paylatch/paylatch/internal/gateway"
	"github.com/paylatch/paylatch/internal/payment"
)

// A payment is found among the payments since its attempt's creation, on any page of the list. If it was begun
// elsewhere, it may be a day younger.
func TestAPaymentIsFoundByItsReference(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	var made []payment.AttemptID
	for i, token := range []string{cardOK, cardOK, cardDeclined, cardOK, cardOK} {
		ch := charge(token)
		id := uuid.Must(uuid.NewV7())
		if i == 4 {
			binary.BigEndian.PutUint64(id[:8], uint64(time.Now().AddDate(0, 0, -1).UnixMilli())<<16|0x7000)
		}
		ch.Attempt, ch.IdempotencyKey = payment.AttemptID(id), "pay-"+string(rune('a'+i))
		made = append(made, ch.Attempt)
		_, err := c.Charge(t.Context(), ch)
		require.NoError(t, err)
		<-seen
	}
	for i, id := range made {
		o, err := c.Find(t.Context(), id)
		require.NoError(t, err)
		if i == 2 {
			require.Equal(t, fsm.EventFailed, o.Event)
			continue
		}
		require.Equal(t, fsm.EventSucceeded, o.Event)
		require.NotEmpty(t, o.ProviderPaymentID)
	}
	_, err := c.Find(t.Context(), payment.AttemptID(uuid.Must(uuid.NewV7())))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
}

// Square omits an empty list. Here the location has no payment since the attempt's creation.
func TestAnOmittedListHasNoPayment(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, newFake())
	_, err := c.Find(t.Context(), payment.AttemptID(uuid.Must(uuid.NewV7())))
	require.ErrorIs(t, err, gateway.ErrNoSuchPayment)
	_, err = says(t, 200, `{}`).Find(t.Context(), payment.AttemptID(uuid.Must(uuid.NewV7())))
	unknown(t, err) // it is not Square's
}

// A declined payment does not end the search: the customer may have paid by a later payment, on another page.
func TestALaterPaymentOfTheSameReferenceIsFound(t *testing.T) {
	t.Parallel()
	c, seen := serve(t, newFake())
	id := payment.AttemptID(uuid.Must(uuid.NewV7()))
	for i, token := range []string{cardDeclined, cardOK, cardOK, cardOK} {
		ch := charge(token)
		if ch.IdempotencyKey = "pay-" + string(rune('a'+i)); i == 0 || i == 3 {
			ch.Attempt = id
		}
		_, err := c.Charge(t.Context(), ch)
		require.NoError(t, err)
		<-seen
	}
	o, err := c.Find(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, fsm.EventSucceeded, o.Event)
}
