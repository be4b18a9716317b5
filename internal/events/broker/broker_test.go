package broker_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/events/broker"
	"github.com/paylatch/paylatch/internal/events/lease"
	"github.com/paylatch/paylatch/internal/events/outbox"
)

// TestPublish publishes only events from after a stream's registration.
func TestPublish(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		s.up(t)
		e := newEnv(t)
		e.generate(t, 3, 0, 2)
		e.number(t)
		before := e.feed(t)
		p := e.start(t, s.open)
		waits(t, func() bool { return p.status(t).LastSuccess != nil }, "it connects")
		e.generate(t, 40, 2, 3)
		waits(t, func() bool { return s.count(t) == 120 && e.published(t, p) }, "all are published")
		p.end()
		all := s.stored(t)
		want := e.feed(t)
		for id := range before {
			delete(want, id)
		}
		require.Len(t, all, 120)
		for _, m := range all {
			require.Equal(t, want[m.id], m.body)
			require.Contains(t, m.body, `"type":"`+m.kind+`"`)
			if m.key != "" {
				require.Regexp(t, `"subject":"[oa]`+m.key[1:]+`"`, m.body, "the key is the order")
			}
		}
		st := p.status(t)
		require.False(t, st.Failing())
		require.True(t, st.Oldest.IsZero())
		for _, err := range p.failures() {
			testdb.Fails(t, "publish")(err)
		}

		p = e.start(t, s.open)
		e.generate(t, 1, 5, 1)
		waits(t, func() bool { return s.count(t) >= 121 }, "a later process goes on behind the cursor")
		p.end()
		require.Len(t, s.stored(t), 121)
	})
}

// TestRestart takes the broker away in the middle of the events, twice.
func TestRestart(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		s.up(t)
		e := newEnv(t)
		p := e.start(t, s.open)
		for i := range 3 {
			e.generate(t, 100, 20*i, 20)
			waits(t, func() bool { return s.count(t) > 2000*i }, "some are published")
			if i < 2 {
				s.down(t)
				s.up(t)
			}
		}
		waits(t, func() bool { return e.published(t, p) }, "all are published")
		p.end()
		all := s.stored(t)
		repeats := requireOrder(t, all)
		e.requireAll(t, all)
		if s.once() {
			require.Zero(t, repeats)
		}
		t.Logf("%d repeats, %d failures: %v", repeats, len(p.failures()), p.failures())
	})
}

// TestAwayAtStart has no broker at first.
func TestAwayAtStart(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		e := newEnv(t)
		p := e.start(t, s.open)
		e.generate(t, 5, 0, 4)
		waits(t, func() bool { return p.status(t).Failing() }, "it fails")
		st := p.status(t)
		require.NotNil(t, st.LastFailure)
		require.Nil(t, st.LastSuccess)
		waits(t, func() bool { return len(p.failures()) >= 3 }, "it is tried again")
		s.up(t)
		waits(t, func() bool { return e.published(t, p) }, "all are published")
		p.end()
		require.False(t, p.status(t).Failing())
		all := s.stored(t)
		requireOrder(t, all)
		e.requireAll(t, all)
	})
}

// TestKilledBeforeRecord kills a process between the broker's acknowledgement and the record of the cursor.
func TestKilledBeforeRecord(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		s.up(t)
		e := newEnv(t)
		first := e.start(t, s.open, diesAt(1))
		e.generate(t, 30, 0, 10)
		<-first.store.died
		first.kill()
		e.leasesEnd(t)
		require.NotZero(t, s.count(t), "the broker has what was not recorded")
		second := e.start(t, s.open)
		require.NotZero(t, second.status(t).Behind)
		waits(t, func() bool { return e.published(t, second) }, "all are published")
		second.end()
		all := s.stored(t)
		repeats := requireOrder(t, all)
		e.requireAll(t, all)
		if s.once() {
			require.Len(t, all, 300, "each id once")
		} else {
			require.NotZero(t, repeats)
		}
	})
}

// TestTakeover has two processes. The process with the lease dies, and the other goes on.
func TestTakeover(t *testing.T) {
	t.Parallel()
	sites(t, func(t *testing.T, s site) {
		t.Helper()
		s.up(t)
		e := newEnv(t)
		one, other := e.start(t, s.open, diesAt(2)), e.start(t, s.open, diesAt(2))
		e.generate(t, 20, 0, 5)
		var dead, alive *process
		waits(t, func() bool { return e.published(t, one) }, "the first are published")
		e.generate(t, 20, 5, 20)
		select {
		case <-one.store.died:
			dead, alive = one, other
		case <-other.store.died:
			dead, alive = other, one
		case <-time.After(wait):
			require.Fail(t, "none of the two has died")
		}
		alive.store.fatal.Store(0)
		dead.kill()
		e.leasesEnd(t)
		waits(t, func() bool { return e.published(t, alive) }, "the other one goes on")
		alive.end()
		all := s.stored(t)
		repeats := requireOrder(t, all)
		e.requireAll(t, all)
		require.LessOrEqual(t, repeats, broker.BatchSize)
	})
}

// TestFenced has a lease end while another process takes it.
func TestFenced(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	store := e.store.Streams()
	require.NoError(t, store.RegisterStreams(t.Context(), []string{"jobs", "other"}))
	e.generate(t, 1, 0, 3)
	e.number(t)
	old, err := store.TakeStream(t.Context(), "jobs", time.Minute)
	require.NoError(t, err)
	_, err = store.TakeStream(t.Context(), "jobs", time.Minute)
	require.ErrorIs(t, err, lease.ErrHeld)
	require.NoError(t, store.RecordPublished(t.Context(), old, broker.Result{Position: 2, At: time.Now(), Succeeded: true}))
	_, err = e.conn.Exec(t.Context(), "UPDATE streams SET lease_until = now() - interval '1 second' WHERE name = 'jobs'")
	require.NoError(t, err)
	l, err := store.TakeStream(t.Context(), "jobs", time.Minute)
	require.NoError(t, err)

	require.ErrorIs(t, store.RecordPublished(t.Context(), old, broker.Result{Position: 3, At: time.Now()}), lease.ErrLost)
	require.ErrorIs(t, store.RenewStream(t.Context(), old, time.Minute), lease.ErrLost)
	_, err = store.StreamWork(t.Context(), old, 10)
	require.ErrorIs(t, err, lease.ErrLost)
	w, err := store.StreamWork(t.Context(), l, 10)
	require.NoError(t, err)
	require.EqualValues(t, 2, w.Position)
	require.Len(t, w.Events, 1)
	require.NoError(t, store.RecordPublished(t.Context(), l, broker.Result{Position: 1, At: time.Now(), Failure: "x"}))
	w, err = store.StreamWork(t.Context(), l, 10)
	require.NoError(t, err)
	require.EqualValues(t, 2, w.Position, "the cursor does not move back")

	require.NoError(t, store.RegisterStreams(t.Context(), []string{"jobs", "late"}))
	list, err := store.StreamStatuses(t.Context(), []string{"jobs", "late", "other"})
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0, 3}, []int64{list[0].Behind, list[1].Behind, list[2].Behind}, "a new stream begins at the head, a known one stays")
	require.True(t, list[0].Failing())
}

// TestKafkaErrors has a cluster cut connections and answer produce requests with errors. The client repeats after some errors.
func TestKafkaErrors(t *testing.T) {
	t.Parallel()
	s := newKafka(t)
	s.up(t)
	e := newEnv(t)
	var requests atomic.Int32
	s.cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		s.cluster.KeepControl()
		request, ok := r.(*kmsg.ProduceRequest)
		if !ok {
			return nil, nil, false
		}
		number := requests.Add(1)
		if number > 60 {
			return nil, nil, false
		}
		switch number % 6 {
		case 1:
			return refuse(request, kerr.MessageTooLarge), nil, true
		case 3:
			return refuse(request, kerr.NotLeaderForPartition), nil, true
		case 5:
			return nil, errRefused, true
		}
		return nil, nil, false
	})
	p := e.start(t, s.open)
	e.generate(t, 20, 0, 10)
	waits(t, func() bool { return e.published(t, p) }, "all are published")
	p.end()
	all := s.stored(t)
	repeats := requireOrder(t, all)
	e.requireAll(t, all)
	require.NotEmpty(t, p.failures())
	require.ErrorIs(t, errors.Join(p.failures()...), kerr.MessageTooLarge)
	t.Logf("%d requests, %d failures, %d repeats", requests.Load(), len(p.failures()), repeats)
}

// TestKafkaRefuses has the first of an order's messages refused for good, by the cluster and by the client: what follows of the
// order is not stored.
func TestKafkaRefuses(t *testing.T) {
	t.Parallel()
	s := newKafka(t)
	s.up(t)
	b, err := s.Open(t.Context())
	require.NoError(t, err)
	defer b.Close()
	// A batch has place for one of the first size, and for none of the second.
	fits, large := make([]byte, 700_000), make([]byte, 1_200_000)
	list := []broker.Message{
		{ID: "1", OrderID: "o", Subject: "a", Body: fits}, {ID: "2", OrderID: "o", Subject: "a", Body: fits}, {ID: "3", OrderID: "o", Subject: "b", Body: fits},
	}
	s.cluster.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		request, ok := r.(*kmsg.ProduceRequest)
		if !ok {
			return nil, nil, false
		}
		return refuse(request, kerr.MessageTooLarge), nil, true
	})
	n, err := b.Publish(t.Context(), list)
	require.ErrorIs(t, err, kerr.MessageTooLarge)
	require.ErrorContains(t, err, "event 1 ")
	require.Zero(t, n)
	require.Zero(t, s.count(t))

	list[1].Body = large
	n, err = b.Publish(t.Context(), list)
	require.ErrorContains(t, err, "event 2 ")
	require.Equal(t, 1, n)
	require.Equal(t, 1, s.count(t))

	list[1].Body = fits
	n, err = b.Publish(t.Context(), list)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, 4, s.count(t))
}

// refuse answers with an error for each partition.
func refuse(r *kmsg.ProduceRequest, err *kerr.Error) *kmsg.ProduceResponse {
	response, _ := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range r.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, err.Code
			topic.Partitions = append(topic.Partitions, partition)
		}
		response.Topics = append(response.Topics, topic)
	}
	return response
}

func TestWrongTopic(t *testing.T) {
	t.Parallel()
	s := newKafka(t)
	s.up(t)
	s.Topic = "other"
	_, err := s.Open(t.Context())
	require.ErrorIs(t, err, broker.ErrTopic)
	require.ErrorContains(t, err, "create it")
	require.ErrorContains(t, err, "other")
	require.Nil(t, s.cluster.TopicInfo("other"), "it is not created")
}

func TestJetStream(t *testing.T) {
	t.Parallel()
	s := newNATS(t)
	s.up(t)
	js := s.jetStream(t)
	for name, c := range map[string]struct {
		stream jetstream.StreamConfig
		want   string
	}{
		"other subjects":      {jetstream.StreamConfig{Subjects: []string{"other.>", "shop1.order.*"}}, "add shop.> to the subjects"},
		"some of the subject": {jetstream.StreamConfig{Subjects: []string{"shop0.order.*"}}, "but not shop.payment_attempt.authorized"},
		"no acknowledgements": {jetstream.StreamConfig{Subjects: []string{"shop.>"}, NoAck: true}, "no_ack"},
	} {
		c.stream.Name = strings.ReplaceAll(name, " ", "_")
		_, err := js.CreateStream(t.Context(), c.stream)
		require.NoError(t, err)
		n := s.NATS
		n.Stream = c.stream.Name
		_, err = n.Open(t.Context())
		require.ErrorIs(t, err, broker.ErrSubjects, name)
		require.ErrorContains(t, err, c.want, name)
		there, err := js.Stream(t.Context(), c.stream.Name)
		require.NoError(t, err)
		require.Equal(t, c.stream.Subjects, there.CachedInfo().Config.Subjects, "it is not changed")
		require.NoError(t, js.DeleteStream(t.Context(), c.stream.Name))
	}

	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "THEIRS", Subjects: []string{"shop.order.*"}})
	require.NoError(t, err)
	_, err = s.Open(t.Context())
	require.ErrorContains(t, err, "create the JetStream stream PAYLATCH", "the subjects overlap with another stream's")
	require.NoError(t, js.DeleteStream(t.Context(), "THEIRS"))

	b, err := s.Open(t.Context())
	require.NoError(t, err)
	b.Close()
	made, err := js.Stream(t.Context(), "PAYLATCH")
	require.NoError(t, err)
	c := made.CachedInfo().Config
	require.Equal(t, []string{"shop.>"}, c.Subjects)
	require.Equal(t, 24*time.Hour, c.MaxAge)
	require.Equal(t, 10*time.Minute, c.Duplicates)
	require.Equal(t, jetstream.FileStorage, c.Storage)
}

// TestPanics has the connection, the encoder and the store panic.
func TestPanics(t *testing.T) {
	t.Parallel()
	s := newNATS(t)
	s.up(t)
	e := newEnv(t)
	var connects, encodes, reads sync.Once
	p := e.start(t, func(ctx context.Context) (broker.Broker, error) {
		connects.Do(func() { panic("connect") })
		return s.open(ctx)
	}, func(p *process, o *broker.Options) {
		o.Encode = func(e outbox.Event) []byte {
			encodes.Do(func() { panic("encode") })
			return encode(e)
		}
		o.Store = &broken{p.store, &reads}
	})
	e.generate(t, 5, 0, 4)
	waits(t, func() bool { return e.published(t, p) }, "all are published")
	p.end()
	requireOrder(t, s.stored(t))
	require.False(t, p.status(t).Failing())
	require.Len(t, p.failures(), 3)
	for i, want := range []string{"read", "connect", "encode"} {
		failed, ok := errors.AsType[*lease.PanicError](p.failures()[i])
		require.True(t, ok)
		require.Equal(t, want, failed.Value)
	}
}

// broken is a store that panics once.
type broken struct {
	broker.Store

	once *sync.Once
}

func (b *broken) StreamWork(ctx context.Context, l lease.Lease, limit int) (broker.Work, error) {
	b.once.Do(func() { panic("read") })
	return b.Store.StreamWork(ctx, l, limit)
}

// TestLost has events deleted while the broker is away.
func TestLost(t *testing.T) {
	t.Parallel()
	s := newNATS(t)
	e := newEnv(t)
	p := e.start(t, s.open)
	e.generate(t, 1, 0, 30)
	waits(t, func() bool { return p.status(t).Behind == 30 && p.status(t).Failing() }, "the broker is away")
	n, err := e.store.PurgeEvents(t.Context(), time.Now().Add(time.Hour), 20)
	require.NoError(t, err)
	require.Equal(t, 20, n)
	waits(t, func() bool { return p.lostEvents() == 20 }, "it is reported while the broker is away")
	waits(t, func() bool { return p.status(t).Behind == 10 }, "the cursor is behind what was deleted")
	s.up(t)
	waits(t, func() bool { return e.published(t, p) }, "the rest is published")
	n, err = e.store.PurgeEvents(t.Context(), time.Now().Add(time.Hour), 100)
	require.NoError(t, err)
	require.Equal(t, 10, n)
	e.generate(t, 1, 30, 5)
	waits(t, func() bool { return s.count(t) == 15 }, "what comes later is published")
	p.end()
	require.EqualValues(t, 20, p.lostEvents(), "what was published is not lost")
	for i, m := range s.stored(t) {
		require.Contains(t, m.body, `"version":`+strconv.Itoa(21+i))
	}
}
