package endpoint_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/paylatch/paylatch/internal/events/endpoint"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

func TestSender(t *testing.T) {
	t.Parallel()
	t.Run("signs with each secret", signs)
	t.Run("keeps the order of a subject", keepsOrder)
	t.Run("stores any reason phrase", anyPhrase)
	t.Run("follows the schedule to the end", followsSchedule)
	t.Run("waits as Retry-After says", retryAfter)
	t.Run("delivers the wanted types only", types)
	t.Run("stops at 410", gone)
	t.Run("follows no redirect", redirect)
	t.Run("is fenced", fenced)
	t.Run("forgets what is not kept", purged)
	t.Run("reports what was deleted first", lost)
	t.Run("goes on after a panic", panics)
}

func signs(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	secrets := []string{secret("new"), secret("old")}
	v := receive(t, secrets, ok)
	s := e.service(t, e.options(t), endpoint.Endpoint{Name: "shop", URL: v.URL, Secrets: secrets, AllowPrivate: true})
	e.write(t, "a 1", "b 1")
	require.Negative(t, e.send(t, s.Senders()[0]))
	require.ElementsMatch(t, []string{"a 1", "b 1"}, v.got())
	require.Contains(t, v.bodies[uuid.NewSHA1(uuid.Nil, []byte("a 1")).String()], `"data":{"a":"<&>"}`)

	require.Negative(t, e.send(t, s.Senders()[0]))
	require.Len(t, v.got(), 2, "the cursor is behind them")
	st := e.status(t, s)
	require.Zero(t, st.Behind+st.Retries+st.Dead)
	require.True(t, st.Oldest.IsZero())
	require.NotNil(t, st.LastSuccess)
	require.Nil(t, st.LastFailure)
	require.Equal(t, strings.TrimPrefix(v.URL, "http://"), st.Host)
	require.EqualValues(t, 2, st.Cursor.Position)
	log, err := s.Attempts(t.Context(), "shop", 0, false, 10)
	require.NoError(t, err)
	require.Len(t, log, 2)
	require.Equal(t, http.StatusNoContent, log[0].Status)
	require.Equal(t, outbox.AttemptUpdated, log[0].Type)
	require.ElementsMatch(t, []outbox.Position{1, 2}, []outbox.Position{log[0].Position, log[1].Position})
	_, err = e.conn.Exec(t.Context(), "DELETE FROM outbox")
	require.NoError(t, err)
	log, err = s.Attempts(t.Context(), "shop", 0, false, 10)
	require.NoError(t, err)
	require.Len(t, log, 2)
	require.Empty(t, log[0].Type, "of an event that is not kept")
}

func keepsOrder(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, func(w http.ResponseWriter, m message, number int) {
		if m.Subject == "a" && m.Version == 1 && number <= 2 {
			http.Error(w, "not\x00 now\n", http.StatusBadGateway)
		}
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1", "b 1", "a 2", "b 2")
	e.fails(t, s, 5*time.Second)
	require.ElementsMatch(t, []string{"a 1", "b 1", "b 2"}, v.got())
	st := e.status(t, service)
	require.EqualValues(t, 2, st.Retries)
	require.Equal(t, "502 Bad Gateway: not now", st.LastError)
	require.Equal(t, e.clock().UTC(), st.Oldest.UTC())

	e.write(t, "a 3", "b 3")
	e.dueIn(t, time.Minute)
	require.Positive(t, e.send(t, s))
	require.Equal(t, "b 3", v.got()[3], "what is behind a retry is not tried")
	require.Len(t, v.got(), 4)

	e.dueIn(t, 0)
	e.fails(t, s, 5*time.Minute)
	e.dueIn(t, 0)
	require.Zero(t, e.send(t, s), "the next of the subject is due at once, or has been")
	for e.send(t, s) >= 0 {
	}
	require.Equal(t, []string{"a 1", "a 1", "a 2", "a 3"}, v.got()[4:])
	require.Zero(t, e.status(t, service).Retries)
	failed, err := service.Attempts(t.Context(), "shop", 0, true, 10)
	require.NoError(t, err)
	require.Len(t, failed, 2)
}

func followsSchedule(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dead := true
	v := receive(t, nil, func(w http.ResponseWriter, m message, _ int) {
		if dead && m.Version == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1", "a 2")
	for _, want := range endpoint.DefaultSchedule() {
		e.fails(t, s, want)
		e.dueIn(t, time.Minute)
		require.Positive(t, e.send(t, s), "it is not due yet")
		e.dueIn(t, 0)
	}
	require.LessOrEqual(t, e.send(t, s), time.Duration(0), "the next of the subject is due")
	require.Negative(t, e.send(t, s))
	require.Equal(t, append(repeat("a 1", 10), "a 2"), v.got())
	require.EqualValues(t, 1, e.status(t, service).Dead)

	dead = false
	id := uuid.NewSHA1(uuid.Nil, []byte("a 1"))
	unknown := uuid.New()
	err := service.RedeliverEvents(t.Context(), "shop", []uuid.UUID{id, unknown})
	require.Equal(t, &endpoint.UnknownError{IDs: []uuid.UUID{unknown}}, err)
	require.NoError(t, service.RedeliverEvents(t.Context(), "shop", []uuid.UUID{id}))
	require.Negative(t, e.send(t, s))
	require.Equal(t, "a 1", v.got()[11])
	require.Zero(t, e.status(t, service).Dead)
	require.ErrorIs(t, service.RedeliverEvents(t.Context(), "other", []uuid.UUID{id}), endpoint.ErrNotFound)
}

func repeat(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}

func retryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"120": 2 * time.Minute, "1": 5 * time.Second, "86400": time.Hour, "x": 5 * time.Second} {
		e := newEnv(t)
		_, s := e.sender(t, receive(t, nil, func(w http.ResponseWriter, _ message, _ int) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		e.write(t, "a 1")
		e.fails(t, s, want)
	}
	d, again := endpoint.Wait([]time.Duration{time.Minute}, 1, 0, 0)
	require.True(t, again)
	require.Equal(t, 54*time.Second, d)
	d, _ = endpoint.Wait([]time.Duration{time.Minute}, 1, 0, 1)
	require.Equal(t, 66*time.Second, d)
	_, again = endpoint.Wait([]time.Duration{time.Minute}, 2, time.Hour, 0)
	require.False(t, again)
}

func types(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, ok)
	wanted := to("shop", v)
	wanted.Types = []string{outbox.OrderPaid}
	s := e.service(t, e.options(t), wanted)
	e.write(t, "a 1")
	require.Negative(t, e.send(t, s.Senders()[0]))
	require.Empty(t, v.got())
	behind := func() (int64, bool) {
		list, err := s.List(t.Context())
		require.NoError(t, err)
		return list[0].Behind, list[0].Oldest.IsZero()
	}
	n, _ := behind()
	require.EqualValues(t, 1, n, "a write for each event of another type would be dear")
	require.NoError(t, s.Senders()[0].Keep(t.Context()))
	n, nothing := behind()
	require.Zero(t, n)
	require.True(t, nothing, "what it does not take is not undelivered")
}

func gone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	closed := true
	v := receive(t, nil, func(w http.ResponseWriter, _ message, _ int) {
		if closed {
			w.WriteHeader(http.StatusGone)
		}
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1", "a 2")
	e.send(t, s)
	e.write(t, "b 1")
	e.dueIn(t, 0)
	e.send(t, s)
	require.Equal(t, []string{"a 1"}, v.got())
	st := e.status(t, service)
	require.Equal(t, endpoint.Gone, st.State)
	require.EqualValues(t, 1, st.Behind)

	require.NoError(t, service.Register(t.Context()))
	require.Equal(t, endpoint.Gone, e.status(t, service).State, "the same address is still gone")
	closed = false
	moved := to("shop", v)
	moved.URL += "/new"
	service = e.service(t, e.options(t), moved)
	require.Equal(t, endpoint.Active, e.status(t, service).State)
	for range 2 {
		e.send(t, service.Senders()[0])
	}
	require.ElementsMatch(t, []string{"a 1", "a 2", "b 1"}, v.got()[1:])

	require.NoError(t, service.RedeliverAfter(t.Context(), "shop", outbox.Cursor{Position: 1}))
	e.send(t, service.Senders()[0])
	require.ElementsMatch(t, []string{"a 2", "b 1"}, v.got()[4:])
	require.ErrorIs(t, service.RedeliverAfter(t.Context(), "shop", outbox.Cursor{Position: 4}), outbox.ErrCursorInvalid)
	e.write(t, "c 1")
	require.ErrorIs(t, service.RedeliverAfter(t.Context(), "shop", outbox.Cursor{Position: 4}), endpoint.ErrAhead)
}

func redirect(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, func(w http.ResponseWriter, _ message, _ int) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1")
	e.send(t, s)
	require.Equal(t, []string{"a 1"}, v.got())
	require.Equal(t, "307 Temporary Redirect: redirects are not followed", e.status(t, service).LastError)
	a, err := service.Test(t.Context(), "shop")
	require.NoError(t, err)
	require.Equal(t, 307, a.Status)
	require.Equal(t, "shop 1", v.got()[1])
	require.Equal(t, endpoint.TestType, v.messages[1].Type)
}

// fenced sets the cursor back while a batch is under way.
func fenced(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var service *endpoint.Service
	once := true
	v := receive(t, nil, func(http.ResponseWriter, message, int) {
		if once {
			once = false
			if err := service.RedeliverAfter(t.Context(), "shop", outbox.Beginning()); err != nil {
				t.Errorf("redeliver: %v", err)
			}
		}
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1")
	err := s.Pass(t.Context())
	require.ErrorIs(t, err, lease.ErrLost)
	e.send(t, s)
	require.Equal(t, []string{"a 1", "a 1"}, v.got())
}

// purged has the first event of a subject purged while it waits.
func purged(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, func(w http.ResponseWriter, m message, _ int) {
		if m.Version == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	service, s := e.sender(t, v)
	e.write(t, "a 1")
	e.minute()
	e.write(t, "a 2")
	e.send(t, s)
	n, err := service.PurgeEvents(t.Context(), e.clock().Add(-30*time.Second), 10)
	require.NoError(t, err)
	require.Zero(t, n, "all is kept")
	e.purge(t, e.clock().Add(-30*time.Second), 1)
	e.minute()
	n, err = service.PurgeEvents(t.Context(), e.clock(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n, "the attempt, and the retry")
	require.EqualValues(t, 1, e.lostByShop(), "the retry was no dead letter")
	e.send(t, s)
	require.Equal(t, []string{"a 1", "a 2"}, v.got())
	require.Zero(t, e.status(t, service).Retries)
}

// lost has events deleted before the endpoint came to them.
func lost(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, ok)
	service, s := e.sender(t, v)
	e.write(t, "a 1", "b 1", "c 1")
	e.minute()
	e.write(t, "d 1")
	e.purge(t, e.clock(), 3)
	e.send(t, s)
	require.Equal(t, []string{"d 1"}, v.got())
	require.EqualValues(t, 3, e.lostByShop())
	e.send(t, s)
	require.EqualValues(t, 3, e.lostByShop(), "it is reported once")

	require.NoError(t, service.RedeliverAfter(t.Context(), "shop", outbox.Beginning()))
	e.send(t, s)
	require.Equal(t, []string{"d 1", "d 1"}, v.got())
	require.EqualValues(t, 3, e.lostByShop(), "all that is kept was wanted")

	e.write(t, "e 1")
	e.minute()
	e.purge(t, e.clock(), 2)
	e.send(t, s)
	require.EqualValues(t, 4, e.lostByShop(), "no event is kept")
	require.Zero(t, e.status(t, service).Behind)
}

// broken is a store that panics once.
type broken struct {
	endpoint.Store

	once sync.Once
}

func (b *broken) EndpointWork(ctx context.Context, l lease.Lease, w endpoint.Wanted) (endpoint.Work, error) {
	b.once.Do(func() { panic("the store") })
	return b.Store.EndpointWork(ctx, l, w)
}

// panics has a pass panic, and then a request.
func panics(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, ok)
	o := e.options(t)
	encode, once := o.Encode, sync.Once{}
	o.Encode = func(event outbox.Event) []byte {
		if event.Subject == "a" {
			once.Do(func() { panic("the encoder") })
		}
		return encode(event)
	}
	o.Store, o.Now = &broken{Store: e.store.Endpoints()}, time.Now
	logged := make(chan error, 10)
	o.Log = func(_ string, err error) { logged <- err }
	shop := to("shop", v)
	shop.Schedule = []time.Duration{time.Millisecond}
	s := e.service(t, o, shop).Senders()[0]
	s.Hasten()
	s.HastenPauses(10 * time.Millisecond)
	e.write(t, "a 1", "a 2", "b 1")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	require.Eventually(t, func() bool { return len(v.got()) == 3 }, soon, 10*time.Millisecond)
	cancel()
	running.Wait()
	v.inOrder(t)
	for _, want := range []string{"the store", "the encoder"} {
		failed, ok := errors.AsType[*lease.PanicError](<-logged)
		require.True(t, ok)
		require.Equal(t, want, failed.Value)
		require.Contains(t, string(failed.Stack), "endpoint_test.go")
	}
	require.Empty(t, logged)
}

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "198.18.0.1",
		"::1", "::", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::808:808",
		"2002:a00:1::", "2002:808:808::", "2001::1", "2001:db8::1", "fec0::1", "100::1",
	} {
		require.False(t, endpoint.IsPublic(netip.MustParseAddr(text)), text)
	}
	for _, text := range []string{"8.8.8.8", "100.63.255.255", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"} {
		require.True(t, endpoint.IsPublic(netip.MustParseAddr(text)), text)
	}
}

// TestPrivate delivers to private addresses without permission, one by its name.
func TestPrivate(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	v := receive(t, nil, ok)
	port := v.URL[strings.LastIndex(v.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "localhost", "shop.example"} {
		o := e.options(t)
		o.Resolver = resolverTo(t, [4]byte{127, 0, 0, 1})
		s, err := endpoint.NewService([]endpoint.Endpoint{{Name: "shop", URL: "http://" + host + port, Secrets: []string{secret("a")}}}, o)
		require.NoError(t, err)
		a, err := s.Test(t.Context(), "shop")
		require.NoError(t, err)
		require.Contains(t, a.Error, endpoint.ErrPrivateAddress.Error(), host)
		require.NotContains(t, a.Error, "http://", "the address of %s may hold a secret", host)
	}
	require.Empty(t, v.got())
	allowed := to("shop", v)
	allowed.URL = "http://shop.example" + port
	o := e.options(t)
	o.Resolver = resolverTo(t, [4]byte{127, 0, 0, 1})
	s, err := endpoint.NewService([]endpoint.Endpoint{allowed}, o)
	require.NoError(t, err)
	a, err := s.Test(t.Context(), "shop")
	require.NoError(t, err)
	require.Empty(t, a.Error)
	require.Len(t, v.got(), 1)
}
