package rejected_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/backoffice/rejected"
	"github.com/paylatch/paylatch/internal/payment"
	"github.com/paylatch/paylatch/webhooks"
)

// TestVerifyAgain takes in the deliveries that match the right secret, with the time of their arrival.
func TestVerifyAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	wrong := e.by(account(t, "wrong"))
	came := e.clock()
	for i := range 40 { // more than a portion
		keep(wrong, "acc", e.delivery(fmt.Sprintf("evt_%d", i), "right", 0))
	}
	keep(wrong, "acc", e.delivery("evt_forged", "another", 0))
	keep(wrong, "acc", e.delivery("evt_old", "right", 10*time.Minute))
	require.NoError(t, wrong.Flush(t.Context()))
	e.verifiesAll(wrong)
	require.Empty(t, e.taken, "nothing has changed")
	require.EqualValues(t, 42, e.kept())

	e.after(20 * time.Hour)
	right := e.by(account(t, "right"))
	e.verifiesAll(right)
	require.Len(t, e.taken, 40)
	require.Equal(t, 40, e.recovered["acc"])
	for _, r := range e.taken {
		require.Equal(t, came, r.At, "as old as it was then")
		require.Equal(t, payment.TakenLater, r.Headers[payment.TakenHeader])
		require.NotEmpty(t, r.Headers["webhook-signature"])
		require.Equal(t, webhooks.KindSucceeded, r.Event.Kind)
	}
	require.EqualValues(t, 2, e.kept(), "the others stay")

	e.taken = nil
	e.verifiesAll(right)
	e.verifiesAll(e.by(account(t, "wrong")))
	require.Empty(t, e.taken)
	e.verifiesAll(e.by(account(t, "another")))
	require.Equal(t, []string{"evt_forged"}, e.ids(), "each configuration tries each once")
}

// TestVerifyAgainAfterAChange changes the secret between the rejection of a delivery and its storage: the delivery is tried with
// the new secret.
func TestVerifyAgainAfterAChange(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.by(account(t, "wrong"))
	keep(d, "acc", e.delivery("evt_1", "right", 0))
	d.Accounts.Replace(account(t, "right"))
	require.NoError(t, d.Flush(t.Context()))
	e.verifiesAll(d)
	require.Equal(t, []string{"evt_1"}, e.ids())
}

// TestVerifyAgainDuringAChange changes the secret while a delivery is tried with the old secret: the delivery is not noted as
// tried with the new secret.
func TestVerifyAgainDuringAChange(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := e.by(account(t, "wrong"))
	keep(d, "acc", e.delivery("evt_1", "right", 0))
	require.NoError(t, d.Flush(t.Context()))
	changing := rejected.Account{Verifier: changing{verifier(t, "old"), func() { d.Accounts.Replace(account(t, "right")) }}, Fingerprint: []byte("old")}
	d.Accounts.Replace(map[string]rejected.Account{"acc": changing})
	e.verifiesAll(d)
	e.verifiesAll(d)
	require.Equal(t, []string{"evt_1"}, e.ids())
}

// changing changes the configuration with each try.
type changing struct {
	webhooks.Verifier

	change func()
}

func (c changing) Verify(ctx context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	c.change()
	return c.Verifier.Verify(ctx, d)
}

// TestVerifyAgainOnce has two processes with different configurations: neither undoes the other's work.
func TestVerifyAgainOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	accounts := account(t, "a")
	tries := &trying{Verifier: verifier(t, "b")}
	accounts["acc"] = rejected.Account{Verifier: tries, Fingerprint: []byte("b")}
	one, two := e.by(account(t, "a")), e.by(accounts)
	keep(one, "acc", e.delivery("evt_1", "c", 0))
	require.NoError(t, one.Flush(t.Context()))
	for range 3 {
		e.verifiesAll(two)
		e.verifiesAll(one)
	}
	require.Equal(t, 1, tries.n)
}

// trying counts the tries of a verifier and, with err, returns that.
type trying struct {
	webhooks.Verifier

	n   int
	err error
}

func (v *trying) Verify(ctx context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	v.n++
	if v.err != nil {
		return nil, v.err
	}
	return v.Verifier.Verify(ctx, d)
}

func TestVerifyAgainLater(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(e *env, v *trying, err error){
		"certificate": func(_ *env, v *trying, err error) {
			if v.err = err; err != nil {
				v.err = webhooks.ErrUnavailable
			}
		},
		"intake": func(e *env, _ *trying, err error) { e.takeErr = err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			v := &trying{Verifier: verifier(t, "right")}
			d := e.by(map[string]rejected.Account{"acc": {Verifier: v, Fingerprint: []byte("right")}})
			wrong := e.by(account(t, "wrong"))
			keep(wrong, "acc", e.delivery("evt_1", "right", 0))
			require.NoError(t, wrong.Flush(t.Context()))
			fail(e, v, payment.ErrUnavailable)
			_, err := d.VerifyAgain(t.Context())
			require.Error(t, err)
			require.Empty(t, e.taken)
			fail(e, v, nil)
			e.verifiesAll(d) // ends the pass
			e.verifiesAll(d)
			require.Equal(t, []string{"evt_1"}, e.ids())
			require.Zero(t, e.kept())
		})
	}
}

// panicking panics at a delivery.
type panicking struct{ webhooks.Verifier }

func (panicking) Verify(context.Context, webhooks.Delivery) ([]webhooks.Event, error) { panic("odd") }

func TestVerifyAgainRefused(t *testing.T) {
	t.Parallel()
	unsigned := &unsigned{verifier(t, "right")}
	for name, tt := range map[string]struct {
		verifier webhooks.Verifier
		take     error
	}{
		"panic":    {panicking{}, nil},
		"unsigned": {unsigned, nil},
		"replayed": {verifier(t, "right"), payment.ErrDeliveryReplayed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.takeErr = tt.take
			wrong := e.by(account(t, "wrong"))
			keep(wrong, "acc", e.delivery("evt_1", "right", 0))
			require.NoError(t, wrong.Flush(t.Context()))
			d := e.by(map[string]rejected.Account{"acc": {Verifier: tt.verifier, Fingerprint: []byte("new")}})
			_, err := d.VerifyAgain(t.Context())
			require.Equal(t, name == "panic", errors.As(err, new(*payment.PanicError)), err)
			e.takeErr = nil
			e.verifiesAll(d)
			e.verifiesAll(d)
			require.Empty(t, e.taken, "it is not tried by this configuration again")
			require.EqualValues(t, 1, e.kept())
		})
	}
}

// unsigned takes anything for an unsigned delivery.
type unsigned struct{ webhooks.Verifier }

func (unsigned) Verify(context.Context, webhooks.Delivery) ([]webhooks.Event, error) {
	return []webhooks.Event{{ID: "evt_1", SecretIndex: -1}}, nil
}

// TestVerifyAgainAtAnotherAddress has a kind that signs the address: a public URL that was wrong is corrected.
func TestVerifyAgainAtAnotherAddress(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	wrong := e.by(account(t, "wrong"))
	d := e.delivery("evt_1", "right", 0)
	d.URL, d.Topic = "https://inside:8080/webhooks/acc/pay?a=1", "pay"
	keep(wrong, "acc", d)
	require.NoError(t, wrong.Flush(t.Context()))
	seen := &seeing{Verifier: verifier(t, "right")}
	e.verifiesAll(e.by(map[string]rejected.Account{"acc": {Verifier: seen, PublicURL: "https://shop.example/hooks", Fingerprint: []byte("new")}}))
	require.Equal(t, "https://shop.example/hooks/pay?a=1", seen.url)
	require.Len(t, e.taken, 1)
}

type seeing struct {
	webhooks.Verifier

	url string
}

func (v *seeing) Verify(ctx context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	v.url = d.URL
	return v.Verifier.Verify(ctx, d)
}

// picky leaves some deliveries undecided.
type picky struct{ webhooks.Verifier }

func (v picky) Verify(ctx context.Context, d webhooks.Delivery) ([]webhooks.Event, error) {
	if strings.HasPrefix(d.Header.Get("Webhook-Id"), "evt_odd") {
		return nil, webhooks.ErrUnavailable
	}
	return v.Verifier.Verify(ctx, d)
}

// TestVerifyAgainBehind has more deliveries that can't be decided on than are verified at a time: they don't keep the others from their turn.
func TestVerifyAgainBehind(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	wrong := e.by(account(t, "wrong"))
	for i := range 40 {
		keep(wrong, "acc", e.delivery(fmt.Sprintf("evt_odd_%d", i), "right", 0))
	}
	e.after(time.Second)
	keep(wrong, "acc", e.delivery("evt_1", "right", 0))
	require.NoError(t, wrong.Flush(t.Context()))
	d := e.by(map[string]rejected.Account{"acc": {Verifier: picky{verifier(t, "right")}, Fingerprint: []byte("right")}})
	for range 2 {
		_, err := d.VerifyAgain(t.Context())
		require.ErrorIs(t, err, webhooks.ErrUnavailable)
	}
	require.Equal(t, []string{"evt_1"}, e.ids())
	require.EqualValues(t, 40, e.kept())
}
