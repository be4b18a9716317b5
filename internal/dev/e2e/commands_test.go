package e2e_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
)

// command is something that is done to an attempt, by the provider.
type command struct {
	path, body string
	headers    []string
	// of is how the attempt was paid.
	of string
	// answers is the status code, status the attempt's status in the end, moved the ledger's entries then.
	answers int
	status  string
	moved   []string
}

func commands() map[string]command {
	merchant := []string{"Authorization: Bearer " + token("shop", "service"), "On-Behalf-Of: u1"}
	return map[string]command{
		"confirm": {
			path: "confirm", body: `{"amount":1500}`, headers: merchant, of: `{"payment_method":{"token":"tok_success"},"capture":"manual"}`,
			answers: http.StatusOK, status: "succeeded", moved: []string{"charge 1500"},
		},
		"cancel": {
			path: "cancel", body: `{}`, of: `{"payment_method":{"token":"tok_never"}}`,
			answers: http.StatusOK, status: "failed",
		},
		"cancel an authorised one": {
			path: "cancel", body: `{}`, headers: merchant, of: `{"payment_method":{"token":"tok_success"},"capture":"manual"}`,
			answers: http.StatusOK, status: "failed",
		},
		"refund": {
			path: "refunds", body: `{"amount":1200}`, headers: merchant, of: `{"payment_method":{"token":"tok_success"}}`,
			answers: http.StatusCreated, status: "succeeded", moved: []string{"charge 1999", "refund 1200"},
		},
	}
}

func (c command) on(t *testing.T, s *service) (attempt, func(s *service) answer) {
	t.Helper()
	u := s.customer()
	a := u.backend().send(t.Context(), http.MethodPost, "/v1/orders/"+u.order(t)+"/pay", c.of, "Idempotency-Key: "+unique("pay")).attempt(t, http.StatusCreated)
	headers := append([]string{"Idempotency-Key: " + unique("command")}, c.headers...)
	return a, func(s *service) answer {
		return s.customer().send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/"+c.path, c.body, headers...)
	}
}

// done requires that a command was carried out, once.
func (c command) done(t *testing.T, r *rig, s *service, a attempt) {
	t.Helper()
	require.Equal(t, c.status, s.customer().settled(t, a.ID).Status)
	eventually(t, "no refund under way", func() bool {
		return len(column[string](t, r, `SELECT status::text FROM refunds WHERE attempt_id = $1 AND status <> 'succeeded'`, a.ID)) == 0
	})
	var moved []string
	for _, m := range r.ledger(t, a.ID) {
		moved = append(moved, m.Kind+" "+strconv.FormatInt(m.Amount, 10))
	}
	require.Equal(t, c.moved, moved)
	require.Empty(t, column[string](t, r, `SELECT kind FROM discrepancies`))
	r.told(t, s.customer().read(t.Context(), a.ID).attempt(t, http.StatusOK))
}

// TestCommandsPressedTwice reach the provider once.
func TestCommandsPressedTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	machines := []*service{r.serve(leftAlone), r.serve(leftAlone)}
	for name, c := range commands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, press := c.on(t, machines[0])
			answers := atOnce(20, func(i int) answer { return press(machines[i%2]) })
			for _, got := range answers {
				got.is(t, c.answers)
			}
			oneCreated(t, answers)
			c.done(t, r, machines[0], a)
			again := press(machines[1])
			again.is(t, c.answers)
			again.result(t, "reused")
		})
	}
}

// TestKilledDuringACommand: the service dies after the provider has done it.
func TestKilledDuringACommand(t *testing.T) {
	t.Parallel()
	for name, c := range commands() {
		for _, by := range []string{"reconciler", "retry"} {
			t.Run(name+", ended by the "+by, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.hooks.shut()
				s := r.serve("PAYLATCH_RECONCILE_EVERY=1h") // it would be in the command's way
				a, press := c.on(t, s)
				held := r.hold(t, (*faults.Hold).After)
				lost := make(chan answer, 1)
				go func() { lost <- press(s) }()
				await(t, held)
				s.kill()
				<-lost
				r.leasesEnd(t)
				every := "PAYLATCH_RECONCILE_EVERY=100ms"
				if by == "retry" {
					every = "PAYLATCH_RECONCILE_EVERY=1h"
				}
				s = r.serve(every)
				if by == "retry" {
					press(s).is(t, c.answers)
				}
				c.done(t, r, s, a)
				press(s).is(t, c.answers)
				c.done(t, r, s, a)
			})
		}
	}
}

// TestTwoRefundsOfTooMuch: pending refunds reduce the refundable amount.
func TestTwoRefundsOfTooMuch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	machines := []*service{r.serve(), r.serve()}
	c := commands()["refund"]
	for range 10 {
		a, _ := c.on(t, machines[0])
		answers := atOnce(2, func(i int) answer {
			return machines[i].customer().send(t.Context(), http.MethodPost, "/v1/payment-attempts/"+a.ID+"/refunds", c.body,
				append([]string{"Idempotency-Key: " + unique("refund")}, c.headers...)...)
		})
		if answers[0].status != http.StatusCreated {
			answers[0], answers[1] = answers[1], answers[0]
		}
		answers[0].is(t, http.StatusCreated)
		answers[1].problem(t, http.StatusConflict, "refund-exceeds-payment")
		c.done(t, r, machines[0], a)
	}
}
