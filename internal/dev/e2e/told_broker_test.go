package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	goclient "github.com/paylatch/paylatch/client"
	"github.com/paylatch/paylatch/internal/dev/devnats"
	"github.com/paylatch/paylatch/internal/dev/testdb"
)

// natsBroker is a NATS server that is restarted now and then, and keeps its stored messages.
type natsBroker struct {
	t      *testing.T
	dir    string
	port   int
	server *devnats.Server
}

func newNATSBroker(t *testing.T) *natsBroker {
	t.Helper()
	b := &natsBroker{t: t, dir: t.TempDir(), port: int(netip.MustParseAddrPort(testdb.Address(t)).Port())}
	b.start()
	t.Cleanup(func() { b.server.Stop() })
	return b
}

func (b *natsBroker) start() {
	b.t.Helper()
	var err error
	b.server, err = devnats.Start(b.dir, b.port)
	require.NoError(b.t, err)
}

func (b *natsBroker) restart() {
	b.t.Helper()
	b.server.Stop()
	b.start()
}

// stream is the configuration of the stream.
func (b *natsBroker) stream() string {
	return fmt.Sprintf(`{"name":"jobs","kind":"nats","url":%q,"stream":"PAYLATCH"}`, "nats://127.0.0.1:"+strconv.Itoa(b.port))
}

// hasAll waits for so many messages, and requires that no id is stored twice and that versions of a subject are stored in order.
func (b *natsBroker) hasAll(t *testing.T, events int) {
	t.Helper()
	conn, err := nats.Connect(b.server.URL(), nats.Timeout(soon))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(soon))
	require.NoError(t, err)
	var stored int64
	require.Eventually(t, func() bool {
		stream, err := js.Stream(t.Context(), "PAYLATCH")
		if err != nil {
			return false
		}
		stored = int64(stream.CachedInfo().State.Msgs)
		return stored >= int64(events)
	}, 10*soon, 50*time.Millisecond, "the broker has all events")
	require.EqualValues(t, events, stored, "the broker drops what is published again")
	consumer, err := js.CreateConsumer(t.Context(), "PAYLATCH", jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy})
	require.NoError(t, err)
	seen := &feedReader{wrong: t.Errorf, seen: map[string]bool{}, versions: map[string]int{}}
	for seen.count.Load() < int64(events) {
		batch, err := consumer.Fetch(min(500, events-int(seen.count.Load())), jetstream.FetchMaxWait(soon))
		require.NoError(t, err)
		n := 0
		for m := range batch.Messages() {
			n++
			var e goclient.Event
			require.NoError(t, json.Unmarshal(m.Data(), &e))
			seen.note(e)
		}
		require.NoError(t, batch.Error())
		require.Positive(t, n, "%d of %d events were read", seen.count.Load(), events)
	}
}
