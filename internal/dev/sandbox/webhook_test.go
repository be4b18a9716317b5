package sandbox_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/dev/sandbox"
)

func TestWebhookBody(t *testing.T) {
	t.Parallel()
	r, rec := startWithReceiver(t, sandbox.Options{})
	c := r.pay(t, "key-1", order("att-1", "tok_success"))
	got := rec.gets(t, "charge.succeeded")[0]
	require.JSONEq(t, `{"id":"`+got.ID+`","type":"charge.succeeded","created":"`+got.Created+`","data":{"charge_id":"`+c.ID+
		`","refund_id":null,"reference":"att-1","amount":1999,"currency":"EUR","failure_code":null}}`, got.raw)
	require.Regexp(t, `^evt_[0-9a-f]{32}$`, got.ID)
	_, err := time.Parse("2006-01-02T15:04:05.000000Z", got.Created)
	require.NoError(t, err)
}

func TestWebhookIsSentUntilReceived(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	answers := []int{http.StatusServiceUnavailable, http.StatusFound, http.StatusGone, http.StatusNoContent}
	var tries atomic.Int32
	bodies := make(chan string, len(answers))
	rec.hook = func(a arrival) int {
		bodies <- a.raw
		return answers[tries.Add(1)-1]
	}
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret})
	r.pay(t, "key-1", order("att-1", "tok_success"))
	rec.gets(t, "charge.succeeded")
	require.Equal(t, int32(4), tries.Load())
	same := <-bodies
	for range 3 {
		require.Equal(t, same, <-bodies)
	}
}

func TestWebhookFirst(t *testing.T) {
	t.Parallel()
	delays := quick()
	delays.WebhookFirst = patience
	r, rec := startWithReceiver(t, sandbox.Options{Delays: delays})
	r.pay(t, "key-1", order("att-1", "tok_webhook_first"))
	require.Equal(t, []string{"charge.succeeded"}, rec.types())
}

func TestWebhookFirstBounded(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	rec.hook = func(arrival) int { return http.StatusServiceUnavailable }
	delays := quick()
	delays.WebhookFirst = 30 * time.Millisecond
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret, Delays: delays})
	require.Equal(t, "succeeded", r.pay(t, "key-1", order("att-1", "tok_webhook_first")).Status)
	require.Empty(t, rec.all())
}

func TestTwiceDeliveries(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	both := make(chan struct{})
	var here atomic.Int32
	rec.hook = func(arrival) int {
		if here.Add(1) == 2 {
			close(both)
		}
		<-both // the first is answered only when the second is here, too
		return http.StatusOK
	}
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret})
	c := r.pay(t, "key-1", order("att-1", "tok_twice"))
	all := rec.gets(t, "charge.succeeded", "charge.succeeded", "charge.succeeded")
	require.Equal(t, all[0].raw, all[1].raw)
	require.Equal(t, all[0].raw, all[2].raw)
	require.False(t, all[2].began.Before(all[0].ended), "the third comes after one of the two")

	r.post(t, "/v1/charges/"+c.ID+"/refunds", "key-2", "")
	require.Eventually(t, func() bool { return len(rec.all()) == 6 }, patience, tick)
}

func TestDisorderDeliversSecondFirst(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	var refusals atomic.Int32
	rec.hook = func(a arrival) int {
		if a.Type == "charge.succeeded" && refusals.Add(1) < 4 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret})
	r.pay(t, "key-1", order("att-1", "tok_disorder"))
	all := rec.gets(t, "charge.succeeded", "charge.authorized")
	require.Less(t, all[1].Created, all[0].Created, "created tells the true order")
}

func TestDeliverEventsIndependently(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	release := make(chan struct{})
	rec.hook = func(a arrival) int {
		if a.Data.Reference == "stuck" {
			<-release
		}
		return http.StatusOK
	}
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret})
	r.pay(t, "key-1", order("stuck", "tok_success"))
	for i := range 20 {
		r.pay(t, "key-x"+string(rune('a'+i)), order("free", "tok_success"))
	}
	require.Eventually(t, func() bool { return len(rec.all()) == 20 }, patience, tick)
	close(release)
	require.Eventually(t, func() bool { return len(rec.all()) == 21 }, patience, tick)
}

func TestDeliverRetriesAfterTimeout(t *testing.T) {
	t.Parallel()
	rec := newReceiver(t)
	release := make(chan struct{})
	var tries atomic.Int32
	rec.hook = func(arrival) int {
		if tries.Add(1) == 1 {
			<-release
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	delays := quick()
	delays.Timeout = 50 * time.Millisecond
	r := start(t, sandbox.Options{WebhookURL: rec.url, WebhookSecret: secret, Delays: delays})
	r.pay(t, "key-1", order("att-1", "tok_success"))
	require.Eventually(t, func() bool { return len(rec.all()) > 0 }, patience, tick)
	close(release)
}

func TestNewChecksOptions(t *testing.T) {
	t.Parallel()
	_, err := sandbox.New(sandbox.Options{WebhookURL: "http://127.0.0.1:1/"})
	require.ErrorContains(t, err, "webhook secret")
	_, err = sandbox.New(sandbox.Options{WebhookURL: "no address", WebhookSecret: secret})
	require.ErrorContains(t, err, "webhook URL")
}
