package broker_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/paylatch/paylatch/internal/dev/testdb"
	"github.com/paylatch/paylatch/internal/events/broker"
)

// site is a broker that can be taken away and come back with its stored messages.
type site interface {
	up(t *testing.T)
	down(t *testing.T)
	open(ctx context.Context) (broker.Broker, error)
	// count is how many messages it has, repeats included; 0 while it is away.
	count(t *testing.T) int
	// stored reads all, each order's in the order of the broker.
	stored(t *testing.T) []message
	// once reports whether the broker drops an id that it has.
	once() bool
}

// sites calls a test with each kind of broker, which is not up yet.
func sites(t *testing.T, test func(t *testing.T, s site)) {
	t.Helper()
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		test(t, newNATS(t))
	})
	t.Run("kafka", func(t *testing.T) {
		t.Parallel()
		test(t, newKafka(t))
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	return int(netip.MustParseAddrPort(testdb.Address(t)).Port())
}

// natsSite is a NATS server in a process of its own, which is killed.
type natsSite struct {
	broker.NATS

	dir     string
	port    int
	process *exec.Cmd
}

func newNATS(t *testing.T) *natsSite {
	t.Helper()
	port := freePort(t)
	s := &natsSite{dir: t.TempDir(), port: port}
	s.NATS = broker.NATS{URL: "nats://127.0.0.1:" + strconv.Itoa(port), Stream: "PAYLATCH", SubjectPrefix: "shop", Keep: 24 * time.Hour}
	t.Cleanup(func() { s.down(t) })
	return s
}

func (s *natsSite) up(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s.process = exec.Command(self)
	s.process.Env = append(os.Environ(), serveNATSDir+"="+s.dir, serveNATSPort+"="+strconv.Itoa(s.port))
	s.process.Stderr = os.Stderr
	_, err = s.process.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, s.process.Start())
	waits(t, func() bool {
		conn, err := nats.Connect(s.URL)
		if err != nil {
			return false
		}
		defer conn.Close()
		js, err := jetstream.New(conn)
		if err != nil {
			return false
		}
		_, err = js.AccountInfo(t.Context())
		return err == nil
	}, "the NATS server serves")
}

// down kills the server.
func (s *natsSite) down(t *testing.T) {
	t.Helper()
	if s.process != nil {
		require.NoError(t, s.process.Process.Kill())
		_ = s.process.Wait()
		s.process = nil
	}
}

func (s *natsSite) open(ctx context.Context) (broker.Broker, error) { return s.Open(ctx) }

func (s *natsSite) once() bool { return true }

// jetStream connects to the server.
func (s *natsSite) jetStream(t *testing.T) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(s.URL, nats.Timeout(wait))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(wait))
	require.NoError(t, err)
	return js
}

// stream looks the stream up; nil while the server is away, or has none.
func (s *natsSite) stream(t *testing.T) (stream jetstream.Stream, done func()) {
	t.Helper()
	conn, err := nats.Connect(s.URL, nats.Timeout(wait))
	if err != nil {
		return nil, func() {}
	}
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(wait))
	require.NoError(t, err)
	stream, err = js.Stream(t.Context(), s.Stream)
	if err != nil {
		stream = nil
	}
	return stream, conn.Close
}

func (s *natsSite) count(t *testing.T) int {
	t.Helper()
	stream, done := s.stream(t)
	defer done()
	if stream == nil {
		return 0
	}
	return int(stream.CachedInfo().State.Msgs)
}

func (s *natsSite) stored(t *testing.T) (all []message) {
	t.Helper()
	stream, done := s.stream(t)
	defer done()
	require.NotNil(t, stream)
	consumer, err := stream.CreateConsumer(t.Context(), jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	require.NoError(t, err)
	for want := int(stream.CachedInfo().State.Msgs); len(all) < want; {
		batch, err := consumer.Fetch(min(500, want-len(all)), jetstream.FetchMaxWait(wait))
		require.NoError(t, err)
		for m := range batch.Messages() {
			all = append(all, message{
				id: m.Headers().Get("Nats-Msg-Id"), kind: strings.TrimPrefix(m.Subject(), s.SubjectPrefix+"."), body: string(m.Data()),
				traceparent: m.Headers().Get("traceparent"),
			})
		}
		require.NoError(t, batch.Error())
	}
	return all
}

// kafkaSite is a Kafka cluster of one broker.
type kafkaSite struct {
	broker.Kafka

	dir     string
	port    int
	cluster *kfake.Cluster
}

func newKafka(t *testing.T) *kafkaSite {
	t.Helper()
	port := freePort(t)
	s := &kafkaSite{dir: t.TempDir(), port: port}
	s.Kafka = broker.Kafka{Brokers: []string{"127.0.0.1:" + strconv.Itoa(port)}, Topic: "payments"}
	t.Cleanup(func() { s.down(t) })
	return s
}

func (s *kafkaSite) up(t *testing.T) {
	t.Helper()
	var err error
	s.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(s.port), kfake.SeedTopics(3, "payments"), kfake.DataDir(s.dir), kfake.SyncWrites())
	require.NoError(t, err)
}

func (s *kafkaSite) down(t *testing.T) {
	t.Helper()
	if s.cluster != nil {
		s.cluster.Close()
		s.cluster = nil
	}
}

func (s *kafkaSite) open(ctx context.Context) (broker.Broker, error) { return s.Open(ctx) }

func (s *kafkaSite) once() bool { return false }

func (s *kafkaSite) count(t *testing.T) (n int) {
	t.Helper()
	if s.cluster == nil {
		return 0
	}
	for _, p := range s.cluster.PartitionInfos("payments") {
		n += int(p.HighWatermark)
	}
	return n
}

func (s *kafkaSite) stored(t *testing.T) (all []message) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.Brokers...), kgo.ConsumeTopics("payments"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(t, err)
	defer client.Close()
	for want := s.count(t); len(all) < want; {
		fetches := client.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		for r := range fetches.RecordsAll() {
			m := message{key: string(r.Key), body: string(r.Value)}
			for _, h := range r.Headers {
				switch h.Key {
				case "id":
					m.id = string(h.Value)
				case "type":
					m.kind = string(h.Value)
				case "traceparent":
					m.traceparent = string(h.Value)
				}
			}
			all = append(all, m)
		}
	}
	return all
}
