package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/faults"
	"github.com/paylatch/paylatch/webhooks"
)

// TestClocksApart runs processes with clocks that are right, 90 s ahead and 90 s behind on one database. Leases and schedules
// use the database's clock, so no process takes a lease early or leaves its own for others.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	t.Run("under load", clocksUnderLoad)
	t.Run("what callers see", clocksOfCallers)
	t.Run("a retry to an endpoint", clocksOfEndpoints)
	t.Run("the doctor", clocksOfDoctor)
}

// clocksUnderLoad makes the provider's responses go wrong, and kills first the process whose clock is ahead and then the right
// one. The remaining processes take over their work.
func clocksUnderLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := &flights{flying: map[string]int{}}
	// Between the end of a call and of its lease a busy machine has the time to notice that the call has ended.
	short := []string{"PAYLATCH_IDEMPOTENCY_LEASE=25s", "PAYLATCH_PROVIDER_TIMEOUT=3s"}
	ahead, right, behind := r.serveOff(apart, short...), r.serve(short...), r.serveOff(-apart, short...)
	wrong := []faults.Fault{
		calls.watch, faults.When(everyNth(5, faults.Commands), faults.Lose), faults.When(everyNth(11, faults.Commands), faults.Hang),
		faults.When(everyNth(13, faults.Commands), faults.Cut), faults.When(everyNth(17, faults.Commands), faults.Answer(http.StatusBadGateway, "")),
	}
	hang := func(s *service) {
		r.gate.Break(calls.watch, faults.When(faults.Commands, faults.Hang))
		r.begin(t, s)
		r.gate.Break(wrong...)
	}
	hang(behind) // the others see its lease for as long as the call hangs
	loads := []*load{newLoad(t, ahead), newLoad(t, right), newLoad(t, behind)}
	for _, l := range loads {
		l.pace = 50 * time.Millisecond
		l.run(t, 2)
	}
	for i, dies := range []*service{ahead, right} {
		for _, l := range loads[i:] {
			before := l.intents()
			eventually(t, "some load", func() bool { return l.intents() > before+20 })
		}
		hang(dies)
		dies.kill()
		loads[i].stop()
		clear(loads[i].told) // that the dead one broke connections is no answer
		r.endOfPending(t)
	}
	loads[2].stop()
	r.gate.Mend()
	r.endOfPending(t)
	for _, l := range loads {
		l.service = behind
		l.kept(t, r)
		require.NotZero(t, l.seen["webhook 200 "])
	}
	require.Empty(t, calls.crossings(), "two processes called for one operation at once")
	r.verifies(t)
}

// begin makes a service send a charge, and does not wait for its result.
func (r *rig) begin(t *testing.T, s *service) {
	t.Helper()
	c, ctx := s.bluntly(token("u1", "customer")), t.Context()
	order := s.customer().order(t)
	go c.pay(ctx, order, unique("pay"), "tok_success")
	eventually(t, "a charge", func() bool {
		return one[int](t, r, `SELECT count(*) FROM operations WHERE order_id = $1 AND sends > 0`, order) == 1
	})
}

// endOfPending waits until each attempt that is under way now has ended.
func (r *rig) endOfPending(t *testing.T) {
	t.Helper()
	pending := column[string](t, r, `SELECT attempt_id::text FROM payment_attempts WHERE status = 'pending'`)
	eventually(t, "an end of what was begun", func() bool {
		return one[bool](t, r, `SELECT NOT EXISTS (SELECT FROM payment_attempts WHERE status = 'pending' AND attempt_id = ANY ($1::uuid[]))`, pending)
	})
}

// clocksOfCallers: a pay is sent at once by each process, and its copies share it. The age of a webhook and the life of a token are by
// the clock of the process that reads them.
func clocksOfCallers(t *testing.T) {
	t.Parallel()
	// The tolerance of a webhook's age is five minutes. Each check below has more than a minute for its request.
	const apart, tolerated = 150 * time.Second, 225 * time.Second
	r := newRig(t)
	right, ahead, behind := r.serve(), r.serveOff(apart), r.serveOff(-apart)
	all := []*service{right, ahead, behind}
	for i, s := range all {
		sent := r.gate.Count(charges)
		c, key := s.customer(), unique("key")
		order := c.order(t)
		paid := c.pay(t.Context(), order, key, "tok_success").attempt(t, http.StatusCreated)
		require.Equal(t, "succeeded", paid.Status, "a permit does not end early")
		for _, copied := range atOnce(len(all), func(i int) answer { return all[i].customer().pay(t.Context(), order, key, "tok_success") }) {
			require.Equal(t, paid.ID, copied.attempt(t, http.StatusCreated).ID)
		}
		require.Equal(t, sent+1, r.gate.Count(charges))
		r.charged(t, paid.ID, 1999)
		next := all[(i+1)%len(all)]
		r.hooks.Lead(next.base)
		require.Equal(t, "succeeded", c.settled(t, c.pay(t.Context(), c.order(t), unique("key"), "tok_async_success").attempt(t, http.StatusCreated).ID).Status)
		require.Equal(t, http.StatusOK, next.as(paid.StatusToken).read(t.Context(), paid.ID).status, "what one signs another one takes")
	}

	signed := func(s *service, age time.Duration) string {
		event := unique("evt")
		body := chargeSucceeded(event, unique("ch"), unique("of"))
		a := again(t.Context(), false, func() answer {
			d := webhooks.Delivery{Method: http.MethodPost, Header: http.Header{"Webhook-Id": {event}}, ReceivedAt: time.Now().Add(-age), Body: []byte(body)}
			require.NoError(t, partner(t).Sign(&d))
			return s.post(t.Context(), "partner", d)
		})
		return fmt.Sprint(a.status, " ", a.peekProblem().Code)
	}
	id := right.customer()
	read := id.pay(t.Context(), id.order(t), unique("key"), "tok_success").attempt(t, http.StatusCreated).ID
	shown := func(s *service, claims string) string {
		a := s.as(jwt("HS256", claims, secret)).read(t.Context(), read)
		return fmt.Sprint(a.status, " ", a.peekProblem().Detail)
	}
	for _, s := range all {
		young := strings.Replace(claims("u1", time.Hour, "customer"), "{", fmt.Sprintf(`{"nbf":%d,`, time.Now().Unix()), 1)
		require.Equal(t, "200 ", signed(s, 0))
		require.Equal(t, map[*service]string{ahead: "400 webhook-too-old"}[s], strings.TrimPrefix(signed(s, tolerated), "200 "))
		require.Equal(t, map[*service]string{behind: "400 webhook-too-new"}[s], strings.TrimPrefix(signed(s, -tolerated), "200 "))
		require.Equal(t, s == ahead, strings.Contains(shown(s, claims("u1", 100*time.Second, "customer")), "the token has expired"))
		require.Equal(t, s == behind, strings.HasPrefix(shown(s, claims("u1", -time.Minute, "customer")), "200 "), "an hour more, or less, of a token")
		require.Equal(t, s == behind, strings.HasPrefix(shown(s, young), "401 "))
	}
	r.consistent(t)
	r.verifies(t)
}

// clocksOfEndpoints: when an event is sent again does not depend on which process failed to send it.
func clocksOfEndpoints(t *testing.T) {
	t.Parallel()
	r, v := newRig(t), newReceiver(t)
	told := fmt.Sprintf(`PAYLATCH_ENDPOINTS=[{"name":"shop","url":%q,"secrets":[%q],"allow_private":true,"schedule":[%s"3s"]}]`, v.URL, stockistSecret, strings.Repeat(`"3s",`, 49))
	ahead := r.serveOff(apart, told)
	c := ahead.customer()
	c.pay(t.Context(), c.order(t), unique("pay"), "tok_success").attempt(t, http.StatusCreated)
	eventually(t, "a try that fails", func() bool { return one[int](t, r, `SELECT count(*) FROM endpoint_retries WHERE tries > 0`) > 0 })
	code, _ := ahead.stop(t, syscall.SIGTERM)
	require.Zero(t, code)
	v.repair()
	r.serveOff(-apart, told)
	eventually(t, "the next try, by another process", func() bool {
		ids, _ := v.got()
		return len(ids) > 0
	})
}

// clocksOfDoctor: the difference of 90 s is found, to the database and to the provider.
func clocksOfDoctor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	program, err := buildApart()
	require.NoError(t, err)
	printed, code := r.doctorOf(program, r.sandbox, clockOff(-apart))
	require.Equal(t, 1, code)
	// A slow response makes the difference that is certain smaller: 90 s less the time that it took.
	const certain = `(1m\d+|[3-5]\d)(\.\d+)?s`
	require.Regexp(t, `the server's clock and this machine's clock differ by at least `+certain, printed)
	require.Regexp(t, `the provider's clock and this machine's clock differ by about `+certain, printed)
}
